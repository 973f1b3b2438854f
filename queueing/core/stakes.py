"""What stopping a workload would cost, as derived from its checkpoints."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Stake:
    """What stopping a workload would cost, as far as its checkpoints show. Times in seconds."""

    saves: bool = False
    """Whether it saves before it is stopped, and has not been seen to fail at that."""
    started: float | None = None
    """When its run began; None if that is unknown, so that its reservation counts."""
    saved_at: float | None = None
    """When it last saved."""
    save_s: float = 0.0
    """How long saving takes."""
    restart_s: float = 0.0
    """How long a new run takes until it does useful work."""
    minimum_runtime_s: float = 0.0
    """For how long after its start only preemptors that reclaim their own quota may preempt it."""
    movable: bool = False
    """Whether it may be stopped, once it has saved, only to go on at another place."""
