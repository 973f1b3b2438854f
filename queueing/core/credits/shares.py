"""How much of a flavor-resource queues and cohorts use, borrow and lend, in amounts, for reports.

What siblings use beyond their quota is covered by what others of them leave idle, as far as that
goes, and each lends in proportion to what it leaves idle. Sums are exact integers, fractions of
amounts in `PART`s, and do not depend on when they are read. Credits do not depend on them.
"""

from dataclasses import dataclass

from queueing.core.credits.facts import PART, RowName


@dataclass(slots=True)
class Pot:
    """The sums over the children of one cohort, for one flavor-resource."""

    at: int
    idle: int = 0
    borrowed: int = 0
    lent_so_far: int = 0
    """The integral over time of lent / idle, in `PART`s."""
    _rate: int = 0

    def pass_time(self, to: int) -> None:
        """Advance the integral to a time."""
        self.lent_so_far += self._rate * (to - self.at)
        self.at = to

    def change(self, idle: int, borrowed: int) -> None:
        """Change the sums of idle and borrowed by these amounts, from the pot's time on."""
        self.idle += idle
        self.borrowed += borrowed
        lent = min(self.borrowed, self.idle)
        self._rate = PART * lent // self.idle if self.idle else 0


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
    _idle: int = 0
    _beyond: int = 0
    _mark: int = 0

    def __post_init__(self) -> None:
        if self.pot is not None:
            self._mark = self.pot.lent_so_far
        self._place()

    def settle(self, at: int) -> None:
        """Bring the sums up to a time."""
        seconds = at - self.at
        self.at = at
        self.granted += self.nominal * seconds
        if self.usage > self.nominal:
            self.borrowed_so_far += PART * (self.usage - self.nominal) // self.usage * seconds
        if self.pot is not None:
            self.pot.pass_time(at)
            self.lent += self._idle * (self.pot.lent_so_far - self._mark)
            self._mark = self.pot.lent_so_far

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
            self.pot.change(idle - self._idle, beyond - self._beyond)
            self._idle, self._beyond = idle, beyond
