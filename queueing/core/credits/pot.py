"""How much of one flavor-resource each child of a cohort lends, in amounts, for reports.

What children use beyond their quota is covered by what siblings leave idle, as far as that goes,
and each lends in proportion to what it leaves idle. Sums are exact integers in `PART`s of an amount
times seconds, and do not depend on when they are read. Credits do not depend on them.
"""

from dataclasses import dataclass

from queueing.core.credits.facts import PART


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


@dataclass(slots=True)
class Share:
    """What one child has of one flavor-resource, and how much of it siblings used.

    `local` is the part of its quota that it never lends.
    """

    pot: Pot | None
    nominal: int
    quota: int
    local: int
    at: int
    usage: int = 0
    idle: int = 0
    borrowed: int = 0
    lent: int = 0
    granted: int = 0
    """Nominal quota times seconds."""
    _mark: int = 0

    def __post_init__(self) -> None:
        if self.pot is not None:
            self._mark = self.pot.lent_so_far
        self._place()

    def settle(self, at: int) -> None:
        """Bring the sums up to a time."""
        self.granted += self.nominal * (at - self.at)
        self.at = at
        if self.pot is not None:
            self.pot.pass_time(at)
            self.lent += self.idle * (self.pot.lent_so_far - self._mark)
            self._mark = self.pot.lent_so_far

    def use(self, amount: int, at: int) -> int:
        """Change the usage by an amount from a time on; return by how much the parent's changes."""
        self.settle(at)
        before = self.usage
        self.usage += amount
        self._place()
        return max(self.usage, self.local) - max(before, self.local)

    def _place(self) -> None:
        if self.pot is None:
            return
        idle = max(0, min(self.quota - self.usage, self.quota - self.local))
        borrowed = max(0, self.usage - self.quota)
        self.pot.change(idle - self.idle, borrowed - self.borrowed)
        self.idle, self.borrowed = idle, borrowed
