"""What is to be run: a load, a mode, and how dear everything is."""

from dataclasses import dataclass

from queueing.core.decisions import Cycle
from queueing.core.settings import Compatibility


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a cycle costs in the model, in CPU seconds: so much, and for each head that it judges.

    The engine's own time is measured beside it, but would make each run a different one.
    """

    cycle_s: float = 0.000_5
    head_s: float = 0.000_1

    def of(self, cycle: Cycle) -> float:
        """Return the CPU seconds of a cycle."""
        return self.cycle_s + self.head_s * cycle.judged


FLAT = Price()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What is to be run. Two runs of one trial give the same numbers but for real CPU time."""

    load: str
    mode: Compatibility
    seed: int = 1
    scale: float = 1.0
    """How many times as many workloads come."""
    write_factor: float = 1.0
    """How many times as dear writes are, on top of the load's own factor."""
    restart_every_s: float | None = None
    """Seconds between two leaders; None for one leader only."""
    price: Price = FLAT
