"""One flavor of one cohort: which children leave quota idle, and which borrow it."""

from dataclasses import dataclass
from typing import NamedTuple

from queueing.core.credits.facts import PART


class Position(NamedTuple):
    """What a child lends and borrows in one flavor; rates in micro-credits per second."""

    idle: int
    """Quota that it could lend and does not use."""
    borrowed: int
    """What it uses beyond its quota."""
    paying: int
    """What it pays for that, by the priority classes of its workloads."""


NOTHING = Position(0, 0, 0)


class Marks(NamedTuple):
    """The integrals of a market at a time: of what is lent, taken and pooled."""

    lent: int
    taken: int
    pooled: int


UNMOVED = Marks(0, 0, 0)


@dataclass(slots=True, eq=False)
class Market:
    """The sums over the children of a cohort, and what covers the quota that they borrow.

    It is covered first by quota that siblings leave idle, then by the cohort's own quota (the
    pool), and the rest by what the cohort borrows itself (imported). A child earns in proportion to
    what it leaves idle: `so_far.lent` is the integral over time of lent / idle, so its earnings are
    its idle quota times the difference of two values of that. All are in `PART`s, rounded down.
    """

    pool: int = 0
    idle: int = 0
    borrowed: int = 0
    paying: int = 0
    lent: int = 0
    pooled: int = 0
    lent_rate: int = 0
    taken_rate: int = 0
    pooled_rate: int = 0
    so_far: Marks = UNMOVED

    @property
    def imported(self) -> int:
        """What neither siblings nor the pool cover, in micro-credits per second."""
        return self.borrowed - self.lent - self.pooled

    def reprice(self) -> None:
        """Compute the rates that apply from now on, from the present sums."""
        self.lent = min(self.borrowed, self.idle)
        self.pooled = min(self.pool, self.borrowed - self.lent)
        self.lent_rate = PART * self.lent // self.idle if self.idle else 0
        self.taken_rate = PART * self.lent // self.borrowed if self.borrowed else 0
        self.pooled_rate = PART * self.pooled // self.borrowed if self.borrowed else 0

    def pass_time(self, seconds: int) -> None:
        """Advance the integrals."""
        lent, taken, pooled = self.so_far
        self.so_far = Marks(
            lent + self.lent_rate * seconds,
            taken + self.taken_rate * seconds,
            pooled + self.pooled_rate * seconds,
        )

    def change(self, before: Position, after: Position) -> None:
        """Replace the position of a child; the rates follow with the next `reprice`."""
        self.idle += after.idle - before.idle
        self.borrowed += after.borrowed - before.borrowed
        self.paying += after.paying - before.paying
