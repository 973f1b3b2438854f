"""How much of a flavor-resource queues and cohorts use, borrow and lend, in amounts, for reports.

What siblings use beyond their quota is covered by what others of them leave idle, as far as that
goes, and each lends in proportion to what it leaves idle. Sums are exact integers, fractions of
amounts in `PART`s, and do not depend on when they are read. Credits do not depend on them.
"""

from dataclasses import dataclass

from queueing.core.credits.facts import PART, RowName
from queueing.core.credits.market import NOTHING, Market, Position


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
