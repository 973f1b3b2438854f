"""CreditBudgets: what each leaves for admissions.

What is spent, `purse` counts in the time of the ledgers. What is left is computed anew in each
cycle, from all that is charged then. That includes assumed admissions, so nothing is promised
twice.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from queueing.core.credits.allowance import Allowance, Limit
from queueing.core.credits.facts import (
    BudgetFact,
    CreditKind,
    CreditPolicyFact,
    HolderKind,
    Member,
)
from queueing.core.credits.holding import Holding, seconds_of
from queueing.core.facts import WorkloadFact
from queueing.core.names import CohortName, Key, QueueName, Uid
from queueing.state.credits.account import Wanted
from queueing.state.credits.accounts import Accounts
from queueing.state.credits.policies import Policies
from queueing.state.credits.purse import BudgetTerms, Purse, Spending
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


class Budgets:
    """All budgets, by name."""

    def __init__(
        self,
        policies: Policies,
        accounts: Accounts,
        queue_of: Callable[[Key], QueueName | None],
    ) -> None:
        self._policies, self._accounts, self._queue_of = policies, accounts, queue_of
        self._facts: dict[str, BudgetFact] = {}
        self._purses: list[Purse] = []
        self.allowance: Allowance | None = None
        """What is left in this cycle; None without budgets."""
        self.decided: dict[Uid, None] = {}
        """Workloads admitted beyond a budget whose holding has not begun to count yet."""
        self.demoted: dict[Uid, None] = {}
        """Workloads that run beyond a budget, those of `decided` included."""
        self._under: dict[Key, list[Purse]] = {}
        """Workload → the purses in which it is committed."""
        self._had = False
        """Whether there was any budget in the last cycle."""
        self._reshaped = False
        """Whether budgets, policies or the tree changed since the last `allow`."""

    @property
    def any(self) -> bool:
        """Whether there is any budget, or was until now."""
        return bool(self._facts or self._purses)

    # News ---------------------------------------------------------------------------------------

    def put(self, fact: BudgetFact) -> bool:
        """Take in a budget; say whether it is new or changed."""
        if self._facts.get(fact.name) == fact:
            return False
        self._facts[fact.name] = fact
        return True

    def drop(self, name: str) -> bool:
        """Forget a deleted budget; say whether it was known."""
        return self._facts.pop(name, None) is not None

    def demote(self, uid: Uid) -> None:
        """Note that a workload was admitted beyond a budget."""
        self.decided[uid] = self.demoted[uid] = None

    # Structure ----------------------------------------------------------------------------------

    def wanted(self) -> Iterator[Wanted[BudgetTerms]]:
        """Yield the purses that there should be, by name."""
        for name, fact in sorted(self._facts.items()):
            holder, terms = Member(fact.kind, fact.holder), BudgetTerms(fact, self._cost)
            yield Wanted(Purse, (CreditKind.BUDGET, name), holder, terms, fact.created)

    def reshape(self) -> None:
        """Take over the purses that were opened or closed, and perhaps other prices."""
        self._reshaped = True
        self._purses = self._accounts.all(Purse)

    # What is left, in the time of the clock -----------------------------------------------------

    def allow(
        self,
        charges: Mapping[Key, Charge],
        workloads: Mapping[Key, WorkloadFact],
        stirred: Iterable[Key] | None,
        ends: Iterable[tuple[int, Holding]],
    ) -> BudgetChanges:
        """Compute what every budget leaves; return what that changes.

        `stirred` are the workloads whose charge or status may have changed; None for all.
        `ends` are the ends of holdings, with their times, that the ledgers have not reached.
        """
        had, self._had = self._had, bool(self._facts)
        if not self._had and not had:
            return BudgetChanges()
        reclassified = self._reclassify(charges)
        self._commit(charges, workloads, stirred)
        self._hold(ends)
        loosened = self._set_limits()
        self.allowance = Allowance(self._limits, self._policies.prices_of) if self._purses else None
        return BudgetChanges(loosened, had != self._had, reclassified)

    def _commit(
        self,
        charges: Mapping[Key, Charge],
        workloads: Mapping[Key, WorkloadFact],
        stirred: Iterable[Key] | None,
    ) -> None:
        """Note in each purse what is charged under it now."""
        if stirred is None:
            self._under.clear()
            for purse in self._purses:
                purse.committed.clear()
        for key in charges if stirred is None else stirred:
            for purse in self._under.pop(key, ()):
                del purse.committed[key]
            charge, fact = charges.get(key), workloads.get(key)
            seconds = None if fact is None else seconds_of(fact)
            if charge is None or seconds is None:
                continue
            holder = charge.holder
            over = self._purses_over(holder.queue, holder.local_queue)
            if over:
                cost = self._policies.cost(holder.queue, holder.whole)
                run = Spending(holder.uid, int(holder.reserved_at), cost, seconds)
                self._under[key] = over
                for purse in over:
                    purse.committed[key] = run

    def _hold(self, ends: Iterable[tuple[int, Holding]]) -> None:
        """Compute what is held for running workloads, and for those that just ended.

        For workloads that run beyond a budget nothing of it is held.
        """
        for purse in self._purses:
            beyond = () if purse.fact.blocks else self.demoted
            runs = (one for one in purse.committed.values() if one.uid not in beyond)
            purse.held = sum(one.left(purse.at) or 0 for one in runs)
        for until, holding in ends:
            for purse in self._purses_over(holding.queue, holding.local_queue):
                if purse.fact.blocks or holding.uid not in self.demoted:
                    seconds = max(0, until - max(purse.at, holding.since))
                    purse.held += self._cost(holding) * seconds

    def _set_limits(self) -> bool:
        """Compute what is neither spent nor held; say whether any budget leaves more than before.

        Then another attempt is worthwhile for workloads that wait for a budget.
        """
        loosened, self._reshaped = self._reshaped, False
        for purse in self._purses:
            policy, before, fact = self._policy_over(purse.fact), purse.limit.left, purse.fact
            purse.is_priced = policy is not None
            purse.limit = Limit(
                name=fact.name,
                grant=fact.grant,
                left=purse.left,
                ends_at=purse.span.end,
                blocks=fact.blocks,
                unit=self._policies.unit if policy is None else policy.unit,
            )
            loosened |= purse.limit.left > before
        return loosened

    @property
    def next_at(self) -> int | None:
        """When the next period ends, in the time of the ledgers; None without a budget."""
        return min((one.span.end for one in self._purses), default=None)

    # Inside -------------------------------------------------------------------------------------

    def _reclassify(self, charges: Mapping[Key, Charge]) -> tuple[Key, ...]:
        """Update which workloads run beyond a budget; return the charged ones that changed."""
        beyond = {uid: None for one in self._purses for uid in one.opportunistic()}
        found = {**beyond, **self.decided}
        changed = found.keys() ^ self.demoted.keys()
        if not changed:
            return ()
        self.demoted.clear()
        self.demoted.update(found)
        return tuple(key for key, one in charges.items() if one.holder.uid in changed)

    def _purses_over(self, queue: QueueName, local_queue: Key | None) -> list[Purse]:
        """Return the purses of the budgets that workloads of a place fall under."""
        if not self._purses:
            return []
        return [one for one in self._accounts.over(queue, local_queue) if isinstance(one, Purse)]

    def _limits(self, queue: QueueName, local_queue: Key | None) -> tuple[Limit, ...]:
        return tuple(one.limit for one in self._purses_over(queue, local_queue))

    def _cost(self, holding: Holding) -> int:
        return self._policies.cost(holding.queue, holding.usage)

    def _policy_over(self, budget: BudgetFact) -> CreditPolicyFact | None:
        """Return the policy that prices a budget's holder; None without one, or no holder."""
        if budget.kind is HolderKind.COHORT:
            return self._policies.of_cohort(CohortName(budget.holder))
        is_queue = budget.kind is HolderKind.CLUSTER_QUEUE
        queue = QueueName(budget.holder) if is_queue else self._queue_of(Key(budget.holder))
        return self._policies.of_queue(queue)
