"""One budget's spending, integrated exactly between events.

Invariants: within a period `spent` is the sum over all seconds of what those cost that are covered;
nobody is covered whose hold was more than what was left as its holding began.
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
        """Return what it may still cost; None when it does not say how long it may last."""
        if self.may_last is None:
            return None
        return self.cost * max(0, self.since + self.may_last - max(at, self.since))


@dataclass(slots=True)
class Purse:
    """What is spent of one budget up to the time `at`."""

    fact: BudgetFact
    at: int
    span: Span
    spent: int = 0
    _rate: int = 0
    _counted: dict[int, Counted] = field(default_factory=dict)
    _known: dict[Uid, None] = field(default_factory=dict)
    """Who was stored as running beyond the budget."""
    _read_at: int = -1
    """Up to when what was stored says who did; all others of that time were covered."""

    @classmethod
    def opened(cls, fact: BudgetFact, at: int, stored: BudgetAccountFact | None) -> "Purse":
        """Start at a time with nothing spent, or go on from what was stored."""
        if stored is None or stored.as_of is None:
            return cls(fact, at, fact.period.at(at))
        span = fact.period.at(stored.as_of)
        kept = stored.period_start == span.begin
        known = dict.fromkeys(stored.opportunistic)
        spent = stored.spent if kept else 0
        return cls(fact, stored.as_of, span, spent, _known=known, _read_at=stored.as_of)

    def advance(self, to: int) -> None:
        """Let time pass; a time that is past changes nothing. A new period begins with nothing."""
        while self.at < to:
            end = min(to, self.span.end)
            self.spent += self._rate * (end - self.at)
            self.at = end
            if end == self.span.end:
                self.span = self.fact.period.at(end)
                self.spent = 0
                self._cover()

    def counts(self, token: int) -> bool:
        """Say whether the holding of this number is counted."""
        return token in self._counted

    def count_in(self, token: int, holding: Holding, cost: int) -> None:
        """Count a holding from the purse's time on: covered, if that is still possible."""
        one = Counted(holding.uid, holding.since, cost, holding.may_last)
        one.covered = self.fact.blocks or self._is_covered(one)
        self._counted[token] = one
        if one.covered:
            self._rate += cost

    def count_out(self, token: int) -> None:
        """Count the holding of this number no more."""
        one = self._counted.pop(token)
        self._known.pop(one.uid, None)
        if one.covered:
            self._rate -= one.cost
        self._cover()

    def recount(self, holdings: Iterable[tuple[int, Holding, int]]) -> None:
        """Go by other prices, another grant and other holders; who was covered stays so."""
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
        """Return, sorted, who runs beyond the budget; nobody does where it blocks."""
        if self.fact.blocks:
            return ()
        return tuple(sorted({one.uid for one in self._counted.values() if not one.covered}))

    def _cover(self) -> None:
        """Cover those who run beyond the budget, the longest first, as far as it allows."""
        beyond = [one for one in self._counted.values() if not one.covered]
        for one in sorted(beyond, key=lambda each: (each.since, each.uid)):
            if not self._may_cover(one):
                return
            one.covered = True
            self._known.pop(one.uid, None)
            self._rate += one.cost

    def _is_covered(self, one: Counted) -> bool:
        """Say whether one who begins, or was read of, is covered."""
        if one.since <= self._read_at:
            return one.uid not in self._known
        return self._may_cover(one)

    def _may_cover(self, one: Counted) -> bool:
        needed = one.hold(self.at)
        if one.cost == 0 or needed is None:
            return one.cost == 0
        holds = sum(other.hold(self.at) or 0 for other in self._counted.values() if other.covered)
        return self.spent + holds + needed <= self.fact.grant
