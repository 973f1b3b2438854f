"""The spending of one CreditBudget, integrated exactly between events.

Invariants: within a period, `spent` is the sum over all seconds of what the covered holdings cost.
No holding is covered whose hold exceeded what was left when it began.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from queueing.core.credits.facts import BudgetAccountFact, BudgetFact
from queueing.core.credits.holding import Holding
from queueing.core.credits.period import Span
from queueing.core.names import Uid


@dataclass(slots=True)
class Counted:
    """A holding that a purse counts; `cost` in micro-credits per second."""

    uid: Uid
    since: int
    cost: int
    may_last: int | None
    covered: bool = True

    def hold(self, at: int) -> int | None:
        """Return what it may still cost; None if the workload has no maximum execution time."""
        if self.may_last is None:
            return None
        return self.cost * max(0, self.since + self.may_last - max(at, self.since))


@dataclass(slots=True)
class Purse:
    """What is spent of one budget up to the time `at`; amounts in micro-credits."""

    fact: BudgetFact
    at: int
    span: Span
    spent: int = 0
    _rate: int = 0
    _counted: dict[int, Counted] = field(default_factory=dict)
    _known: dict[Uid, None] = field(default_factory=dict)
    """Workloads that the stored account names as running beyond the budget."""
    _read_at: int = -1
    """The time of that account: all other holdings that began by then were covered."""

    @classmethod
    def opened(cls, fact: BudgetFact, at: int, stored: BudgetAccountFact | None) -> "Purse":
        """Return a purse with nothing spent at a time, or one that goes on from what was stored."""
        if stored is None or stored.as_of is None:
            return cls(fact, at, fact.period.at(at))
        span = fact.period.at(stored.as_of)
        kept = stored.period_start == span.begin
        known = dict.fromkeys(stored.opportunistic)
        spent = stored.spent if kept else 0
        return cls(fact, stored.as_of, span, spent, _known=known, _read_at=stored.as_of)

    def advance(self, to: int) -> None:
        """Let time pass up to `to`. When a period ends, `spent` is reset to 0.

        An earlier time changes nothing.
        """
        while self.at < to:
            end = min(to, self.span.end)
            self.spent += self._rate * (end - self.at)
            self.at = end
            if end == self.span.end:
                self.span = self.fact.period.at(end)
                self.spent = 0
                self._cover()

    def counts(self, token: int) -> bool:
        """Say whether the holding with this number is counted."""
        return token in self._counted

    def count_in(self, token: int, holding: Holding, cost: int) -> None:
        """Begin to count a holding, from the purse's time on; it is covered if that is possible."""
        one = Counted(holding.uid, holding.since, cost, holding.may_last)
        one.covered = self.fact.blocks or self._is_covered(one)
        self._counted[token] = one
        if one.covered:
            self._rate += cost

    def count_out(self, token: int) -> None:
        """End the holding with this number."""
        one = self._counted.pop(token)
        self._known.pop(one.uid, None)
        if one.covered:
            self._rate -= one.cost
        self._cover()

    def recount(self, holdings: Iterable[tuple[int, Holding, int]]) -> None:
        """Take over other prices, another grant and other holdings; covered ones stay covered."""
        span = self.fact.period.at(self.at)
        if span.begin != self.span.begin:
            self.spent = 0
        self.span = span
        before, self._counted = self._counted, {}
        self._rate = 0
        for token, holding, cost in holdings:
            known = before.get(token)
            if known is None:
                self.count_in(token, holding, cost)
                continue
            known.cost, known.covered = cost, known.covered or self.fact.blocks
            self._counted[token] = known
            if known.covered:
                self._rate += cost
        self._cover()

    def opportunistic(self) -> tuple[Uid, ...]:
        """Return, sorted, the workloads that run beyond the budget; none if it blocks."""
        if self.fact.blocks:
            return ()
        return tuple(sorted({one.uid for one in self._counted.values() if not one.covered}))

    def _cover(self) -> None:
        """Cover holdings that run beyond the budget, the oldest first, until one does not fit."""
        beyond = [one for one in self._counted.values() if not one.covered]
        for one in sorted(beyond, key=lambda each: (each.since, each.uid)):
            if not self._may_cover(one):
                return
            one.covered = True
            self._known.pop(one.uid, None)
            self._rate += one.cost

    def _is_covered(self, one: Counted) -> bool:
        """Say whether a new holding is covered, or was covered by the stored account."""
        if one.since <= self._read_at:
            return one.uid not in self._known
        return self._may_cover(one)

    def _may_cover(self, one: Counted) -> bool:
        needed = one.hold(self.at)
        if one.cost == 0 or needed is None:
            return one.cost == 0
        holds = sum(other.hold(self.at) or 0 for other in self._counted.values() if other.covered)
        return self.spent + holds + needed <= self.fact.grant
