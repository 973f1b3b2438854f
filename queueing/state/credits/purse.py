"""The spending of one CreditBudget, integrated exactly between events.

Invariants: within a period, `spent` is the sum over all seconds of what the covered holdings cost.
No holding is covered whose hold exceeded what was left when it began.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from typing_extensions import override

from queueing.core.credits.allowance import Limit
from queueing.core.credits.facts import BudgetAccountFact, BudgetFact
from queueing.core.credits.holding import Holding, seconds_left
from queueing.core.names import Key, Uid
from queueing.state.credits.account import Account, Numbered, remaining


@dataclass(slots=True)
class Spending:
    """A workload that costs `cost` micro-credits per second, for `seconds` from `since` on."""

    uid: Uid
    since: int
    cost: int
    seconds: int | None
    covered: bool = True

    def left(self, at: int) -> int | None:
        """Return what it may still cost; None if the workload has no maximum execution time."""
        seconds = self.seconds
        return None if seconds is None else self.cost * seconds_left(self.since, seconds, at)


class BudgetTerms(NamedTuple):
    """By what a purse counts."""

    fact: BudgetFact
    cost: Callable[[Holding], int]
    """Returns what a holding costs, in micro-credits per second."""


class Purse(Account[BudgetTerms]):
    """What is spent of one budget up to the time `at`; amounts in micro-credits."""

    def __init__(self, terms: BudgetTerms, at: int, stored: BudgetAccountFact | None) -> None:
        self.fact, self._cost = terms
        self.at, self.span = at, self.fact.period.at(at)
        self.spent = 0
        self.committed: dict[Key, Spending] = {}
        """All that is charged under it and has a maximum execution time, as of the last cycle."""
        self.held = 0
        """What of that may still be spent, as of then."""
        fact = self.fact
        self.limit = Limit(fact.name, fact.grant, left=0, ends_at=self.span.end, unit="")
        """What it leaves for admissions, as of then; less for each of them."""
        self.is_priced = False
        """Whether the holder is there, and a policy prices it, as of then."""
        self._rate = 0
        self._counted: dict[int, Spending] = {}
        self._known: dict[Uid, None] = {}
        """Workloads that the stored account names as running beyond the budget. All other holdings
        that began by its time were covered."""
        if stored is not None:
            self.read_at = at
            self.spent = stored.spent if stored.period_start == self.span.begin else 0
            self._known = dict.fromkeys(stored.opportunistic)

    # Time and holdings --------------------------------------------------------------------------

    @override
    def advance(self, to: int) -> None:
        while self.at < to:
            end = min(to, self.span.end)
            self.spent += self._rate * (end - self.at)
            self.at = end
            if end == self.span.end:
                self.span = self.fact.period.at(end)
                self.spent = 0
                self._cover()

    @override
    def count(self, token: int, holding: Holding, _when: int, sign: int) -> None:
        """Count a holding, which is covered if that is possible, or end it."""
        if sign > 0:
            one = Spending(holding.uid, holding.since, self._cost(holding), holding.may_last)
            one.covered = self.fact.blocks or self._is_covered(one)
            self._counted[token] = one
            self._rate += one.cost if one.covered else 0
        elif token in self._counted:
            one = self._counted.pop(token)
            self._known.pop(one.uid, None)
            self._rate -= one.cost if one.covered else 0
            self._cover()

    @override
    def reshape(self, terms: BudgetTerms, holdings: Iterable[Numbered]) -> None:
        self.fact, self._cost = terms
        span = self.fact.period.at(self.at)
        if span.begin != self.span.begin:
            self.spent = 0
        self.span = span
        before, self._counted = self._counted, {}
        self._rate = 0
        for token, holding in holdings:
            known = before.get(token)
            if known is None:
                self.count(token, holding, self.at, 1)
                continue
            known.cost = self._cost(holding)
            known.covered |= self.fact.blocks
            self._counted[token] = known
            self._rate += known.cost if known.covered else 0
        self._cover()

    # Reading ------------------------------------------------------------------------------------

    @property
    def left(self) -> int:
        """What is neither spent nor held."""
        return self.fact.grant - self.spent - self.held

    def opportunistic(self) -> tuple[Uid, ...]:
        """Return, sorted, the workloads that run beyond the budget; none if it blocks."""
        if self.fact.blocks:
            return ()
        return tuple(sorted({one.uid for one in self._counted.values() if not one.covered}))

    @override
    def records(self, leavers: Iterable[Holding]) -> Iterator[BudgetAccountFact]:
        yield BudgetAccountFact(
            name=self.fact.name,
            as_of=self.at,
            period_start=self.span.begin,
            period_end=self.span.end,
            spent=self.spent,
            held=self.held,
            left=self.left,
            unit=self.limit.unit,
            opportunistic=self.opportunistic(),
            leavers=remaining(leavers, self.at),
            bound=self.is_priced,
        )

    # Inside -------------------------------------------------------------------------------------

    def _cover(self) -> None:
        """Cover holdings that run beyond the budget, the oldest first, until one does not fit."""
        beyond = [one for one in self._counted.values() if not one.covered]
        for one in sorted(beyond, key=lambda each: (each.since, each.uid)):
            if not self._may_cover(one):
                return
            one.covered = True
            self._known.pop(one.uid, None)
            self._rate += one.cost

    def _is_covered(self, one: Spending) -> bool:
        """Say whether a new holding is covered, or was covered by the stored account."""
        if one.since <= self.read_at:
            return one.uid not in self._known
        return self._may_cover(one)

    def _may_cover(self, one: Spending) -> bool:
        needed = one.left(self.at)
        if one.cost == 0 or needed is None:
            return one.cost == 0
        holds = sum(other.left(self.at) or 0 for other in self._counted.values() if other.covered)
        return self.spent + holds + needed <= self.fact.grant
