"""Budgets: what each has spent in its period, and what it leaves to those who wait.

A purse follows the time of the ledgers and counts the holdings that they count, at whole seconds,
so that it is the same sum after a restart. What is left is worked out anew in each cycle, from what
is charged then, also by admissions of which no status tells yet: so nothing is promised twice.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from queueing.core.credits.allowance import Allowance, Limit, cost_of, seconds_of
from queueing.core.credits.facts import (
    BudgetAccountFact,
    BudgetFact,
    CreditPolicyFact,
    HolderKind,
)
from queueing.core.credits.holding import Holding
from queueing.core.credits.prices import Prices
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, QueueName, Uid
from queueing.core.quota.tree import QuotaTree
from queueing.state.credits.accounts import Accounts, leaver_record
from queueing.state.credits.policies import Policies
from queueing.state.credits.purse import Purse
from queueing.state.usage.charges import Charge

Place = tuple[QueueName, Key | None]
"""A ClusterQueue, and the LocalQueue by which a workload came to it."""


@dataclass(frozen=True, slots=True)
class BudgetChanges:
    """What differs from the last cycle."""

    loosened: bool = False
    """Some budget leaves more than before."""
    regrouped: bool = False
    """There are budgets now and were none before, or the other way round."""
    reclassified: tuple[Key, ...] = ()
    """Who gained or lost the cover of a budget."""


NO_CHANGES = BudgetChanges()


class Commitment(NamedTuple):
    """What one that is charged may still cost: `cost` per second, for `seconds` from `since`."""

    uid: Uid
    since: int
    cost: int
    seconds: int

    def left(self, at: int) -> int:
        """Return what it may still cost from a time on."""
        return self.cost * max(0, self.seconds - max(0, at - self.since))


def _leads_nowhere(_local_queue: Key) -> QueueName | None:
    return None


@dataclass(slots=True)
class Budgets:
    """All budgets, by name."""

    policies: Policies
    counted: Mapping[int, Holding]
    """What ledgers count, by number; a purse is told of each before they count it no more."""
    queue_of: Callable[[Key], QueueName | None] = _leads_nowhere
    """Tells to which ClusterQueue a LocalQueue leads now."""
    any: bool = False
    """Whether there is any budget, or was until now."""
    accounts: Accounts[BudgetAccountFact] = field(default_factory=Accounts)
    purses: dict[str, Purse] = field(default_factory=dict)
    allowance: Allowance | None = None
    """What is left as of this cycle; None without budgets."""
    _facts: dict[str, BudgetFact] = field(default_factory=dict)
    _decided: dict[Uid, None] = field(default_factory=dict)
    """Who was let in beyond a budget, and does not count yet."""
    _demoted: dict[Uid, None] = field(default_factory=dict)
    _left: dict[str, Limit] = field(default_factory=dict)
    _held: dict[str, int] = field(default_factory=dict)
    _commitments: dict[str, dict[Key, Commitment]] = field(default_factory=dict)
    """Of all that are charged, by budget; as of the last cycle."""
    _under: dict[Key, tuple[str, ...]] = field(default_factory=dict)
    """The budgets by which a workload stands in `_commitments`."""
    _sums: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The sum of a budget's commitments, and the time that it is for, while they are the same."""
    _stirred: dict[Key, None] | None = None
    """Whose charge, or whose status, may be another than in the last cycle; None for all."""
    _names_at: dict[Place, tuple[str, ...]] = field(default_factory=dict)
    """The budgets that cover a place; worked out when they are first asked for."""
    _of_queues: dict[QueueName, CreditPolicyFact | None] = field(default_factory=dict)
    _of_cohorts: dict[str, CreditPolicyFact | None] = field(default_factory=dict)
    """The policies that queues and cohorts go by."""
    _had: bool = False
    _waited_for: bool = False
    _reshaped: bool = False

    @property
    def follows(self) -> bool:
        """Whether anything depends on who begins to hold quota and who ends."""
        return bool(self.purses or self._decided)

    # News ---------------------------------------------------------------------------------------

    def put(self, fact: BudgetFact) -> bool:
        """Take in a budget; say whether it is news."""
        if self._facts.get(fact.name) == fact:
            return False
        self._facts[fact.name] = fact
        self.any = True
        return True

    def drop(self, name: str) -> bool:
        """Forget a budget and its account."""
        self.accounts.drop(name)
        known = self._facts.pop(name, None) is not None
        self.any = bool(self._facts or self.purses)
        return known

    def demote(self, uid: Uid) -> None:
        """Note that a workload was let in beyond a budget."""
        self._decided[uid] = self._demoted[uid] = None

    def is_demoted(self, uid: Uid) -> bool:
        """Say whether a workload runs beyond a budget."""
        return uid in self._demoted

    def stir(self, key: Key) -> None:
        """Note that what a workload holds, or for how long, may be something else."""
        if self._stirred is not None:
            self._stirred[key] = None

    # Holdings, in the time of the ledgers -------------------------------------------------------

    def advance(self, at: int) -> None:
        """Bring all purses up to a time."""
        for purse in self.purses.values():
            purse.advance(at)

    def count_in(self, token: int, holding: Holding, tree: QuotaTree, when: int) -> None:
        """Count a holding under a number that is new."""
        for purse in self._over(tree, holding):
            purse.advance(when)
            purse.count_in(token, holding, self._cost(tree, holding))
        self._decided.pop(holding.uid, None)

    def count_out(self, token: int, when: int) -> None:
        """Count the holding of this number no more."""
        for purse in self.purses.values():
            if purse.counts(token):
                purse.advance(when)
                purse.count_out(token)

    def reshape(self, tree: QuotaTree, at: int, *, started: bool) -> list[BudgetAccountFact]:
        """Open and close purses, and let all go by the present prices and grants from `at` on.

        Return the accounts that were read at the start, when not `started`.
        """
        self.advance(at)
        self._reshaped = True
        self._stirred = None
        self._names_at.clear()
        self._of_queues.clear()
        self._of_cohorts.clear()
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
        """Work out what every budget leaves; say what that changes.

        `ends` are those that the ledgers have not reached: time, number, and the holding if it
        does not count yet.
        """
        had, self._had = self._had, bool(self._facts)
        if not self._had and not had:
            return NO_CHANGES
        reclassified = self._reclassify(charges)
        self._follow(tree, charges, workloads)
        self._sum_up(tree, ends)
        loosened = self._set_limits(tree)
        self.allowance = None
        if self._left:
            self.allowance = Allowance(
                lambda queue, local_queue: self._limits(tree, (queue, local_queue)),
                lambda queue: self._prices_of(tree, queue),
            )
        return BudgetChanges(loosened, had != self._had, reclassified)

    def _sum_up(self, tree: QuotaTree, ends: Iterable[tuple[int, int, Holding | None]]) -> None:
        """Sum what every budget holds for those who run, and for those whose end lies ahead."""
        self._held = {name: self._sum(name, purse) for name, purse in self.purses.items()}
        for until, token, begins in ends:
            holding = begins or self.counted.get(token)
            if holding is not None:
                self._hold_ended(tree, holding, until)

    def _set_limits(self, tree: QuotaTree) -> bool:
        """Work out what is neither spent nor held; say whether any budget leaves more than before.

        That makes a new try worthwhile for those who waited for a budget.
        """
        before, self._left = self._left, {}
        for name, purse in self.purses.items():
            self._left[name] = Limit(
                name=name,
                grant=purse.fact.grant,
                left=purse.fact.grant - purse.spent - self._held[name],
                ends_at=purse.span.end,
                blocks=purse.fact.blocks,
                unit=self._unit(tree, purse.fact),
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
        """When a period ends, in the time of the ledgers, if anybody waits for that."""
        if self.allowance is None or not (self._waited_for or self.allowance.has_barred):
            return None
        return min((one.span.end for one in self.purses.values()), default=None)

    def over(self, tree: QuotaTree, holding: Holding) -> tuple[str, ...]:
        """Return the budgets that a holding falls under."""
        return self._names(tree, (holding.queue, holding.local_queue))

    def records(self, tree: QuotaTree, leaving: Iterable[Holding]) -> Iterator[BudgetAccountFact]:
        """Return every purse as it is to be stored, by name."""
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
                unit=self._unit(tree, purse.fact),
                opportunistic=purse.opportunistic(),
                leavers=tuple(
                    leaver_record(one)
                    for one in in_order
                    if name in self.over(tree, one) and (one.until is None or one.until > purse.at)
                ),
                bound=self._policy_over(tree, purse.fact) is not None,
            )

    # Inside -------------------------------------------------------------------------------------

    def _follow(
        self, tree: QuotaTree, charges: Mapping[Key, Charge], workloads: Mapping[Key, WorkloadFact]
    ) -> None:
        """Bring commitments up to date, of those only who may hold something else than before."""
        stirred: Iterable[Key] = charges if self._stirred is None else self._stirred
        if self._stirred is None:
            self._commitments = {name: {} for name in self.purses}
            self._under.clear()
            self._sums.clear()
        for key in stirred:
            for name in self._under.pop(key, ()):
                del self._commitments[name][key]
                self._sums.pop(name, None)
            charge, fact = charges.get(key), workloads.get(key)
            if charge is not None and fact is not None:
                self._hold(tree, charge, fact)
        self._stirred = {}

    def _hold(self, tree: QuotaTree, charge: Charge, fact: WorkloadFact) -> None:
        """Hold what a run may still cost, counted from the time up to which it is spent."""
        holder = charge.holder
        names = self._names(tree, (holder.queue, holder.local_queue))
        seconds = seconds_of(fact) if names else None
        prices = None if seconds is None else self._prices_of(tree, holder.queue)
        if seconds is None or prices is None:
            return
        cost = cost_of(holder.usage, prices)
        self._under[holder.key] = names
        for name in names:
            self._commitments[name][holder.key] = Commitment(
                holder.uid, int(holder.reserved_at), cost, seconds
            )
            self._sums.pop(name, None)

    def _sum(self, name: str, purse: Purse) -> int:
        """Sum the commitments of a budget; those who run beyond it have none."""
        known = self._sums.get(name)
        if purse.fact.blocks and known is not None and known[0] == purse.at:
            return known[1]
        beyond = () if purse.fact.blocks else self._demoted
        committed = self._commitments[name].values()
        found = sum(one.left(purse.at) for one in committed if one.uid not in beyond)
        self._sums[name] = purse.at, found
        return found

    def _hold_ended(self, tree: QuotaTree, holding: Holding, until: int) -> None:
        """Hold what one will have cost whose end lies ahead of the ledgers."""
        for name in self.over(tree, holding):
            purse = self.purses[name]
            if purse.fact.blocks or holding.uid not in self._demoted:
                seconds = max(0, until - max(purse.at, holding.since))
                self._held[name] += self._cost(tree, holding) * seconds

    def _reclassify(self, charges: Mapping[Key, Charge]) -> tuple[Key, ...]:
        """Follow the purses in who runs beyond them; those who do not count yet stay so."""
        before = self._demoted
        found = {uid: None for one in self.purses.values() for uid in one.opportunistic()}
        self._demoted = {**found, **self._decided}
        changed = before.keys() ^ self._demoted.keys()
        if not changed:
            return ()
        return tuple(key for key, one in charges.items() if one.holder.uid in changed)

    def _limits(self, tree: QuotaTree, place: Place) -> tuple[Limit, ...]:
        return tuple(self._left[name] for name in self._names(tree, place))

    def _names(self, tree: QuotaTree, place: Place) -> tuple[str, ...]:
        found = self._names_at.get(place)
        if found is None:
            queue, local_queue = place
            holders = {(HolderKind.CLUSTER_QUEUE, str(queue))}
            if local_queue is not None:
                holders.add((HolderKind.LOCAL_QUEUE, str(local_queue)))
            if tree.has_queue(queue):
                above = tree.queue(queue).ancestors()
                holders |= {(HolderKind.COHORT, node.name) for node in above}
            found = tuple(
                name
                for name, one in sorted(self.purses.items())
                if (one.fact.kind, one.fact.holder) in holders
            )
            self._names_at[place] = found
        return found

    def _over(self, tree: QuotaTree, holding: Holding) -> list[Purse]:
        return [self.purses[name] for name in self.over(tree, holding)] if self.purses else []

    def _cost(self, tree: QuotaTree, holding: Holding) -> int:
        prices = self._prices_of(tree, holding.queue)
        return 0 if prices is None else cost_of(holding.usage, prices)

    def _prices_of(self, tree: QuotaTree, queue: QueueName) -> Prices | None:
        policy = self._policy_of(tree, queue)
        return None if policy is None else policy.prices

    def _policy_of(self, tree: QuotaTree, queue: QueueName) -> CreditPolicyFact | None:
        """Return the policy that a queue goes by; worked out when it is first asked for."""
        if queue not in self._of_queues:
            self._of_queues[queue] = self.policies.policy_of(tree, queue)
        return self._of_queues[queue]

    def _policy_over(self, tree: QuotaTree, fact: BudgetFact) -> CreditPolicyFact | None:
        """Return the policy that a budget's holder goes by; None when nothing costs anything there.

        Nor does anything where there is no such holder.
        """
        match fact.kind:
            case HolderKind.COHORT:
                if fact.holder not in self._of_cohorts:
                    found = self.policies.cohorts(tree)
                    over = (policy for node, policy in found if node.name == fact.holder)
                    self._of_cohorts[fact.holder] = next(over, None)
                return self._of_cohorts[fact.holder]
            case HolderKind.CLUSTER_QUEUE:
                return self._policy_of(tree, QueueName(fact.holder))
            case HolderKind.LOCAL_QUEUE:
                queue = self.queue_of(Key(fact.holder))
                return None if queue is None else self._policy_of(tree, queue)

    def _unit(self, tree: QuotaTree, fact: BudgetFact) -> str:
        policy = self._policy_over(tree, fact)
        return self.policies.unit if policy is None else policy.unit
