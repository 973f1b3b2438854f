"""What is to be run: a load, a mode, and how dear everything is."""

from dataclasses import dataclass

from queueing.core.decisions import Cycle
from queueing.core.settings import Compatibility

CYCLE_S = 0.000_3
HEAD_S = 0.000_15
"""CPU seconds that the model takes for each cycle, and for each head that it judges.

They are about what Kueue mode takes on a busy machine. The time that the engine really takes is
measured beside them; if it counted, each run would be another one.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One run. Two runs of one trial give the same numbers but for real CPU time."""

    load: str
    mode: Compatibility
    seed: int = 1
    scale: float = 1.0
    """How many times as many workloads come."""
    write_factor: float = 1.0
    """How many times as dear writes are, on top of the load's own factor."""
    cycle_factor: float = 1.0
    """How many times as dear cycles are."""
    restart_every_s: float | None = None
    """Seconds between two leaders; None for one leader only."""

    def cost(self, cycle: Cycle) -> float:
        """Return the CPU seconds of a cycle."""
        return self.cycle_factor * (CYCLE_S + HEAD_S * cycle.judged)
