"""One flavor in one cohort: what children leave idle, and who uses it."""

from dataclasses import dataclass

from queueing.core.credits.facts import PART


@dataclass(slots=True)
class OpenPosition:
    """What a child does in one flavor; rates in micro-credits per second.

    The marks are the market's integrals as they were when the child's account was settled last.
    """

    idle: int = 0
    """Quota that it could lend and does not use."""
    borrowed: int = 0
    """What it uses beyond its quota."""
    paying: int = 0
    """What it pays for that, by the classes of its workloads."""
    lent_mark: int = 0
    taken_mark: int = 0
    pooled_mark: int = 0


@dataclass(slots=True, eq=False)
class Market:
    """The sums over the children, and how what is borrowed is covered.

    First by what siblings leave idle, then by the cohort's own quota (the pool), and the rest by
    what the cohort itself imports. Of what siblings lend each earns in proportion to what it leaves
    idle. `lent_so_far` is the integral over time of lent / idle, so that a child's earnings are its
    idle quota times a difference of two values of it; all in parts, rounded down.
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
    lent_so_far: int = 0
    taken_so_far: int = 0
    pooled_so_far: int = 0

    @property
    def imported(self) -> int:
        """What neither siblings nor the pool cover."""
        return self.borrowed - self.lent - self.pooled

    def reprice(self) -> None:
        """Work out the rates that hold from now on."""
        self.lent = min(self.borrowed, self.idle)
        self.pooled = min(self.pool, self.borrowed - self.lent)
        self.lent_rate = PART * self.lent // self.idle if self.idle else 0
        self.taken_rate = PART * self.lent // self.borrowed if self.borrowed else 0
        self.pooled_rate = PART * self.pooled // self.borrowed if self.borrowed else 0

    def pass_time(self, seconds: int) -> None:
        """Let the integrals grow."""
        self.lent_so_far += self.lent_rate * seconds
        self.taken_so_far += self.taken_rate * seconds
        self.pooled_so_far += self.pooled_rate * seconds
