"""What the engine calls: takes in facts, advances all accounts, and says what follows from them."""

from collections.abc import Callable, Mapping, Sequence
from math import floor
from typing import Any, NamedTuple

from queueing.core.credits.allowance import Allowance
from queueing.core.credits.facts import (
    BudgetFact,
    CreditFact,
    CreditGone,
    CreditGrantFact,
    CreditKind,
    CreditPolicyFact,
    SavedFact,
)
from queueing.core.credits.holding import Holding
from queueing.core.credits.restraint import Restraint
from queueing.core.facts import WorkloadFact
from queueing.core.fair_sharing.patience import Patience, Patiences
from queueing.core.names import Key, QueueName, Uid
from queueing.core.quota.tree import QuotaTree
from queueing.state.credits.account import Wanted
from queueing.state.credits.accounts import Accounts
from queueing.state.credits.agenda import Agenda, Events, Grants, HoldingEnd, Ran
from queueing.state.credits.budgets import BudgetChanges, Budgets
from queueing.state.credits.cohort_ledger import CohortLedger, cohort_ledgers
from queueing.state.credits.meter import meters
from queueing.state.credits.namespace_ledger import NamespaceLedger, Sharers, namespace_ledgers
from queueing.state.credits.policies import Policies
from queueing.state.credits.presence import Presence
from queueing.state.credits.ranks import Rank
from queueing.state.credits.records import Records
from queueing.state.usage.charges import Charge


class EngineView(NamedTuple):
    """What the credit system reads of the engine's memory, as it is at any time."""

    tree: QuotaTree
    workloads: Mapping[Key, WorkloadFact]
    charges: Mapping[Key, Charge]
    sharers: Callable[[], Sharers]
    queue_of: Callable[[Key], QueueName | None]
    """Returns the present ClusterQueue of a LocalQueue."""
    protect: Callable[[float, Key], None]
    """Notes until when a minimum runtime protects a workload."""


class Credits:
    """All accounts, and what follows from them.

    While there is no policy or budget (`any`), nothing of it is called; its attributes are those of
    an engine without credits.
    """

    def __init__(self, around: EngineView) -> None:
        self._around = around
        self._policies = Policies(around.tree)
        self._accounts = Accounts()
        self._agenda = Agenda()
        self._grants = Grants(self._agenda)
        self._budgets = Budgets(self._policies, self._accounts, around.queue_of)
        self._cohorts: Sequence[CohortLedger] = ()
        """The ledgers that bend weights; none without fair sharing."""
        self._next_tick: int | None = None
        """When balances are measured next, in the time of the ledgers."""
        self._presence = Presence(self._agenda, self._policies, around.protect)
        self._saves: dict[str, SavedFact] = {}
        """Checkpoints by name."""
        self._unready: dict[int, None] = {}
        self.records = Records(
            self._accounts, self._presence, self._policies, self._grants, around.workloads
        )
        """What others see."""
        self.any = False
        """Whether there is any policy or budget, or was until now."""
        self.has_budgets = False
        """Whether there is any budget, so that maximum execution times matter."""
        self.demoted: Mapping[Uid, None] = self._budgets.demoted
        """Workloads that run beyond a budget, with the lowest priority."""
        self.allowance: Allowance | None = None
        """What budgets and restraints allow in this cycle; None without either."""
        self.restraints: dict[QueueName, Restraint] = {}
        """What those hold who may not borrow, by ClusterQueue; the engine's ledger charges it."""
        self.patience: Patiences = {}
        """Root of a tree → what protects workloads there from preemption by shares."""
        self.bends = False
        """Whether any balance bends a weight now."""
        self.queues: dict[QueueName, NamespaceLedger] = {}
        """The ledgers within ClusterQueues."""
        self.ranks: dict[QueueName, Rank] = {}
        """The order of LocalQueues of ClusterQueues that have a ledger."""
        self.reordered: dict[QueueName, None] = {}
        """Queues whose order of LocalQueues may have changed; the begin of a cycle empties this."""
        self._reshaped = self._noted = self._started = False
        self._stirred: dict[Key, None] | None = None
        """Workloads whose charge or status may have changed since the last cycle; None for all."""

    # News ---------------------------------------------------------------------------------------

    def observe(self, fact: CreditFact) -> None:
        """Take in an object of the credit system. A stored account is resumed only at the start."""
        match fact:
            case CreditPolicyFact():
                self._reshaped |= self._policies.put(fact)
            case CreditGrantFact():
                self._grants.put(fact)
            case BudgetFact():
                self._reshaped |= self._budgets.put(fact)
            case SavedFact():
                self._saves[fact.name] = fact
            case CreditGone(CreditKind.SAVED, name):
                self._saves.pop(name, None)
            case CreditGone(CreditKind.POLICY, name):
                self._reshaped |= self._policies.drop(name)
            case CreditGone(CreditKind.GRANT, name):
                self._grants.drop(name)
            case CreditGone(kind, name):
                if kind is CreditKind.BUDGET:
                    self._reshaped |= self._budgets.drop(name)
                self._accounts.drop((kind, name))
            case _:
                self._accounts.put(fact)
        self._look()

    def _look(self) -> None:
        self.has_budgets = self._budgets.any
        self.any = self._policies.any or self.has_budgets or bool(self._accounts)

    def note(self, key: Key, fact: WorkloadFact | None) -> None:
        """Note the new status of a workload; None if it was deleted."""
        if self._policies.any:
            self._presence.note(key, fact)
        self.stir(key)

    def stir(self, key: Key) -> None:
        """Note that the charge of a workload may have changed."""
        if self._stirred is not None:
            self._stirred[key] = None

    def demote(self, uid: Uid) -> None:
        """Note that a workload was admitted beyond a budget."""
        self._budgets.demote(uid)

    def reshape(self) -> None:
        """Note that quotas, weights or the structure of trees changed."""
        self._reshaped = self.any

    def divide(self) -> None:
        """Note that LocalQueues changed, and so perhaps the namespaces of a queue."""
        self._reshaped |= self._policies.orders_local_queues

    # Time ---------------------------------------------------------------------------------------

    def advance(self, now: float, *, bends: bool, started: bool) -> bool:
        """Bring all accounts up to `now`; say whether weighted shares may have changed.

        `bends` says that fair sharing is on, so that balances bend weights; `started`, that there
        was a cycle before. Called once per cycle.
        """
        started |= self._started
        at = floor(now) - self._policies.lag_s
        changed, self._reshaped = self._reshaped, False
        if changed:
            if started:
                # What happened before the change counts by the earlier terms.
                self._catch_up(now)
            self._reshape(at, bends=bends, started=started)
            self._presence.altered_at = at
        self._catch_up(now)
        self._accounts.advance(at)
        bent = self._measure(at, changed=changed)
        if bends and (changed or self._policies.minimum_runtime_s):
            self.patience = {root: _patience(one, now) for root, one in self._policies.trees()}
        self._started = True
        return changed or bent

    def _measure(self, at: int, *, changed: bool) -> bool:
        """Measure the balances that are due, and bend weights; say whether any weight changed.

        They are due at fixed points in time, so that the order of queues does not depend on when
        cycles run, and when accounts `changed`; in cohorts also when a hold began or ended.
        """
        due = changed or self._next_tick is None or at >= self._next_tick
        if due:
            step = self._policies.tick_s
            self._next_tick = (at // step + 1) * step if self._cohorts or self.queues else None
            moved = [name for name, one in self.queues.items() if one.measure()]
            self.reordered.update(dict.fromkeys(moved))
        bent = [one for one in self._cohorts if (due or one.stirred) and one.measure()]
        for ledger in bent:
            ledger.bend()
        if due or bent:
            self.bends = any(any(one.exponents.values()) for one in self._cohorts)
        return bool(bent)

    def _catch_up(self, now: float) -> None:
        """Plan what new statuses and grants say, and execute all events up to the ledgers' time."""
        self._presence.take_changes(self._around.workloads, self._around.charges, floor(now))
        self._grants.plan()
        self.records.at = floor(now) - self._policies.lag_s
        saved: dict[Uid, list[int]] = {}
        for when, events in self._agenda.due(self.records.at):
            self._accounts.advance(when)
            # Losses first: they depend on what was held before any event of that second.
            evicted = [token for token, event in events if event is HoldingEnd.EVICTED]
            if evicted:
                saved = saved or self._times_saved()
                self._lose(evicted, when, saved)
            self._let_happen(events, when)

    def _times_saved(self) -> dict[Uid, list[int]]:
        found: dict[Uid, list[int]] = {}
        for save in self._saves.values():
            found.setdefault(save.uid, []).append(save.at)
        return found

    def _lose(self, evicted: Sequence[int], when: int, saved: Mapping[Uid, list[int]]) -> None:
        """Count what evictions lose: the work since the last Checkpoint of each holding."""
        for holding in map(self._accounts.counted.get, evicted):
            if holding is not None:
                times = [at for at in saved.get(holding.uid, ()) if holding.since <= at <= when]
                self._accounts.lose(holding, when, max(times, default=None))

    def _let_happen(self, events: Events, when: int) -> None:
        """Execute the events of one second in all accounts."""
        accounts, ends, decided = self._accounts, self._presence.ends, self._budgets.decided
        for token, event in events:
            if isinstance(event, HoldingEnd):
                accounts.end(token, when)
                ends.pop(token, None)
            elif isinstance(event, Holding):
                accounts.begin(token, event, when)
                decided.pop(event.uid, None)
            elif isinstance(event, Ran):
                accounts.ran(token, event.since, when)
            else:
                for ledger in accounts.all(CohortLedger):
                    ledger.book(event)

    def _reshape(self, at: int, *, bends: bool, started: bool) -> None:
        """Open and close accounts; all use the present quotas and terms from `at` on."""
        policies, accounts, presence = self._policies, self._accounts, self._presence
        if not self._noted:
            presence.look_again(self._around.workloads)
        self._noted = policies.any
        policies.match()
        wanted: list[Wanted[Any]] = [
            *cohort_ledgers(policies, self._around.tree),
            *namespace_ledgers(policies, self._around.sharers()),
            *self._budgets.wanted(),
            *meters(policies, self._unready),
        ]
        presence.recall(accounts.reshape(self._around.tree, wanted, at, started=started))
        self._budgets.reshape()
        self._stirred = None
        self._cohorts = accounts.all(CohortLedger) if bends else ()
        before = self.queues
        self.queues = {QueueName(one.holder.name): one for one in accounts.all(NamespaceLedger)}
        self.reordered.update(dict.fromkeys((*before, *self.queues)))

    # What follows for decisions -----------------------------------------------------------------

    def allow(self) -> BudgetChanges:
        """Compute what budgets leave for admissions; return what that changes."""
        counted = self._accounts.counted
        ends = (
            (when, holding)
            for when, token, begins in self._agenda.ends()
            if (holding := begins or counted.get(token)) is not None
        )
        return self._budgets.allow(
            self._around.charges, self._around.workloads, self._stirred, ends
        )

    def restrain(self) -> bool:
        """Take over present rules about who may not borrow; say whether these may be others.

        Called after `allow`, because a workload that runs beyond a budget is not one of them. That
        less is held than before is a release, after which all are judged again anyway.
        """
        anew = self._stirred is None and self._restrain_anew()
        self._stirred = {}
        found = self._budgets.allowance
        if self.restraints:
            found = found or Allowance()
            found.restraints = self.restraints
        self.allowance = found
        self._look()
        return anew

    def _restrain_anew(self) -> bool:
        had, restraints = bool(self.restraints), self.restraints
        restraints.clear()
        for node, lowest in self._policies.restrained():
            restraints[QueueName(node.name)] = Restraint(node, lowest)
        for charge in self._around.charges.values() if restraints else ():
            mine = restraints.get(charge.holder.queue)
            if mine is not None:
                mine.charge(charge.holder, 1)
        return had or bool(restraints)

    def next_at(self) -> float | None:
        """Return when time alone may change a decision, in seconds of the clock; None for never."""
        period_ends, event = self._budgets.next_at, self._agenda.next_at
        if period_ends is None and not (self._policies.holds and self._cohorts):
            event = None
        times = [one for one in (self._next_tick, period_ends, event) if one is not None]
        return float(min(times) + self._policies.lag_s) if times else None


def _patience(policy: CreditPolicyFact, now: float) -> Patience:
    """Return what protects workloads from preemption by shares: hysteresis and minimum runtime."""
    if not policy.minimum_runtime_s:
        return Patience(policy.hysteresis)
    return Patience(policy.hysteresis, now - policy.minimum_runtime_s)
