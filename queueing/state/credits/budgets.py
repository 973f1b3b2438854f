"""CreditBudgets: what each has spent in its period, and what it leaves for admissions.

A purse follows the time of the ledgers and counts the same holdings, at whole seconds, so that its
sum is the same after a restart. What is left is computed anew in each cycle, from all that is
charged then. That includes assumed admissions, so nothing is promised twice.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from queueing.core.credits.allowance import Allowance, Limit, cost_of
from queueing.core.credits.facts import BudgetAccountFact, BudgetFact
from queueing.core.credits.holding import Holding
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, Uid
from queueing.core.quota.tree import QuotaTree
from queueing.state.credits.accounts import Accounts, leaver_record
from queueing.state.credits.commitments import Commitments
from queueing.state.credits.coverage import Coverage, Place
from queueing.state.credits.purse import Purse
from queueing.state.usage.charges import Charge


@dataclass(frozen=True, slots=True)
class BudgetChanges:
    """What changed since the last cycle."""

    loosened: bool = False
    """Whether any budget leaves more than before."""
    regrouped: bool = False
    """Whether there are budgets now and were none before, or the other way round."""
    reclassified: tuple[Key, ...] = ()
    """Charged workloads that are covered by their budgets now and were not, or vice versa."""


NO_CHANGES = BudgetChanges()


@dataclass(slots=True)
class Budgets:
    """All budgets, by name."""

    coverage: Coverage
    counted: Mapping[int, Holding]
    """The holdings that ledgers count, by number. A holding's end is counted here first."""
    any: bool = False
    """Whether there is any budget, or was until now."""
    accounts: Accounts[BudgetAccountFact] = field(default_factory=Accounts)
    purses: dict[str, Purse] = field(default_factory=dict)
    allowance: Allowance | None = None
    """What is left in this cycle; None without budgets."""
    _facts: dict[str, BudgetFact] = field(default_factory=dict)
    _decided: dict[Uid, None] = field(default_factory=dict)
    """Workloads admitted beyond a budget whose holding has not begun to count yet."""
    _demoted: dict[Uid, None] = field(default_factory=dict)
    """Workloads that run beyond a budget, those of `_decided` included."""
    _left: dict[str, Limit] = field(default_factory=dict)
    _held: dict[str, int] = field(default_factory=dict)
    """Budget → what running workloads may still cost, in micro-credits."""
    _had: bool = False
    """Whether there was any budget in the last cycle."""
    _waited_for: bool = False
    """Whether a workload may wait for the end of a period."""
    _reshaped: bool = False
    """Whether budgets, policies or the tree changed since the last `allow`."""
    _commitments: Commitments = field(init=False)

    def __post_init__(self) -> None:
        self._commitments = Commitments(self.coverage)

    @property
    def follows(self) -> bool:
        """Whether begins and ends of holdings matter for any budget."""
        return bool(self.purses or self._decided)

    # News ---------------------------------------------------------------------------------------

    def put(self, fact: BudgetFact) -> bool:
        """Take in a budget; say whether it is new or changed."""
        if self._facts.get(fact.name) == fact:
            return False
        self._facts[fact.name] = fact
        self.any = True
        return True

    def drop(self, name: str) -> bool:
        """Forget a deleted budget and its account; say whether it was known."""
        self.accounts.drop(name)
        known = self._facts.pop(name, None) is not None
        self.any = bool(self._facts or self.purses)
        return known

    def demote(self, uid: Uid) -> None:
        """Note that a workload was admitted beyond a budget."""
        self._decided[uid] = self._demoted[uid] = None

    def is_demoted(self, uid: Uid) -> bool:
        """Say whether a workload runs beyond a budget."""
        return uid in self._demoted

    def stir(self, key: Key) -> None:
        """Note that the charge or the status of a workload may have changed."""
        self._commitments.stir(key)

    # Holdings, in the time of the ledgers -------------------------------------------------------

    def advance(self, at: int) -> None:
        """Bring all purses up to a time."""
        for purse in self.purses.values():
            purse.advance(at)

    def count_in(self, token: int, holding: Holding, tree: QuotaTree, when: int) -> None:
        """Begin to count a holding, under a number that is new."""
        for purse in self._over(tree, holding):
            purse.advance(when)
            purse.count_in(token, holding, self._cost(tree, holding))
        self._decided.pop(holding.uid, None)

    def count_out(self, token: int, when: int) -> None:
        """End the holding with this number."""
        for purse in self.purses.values():
            if purse.counts(token):
                purse.advance(when)
                purse.count_out(token)

    def reshape(self, tree: QuotaTree, at: int, *, started: bool) -> list[BudgetAccountFact]:
        """Open and close purses; all use the present prices and grants from `at` on.

        If the ledgers have not `started`, return the stored accounts that purses went on from:
        their leavers are to be recalled.
        """
        self.advance(at)
        self._reshaped = True
        self.coverage.renew(self._facts.values())
        self._commitments.renew(self._facts)
        before, self.purses = self.purses, {}
        read: list[BudgetAccountFact] = []
        for name, fact in sorted(self._facts.items()):
            purse, stored = before.get(name), self.accounts.stored(name)
            if purse is None:
                begin = max(fact.created, at) if started else fact.created
                purse = Purse.opened(fact, begin or at, stored)
                if started:
                    purse.advance(at)
                elif stored is not None and stored.as_of is not None:
                    read.append(stored)
            purse.fact = fact
            self.purses[name] = purse
        self.any = bool(self._facts or self.purses)
        for purse in self.purses.values():
            mine = (
                (token, holding, self._cost(tree, holding))
                for token, holding in sorted(self.counted.items())
                if purse in self._over(tree, holding)
            )
            purse.recount(mine)
        return read

    # What is left, in the time of the clock -----------------------------------------------------

    def allow(
        self,
        tree: QuotaTree,
        charges: Mapping[Key, Charge],
        workloads: Mapping[Key, WorkloadFact],
        ends: Iterable[tuple[int, int, Holding | None]],
    ) -> BudgetChanges:
        """Compute what every budget leaves; return what that changes.

        `ends` are the planned ends of holdings that the ledgers have not reached: time, number, and
        the holding if it does not count yet.
        """
        had, self._had = self._had, bool(self._facts)
        if not self._had and not had:
            return NO_CHANGES
        reclassified = self._reclassify(charges)
        self._commitments.follow(tree, charges, workloads)
        self._sum_up(tree, ends)
        loosened = self._set_limits(tree)
        self.allowance = None
        if self._left:
            self.allowance = Allowance(
                lambda queue, local_queue: self._limits(tree, (queue, local_queue)),
                lambda queue: self.coverage.prices_of(tree, queue),
            )
        return BudgetChanges(loosened, had != self._had, reclassified)

    def _sum_up(self, tree: QuotaTree, ends: Iterable[tuple[int, int, Holding | None]]) -> None:
        """Sum what is held of every budget for running workloads, and for those that just ended.

        For workloads that run beyond a budget nothing of it is held.
        """
        self._held = {}
        for name, purse in self.purses.items():
            beyond = () if purse.fact.blocks else self._demoted
            self._held[name] = self._commitments.left(name, purse.at, without=beyond)
        for until, token, begins in ends:
            holding = begins or self.counted.get(token)
            if holding is not None:
                self._hold_ended(tree, holding, until)

    def _set_limits(self, tree: QuotaTree) -> bool:
        """Compute what is neither spent nor held; say whether any budget leaves more than before.

        Then another attempt is worthwhile for workloads that wait for a budget.
        """
        before, self._left = self._left, {}
        for name, purse in self.purses.items():
            self._left[name] = Limit(
                name=name,
                grant=purse.fact.grant,
                left=purse.fact.grant - purse.spent - self._held[name],
                ends_at=purse.span.end,
                blocks=purse.fact.blocks,
                unit=self.coverage.unit_of(tree, purse.fact),
            )
        if self.allowance is not None:
            self._waited_for |= self.allowance.has_barred
        loosened, self._reshaped = self._reshaped, False
        loosened |= any(
            name in self._left and self._left[name].left > one.left for name, one in before.items()
        )
        if loosened:
            self._waited_for = False
        return loosened

    @property
    def next_at(self) -> int | None:
        """When the next period ends, in the time of the ledgers, if a workload waits for that."""
        if self.allowance is None or not (self._waited_for or self.allowance.has_barred):
            return None
        return min((one.span.end for one in self.purses.values()), default=None)

    def over(self, tree: QuotaTree, holding: Holding) -> tuple[str, ...]:
        """Return the budgets that a holding falls under."""
        return self.coverage.over(tree, (holding.queue, holding.local_queue))

    def records(self, tree: QuotaTree, leaving: Iterable[Holding]) -> Iterator[BudgetAccountFact]:
        """Yield the account of every purse as it is to be stored, by name."""
        in_order = sorted(leaving, key=lambda one: (one.uid, one.since))
        for name, purse in sorted(self.purses.items()):
            held = self._held.get(name, 0)
            yield BudgetAccountFact(
                name=name,
                as_of=purse.at,
                period_start=purse.span.begin,
                period_end=purse.span.end,
                spent=purse.spent,
                held=held,
                left=purse.fact.grant - purse.spent - held,
                unit=self.coverage.unit_of(tree, purse.fact),
                opportunistic=purse.opportunistic(),
                leavers=tuple(
                    leaver_record(one)
                    for one in in_order
                    if name in self.over(tree, one) and (one.until is None or one.until > purse.at)
                ),
                bound=self.coverage.is_priced(tree, purse.fact),
            )

    # Inside -------------------------------------------------------------------------------------

    def _hold_ended(self, tree: QuotaTree, holding: Holding, until: int) -> None:
        """Add what a holding will have cost that has ended, but not yet in the ledgers' time."""
        for name in self.over(tree, holding):
            purse = self.purses[name]
            if purse.fact.blocks or holding.uid not in self._demoted:
                seconds = max(0, until - max(purse.at, holding.since))
                self._held[name] += self._cost(tree, holding) * seconds

    def _reclassify(self, charges: Mapping[Key, Charge]) -> tuple[Key, ...]:
        """Update which workloads run beyond a budget; return the charged ones that changed."""
        before = self._demoted
        found = {uid: None for one in self.purses.values() for uid in one.opportunistic()}
        self._demoted = {**found, **self._decided}
        changed = before.keys() ^ self._demoted.keys()
        if not changed:
            return ()
        return tuple(key for key, one in charges.items() if one.holder.uid in changed)

    def _limits(self, tree: QuotaTree, place: Place) -> tuple[Limit, ...]:
        return tuple(self._left[name] for name in self.coverage.over(tree, place))

    def _over(self, tree: QuotaTree, holding: Holding) -> list[Purse]:
        return [self.purses[name] for name in self.over(tree, holding)] if self.purses else []

    def _cost(self, tree: QuotaTree, holding: Holding) -> int:
        prices = self.coverage.prices_of(tree, holding.queue)
        return 0 if prices is None else cost_of(holding.usage, prices)
