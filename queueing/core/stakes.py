"""What stopping a workload would cost: a fact of its own, told by checkpoints."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Stake:
    """What stopping a workload would cost, as far as its checkpoints tell; times in seconds."""

    saves: bool = False
    """It saves before it is stopped, and was not seen to fail at that."""
    started: float | None = None
    """When its run began; None where only its reservation tells."""
    saved_at: float | None = None
    """When it saved last."""
    save_s: float = 0.0
    """How long it takes to save."""
    restart_s: float = 0.0
    """How long a run needs until it does anything."""
    minimum_runtime_s: float = 0.0
    """So long after its start it is no victim, except of those who reclaim their own quota."""
