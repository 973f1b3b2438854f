"""One flavor of one cohort: which children leave quota idle, and which borrow it.

What siblings use beyond their quota is covered by what others of them leave idle, as far as that
goes, and each lends in proportion to what it leaves idle. Sums are exact integers, and do not
depend on when they are read. A ledger counts costs by it (`group`); for reports a `Share` counts
amounts of one flavor-resource, and no balance depends on that.
"""

from dataclasses import dataclass
from typing import NamedTuple

from queueing.core.credits.facts import PART, RowName


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

    def plus(self, lent: int, taken: int, pooled: int) -> "Marks":
        """Return the sums with these."""
        return Marks(self.lent + lent, self.taken + taken, self.pooled + pooled)


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
        self.so_far = self.so_far.plus(
            self.lent_rate * seconds, self.taken_rate * seconds, self.pooled_rate * seconds
        )

    def change(self, before: Position, after: Position) -> None:
        """Replace the position of a child; the rates follow with the next `reprice`."""
        self.idle += after.idle - before.idle
        self.borrowed += after.borrowed - before.borrowed
        self.paying += after.paying - before.paying


@dataclass(slots=True, eq=False)
class Pot(Market):
    """The market of the children of one cohort for one flavor-resource, up to the time `at`."""

    at: int = 0

    def settle(self, to: int) -> None:
        """Advance the integrals to a time."""
        self.pass_time(to - self.at)
        self.at = to


@dataclass(slots=True, eq=False)
class Share:
    """What one queue or cohort has of one flavor-resource, and what it did with it up to `at`.

    `local` is the part of its quota that it never lends.
    """

    name: RowName
    at: int
    nominal: int = 0
    quota: int = 0
    local: int = 0
    pot: Pot | None = None
    """That of its siblings; None for a root."""
    above: "Share | None" = None
    """The share of the parent, to which it passes what exceeds its local part."""
    usage: int = 0
    granted: int = 0
    """Nominal quota times seconds."""
    lent: int = 0
    """What siblings used of its quota."""
    borrowed_so_far: int = 0
    """The integral over time of the fraction of its usage that exceeds the nominal quota."""
    _position: Position = NOTHING
    _mark: int = 0

    def __post_init__(self) -> None:
        if self.pot is not None:
            self._mark = self.pot.so_far.lent
        self._place()

    def settle(self, at: int) -> None:
        """Bring the sums up to a time."""
        seconds = at - self.at
        self.at = at
        self.granted += self.nominal * seconds
        if self.usage > self.nominal:
            self.borrowed_so_far += PART * (self.usage - self.nominal) // self.usage * seconds
        if self.pot is not None:
            self.pot.settle(at)
            self.lent += self._position.idle * (self.pot.so_far.lent - self._mark)
            self._mark = self.pot.so_far.lent

    def use(self, amount: int, at: int) -> None:
        """Change the usage by an amount from a time on, here and above."""
        self.settle(at)
        before = max(self.usage, self.local)
        self.usage += amount
        self._place()
        passed_on = max(self.usage, self.local) - before
        if passed_on and self.above is not None:
            self.above.use(passed_on, at)

    def _place(self) -> None:
        if self.pot is not None:
            idle = max(0, min(self.quota - self.usage, self.quota - self.local))
            beyond = max(0, self.usage - self.quota)
            before, self._position = self._position, Position(idle, beyond, beyond)
            self.pot.change(before, self._position)
            self.pot.reprice()
