"""What the engine calls: takes in facts, advances all ledgers, and says what follows from them."""

from collections.abc import Callable, Iterator, Mapping
from math import floor

from queueing.core.credits.allowance import Allowance
from queueing.core.credits.facts import (
    BudgetAccountFact,
    BudgetFact,
    CreditAccountFact,
    CreditFact,
    CreditGone,
    CreditGrantFact,
    CreditKind,
    CreditPolicyFact,
    SavedFact,
    UsageRecordFact,
)
from queueing.core.credits.holding import Holding
from queueing.core.facts import WorkloadFact
from queueing.core.fair_sharing.patience import Patiences
from queueing.core.names import CohortName, Key, QueueName, Uid
from queueing.core.quota.tree import QuotaTree
from queueing.state.credits import accounts, grants
from queueing.state.credits.accounts import Accounts
from queueing.state.credits.agenda import Agenda, Give, Second
from queueing.state.credits.books import Books
from queueing.state.credits.budgets import BudgetChanges, Budgets
from queueing.state.credits.coverage import Coverage
from queueing.state.credits.grants import Grants
from queueing.state.credits.policies import Policies
from queueing.state.credits.presence import Presence
from queueing.state.credits.queue_books import QueueBooks
from queueing.state.credits.restraints import Restraints
from queueing.state.credits.saves import Saves
from queueing.state.credits.shares import Bending, Undisturbed
from queueing.state.credits.stored import Stored
from queueing.state.credits.usages import Usages
from queueing.state.usage.charges import Charge


class Credits:
    """All ledgers and budgets. Without a policy or a budget it does nothing."""

    __slots__ = (
        "_accounts",
        "_agenda",
        "_altered_at",
        "_bending",
        "_books",
        "_budgets",
        "_grants",
        "_policies",
        "_presence",
        "_reshaped",
        "_restraints",
        "_saves",
        "_started",
        "_undisturbed",
        "_usages",
        "any",
        "queue_books",
        "stored",
    )

    def __init__(self) -> None:
        self._policies = Policies()
        self._accounts = Accounts[CreditAccountFact]()
        self._agenda = Agenda()
        self._grants = Grants(self._agenda)
        self._books = Books(self._policies, self._accounts)
        self.queue_books = QueueBooks(self._policies, self._accounts)
        """The ledgers within ClusterQueues."""
        self._budgets = Budgets(Coverage(self._policies), self._books.counted)
        self._restraints = Restraints(self._policies)
        self._bending = Bending(self._policies)
        self._undisturbed = Undisturbed(self._policies)
        self._presence = Presence(self._agenda, self._undisturbed)
        self._saves = Saves()
        self._usages = Usages(self._policies)
        self.stored = Stored(
            self._presence,
            self._accounts,
            books=self._books,
            queue_books=self.queue_books,
            also=(self._budgets, self._usages),
        )
        """Whether the stored accounts include what a workload held."""
        self.any = False
        """Whether there is any policy or budget."""
        self._reshaped = False
        self._altered_at: int | None = None
        self._started = False

    # News ---------------------------------------------------------------------------------------

    def observe(self, fact: CreditFact) -> None:
        """Take in an object of the credit system. A stored account is resumed only at the start."""
        match fact:
            case CreditPolicyFact():
                self._reshaped |= self._policies.put(fact)
            case CreditGrantFact():
                self._grants.put(fact)
            case CreditAccountFact():
                self._accounts.put(fact.name, fact)
            case BudgetFact():
                self._reshaped |= self._budgets.put(fact)
            case BudgetAccountFact():
                self._budgets.accounts.put(fact.name, fact)
            case SavedFact():
                self._saves.put(fact)
            case UsageRecordFact():
                self._usages.put(fact)
            case CreditGone():
                self._forget(fact)
        self.any = self._policies.any or self._budgets.any

    def _forget(self, gone: CreditGone) -> None:
        match gone.kind:
            case CreditKind.SAVED:
                self._saves.drop(gone.name)
            case CreditKind.POLICY:
                self._reshaped |= self._policies.drop(gone.name)
            case CreditKind.GRANT:
                self._grants.drop(gone.name)
            case CreditKind.BUDGET:
                self._reshaped |= self._budgets.drop(gone.name)
            case CreditKind.ACCOUNT:
                self._accounts.drop(gone.name)
            case CreditKind.USAGE:
                self._usages.records.drop(gone.name)

    def note(self, key: Key, fact: WorkloadFact | None) -> None:
        """Note the new status of a workload; None if it was deleted."""
        if self._policies.any:
            self._presence.note(key, fact)
        if self._budgets.any or self._policies.restrains:
            self.stir(key)

    def stir(self, key: Key) -> None:
        """Note that the charge of a workload may have changed."""
        if self._budgets.any:
            self._budgets.stir(key)
        if self._policies.restrains:
            self._restraints.stir(key)

    def reshape(self) -> None:
        """Note that quotas, weights or the structure of trees changed."""
        self._reshaped = self._counts

    @property
    def _counts(self) -> bool:
        """Whether there is any policy or budget, or was until now."""
        ledgers = self._books.by_cohort or self.queue_books.by_queue
        return self._policies.any or bool(ledgers) or self._budgets.any

    # Time ---------------------------------------------------------------------------------------

    def advance(
        self,
        tree: QuotaTree,
        workloads: dict[Key, WorkloadFact],
        charges: Mapping[Key, Charge],
        *,
        now: float,
        bends: bool,
    ) -> bool:
        """Bring the ledgers up to `now`; say whether weighted shares may have changed.

        `bends` says that fair sharing is on, so that balances bend weights. Called once per cycle.
        """
        if not self._counts:
            self._started = True
            return False
        at = floor(now) - self._policies.lag_s
        changed, divided = self._reshaped, self._reshaped or self.queue_books.stale
        if divided:
            if self._started:
                # What happened before the change counts by the earlier terms.
                self._catch_up(tree, workloads, charges, now)
            if changed:
                self._reshape(tree, workloads, at)
            else:
                self.queue_books.refit(self._books.counted, at)
            self._altered_at = at
        self._catch_up(tree, workloads, charges, now)
        self._books.advance(at)
        self.queue_books.advance(at)
        self.queue_books.measure(at, anyhow=divided)
        self._budgets.advance(at)
        self._usages.advance(at)
        if bends:
            self._undisturbed.look(tree, now)
            if changed or self._bending.is_due(at):
                changed |= self._bending.bend(self._books.by_cohort.values(), tree, at)
            elif self._policies.holds:
                changed |= self._bending.bend_held(self._books.by_cohort.values(), tree)
        self._started = True
        return changed

    def _catch_up(
        self,
        tree: QuotaTree,
        workloads: Mapping[Key, WorkloadFact],
        charges: Mapping[Key, Charge],
        now: float,
    ) -> None:
        """Plan what new statuses and grants say, and execute all events up to the ledgers' time."""
        self._presence.take_changes(workloads, charges, floor(now))
        if self._presence.altered_at is not None:
            self._altered_at, self._presence.altered_at = self._presence.altered_at, None
        self._grants.plan()
        self._carry_out(tree, floor(now) - self._policies.lag_s)

    def allow(
        self,
        tree: QuotaTree,
        charges: Mapping[Key, Charge],
        workloads: Mapping[Key, WorkloadFact],
    ) -> BudgetChanges:
        """Compute what budgets leave for admissions; return what that changes."""
        return self._budgets.allow(tree, charges, workloads, self._agenda.ends())

    def restrain(self, tree: QuotaTree, charges: Mapping[Key, Charge]) -> bool:
        """Update what workloads that may not borrow hold; say whether more of them may fit now.

        Called after `allow`, because a workload that runs beyond a budget is not one of them.
        """
        return self._restraints.measure(tree, charges)

    def wakes(self, now: float) -> list[Key]:
        """Return the workloads whose minimum runtime is over since the last call."""
        return self._undisturbed.wakes(now)

    def next_at(self) -> float | None:
        """Return when time alone may change a decision, in seconds of the clock; None for never."""
        times = [float(one + self._policies.lag_s) for one in self._next_in_ledgers()]
        if self._books.by_cohort and self._undisturbed.next_at is not None:
            times.append(self._undisturbed.next_at)
        return min(times, default=None)

    def _next_in_ledgers(self) -> Iterator[int]:
        """Yield the times of the ledgers at which a decision may change."""
        if self._books.by_cohort and self._bending.next_tick is not None:
            yield self._bending.next_tick
            if self._policies.holds and self._agenda.next_at is not None:
                yield self._agenda.next_at
        if self.queue_books.by_queue and self.queue_books.next_tick is not None:
            yield self.queue_books.next_tick
        if self._budgets.next_at is not None:
            yield self._budgets.next_at
            if self._agenda.next_at is not None:
                yield self._agenda.next_at

    def _reshape(self, tree: QuotaTree, workloads: dict[Key, WorkloadFact], at: int) -> None:
        """Open and close ledgers and purses; all use the present quotas and terms from `at` on."""
        self._reshaped = False
        self._restraints.reshape()
        self._undisturbed.reshape()
        if not self._books.by_cohort:
            self._presence.look_again(workloads)
        self._presence.follows_pods = self._policies.keeps_usage
        for stored in self._books.reshape(tree, at, started=self._started):
            self._presence.recall(stored.leavers)
        for inner in self.queue_books.reshape(
            tree, self._books.counted, at=at, started=self._started
        ):
            self._presence.recall(inner.leavers)
        for purse in self._budgets.reshape(tree, at, started=self._started):
            self._presence.recall(purse.leavers)
        for rows in self._usages.reshape(tree, at, self._books.counted, started=self._started):
            self._presence.recall(rows.leavers)

    def _carry_out(self, tree: QuotaTree, at: int) -> None:
        """Execute all events that are planned up to `at`."""
        for second in self._agenda.due(at):
            # Losses first: they depend on what was held before any event of that second.
            for token in second.evicted:
                self._lose(token, second.when)
            self._let_happen(second, tree)

    def _lose(self, token: int, when: int) -> None:
        holding = self._books.counted.get(token)
        if holding is not None:
            saved = self._saves.last(holding.uid, holding.since, when)
            self._books.lose(holding, when, saved)
            self.queue_books.lose(holding, when, saved)
            self._usages.lose(holding, saved, when)

    def _let_happen(self, second: Second, tree: QuotaTree) -> None:
        """Execute the events of one second in ledgers, purses and rows of usage."""
        events, ends = second.events, self._presence.ends
        if self._usages.follows:
            self._usages.follow(events, self._books.counted, second.when)
        if not (self._budgets.follows or self.queue_books.by_queue):
            events = self._books.follow(events, second.when)
            for token in ends.keys() & second.ended() if ends else ():
                del ends[token]
        for token, event in events:
            if event is None:
                ends.pop(token, None)
                self._count_out(token, second.when)
            elif isinstance(event, Holding):
                self._count_in(token, event, tree, second.when)
            elif isinstance(event, Give):
                grants.carry_out(event, self._books.by_cohort.values(), second.when)

    def _count_out(self, token: int, when: int) -> None:
        if self.queue_books.by_queue:
            self.queue_books.count(self._books.counted.get(token), when, -1)
        if self._budgets.follows:
            self._budgets.count_out(token, when)
        self._books.count_out(token, when)

    def _count_in(self, token: int, holding: Holding, tree: QuotaTree, when: int) -> None:
        self._books.count_in(token, holding, when)
        if self.queue_books.by_queue:
            self.queue_books.count(holding, when, 1)
        if self._budgets.follows:
            self._budgets.count_in(token, holding, tree, when)

    # Budgets ------------------------------------------------------------------------------------

    @property
    def has_budgets(self) -> bool:
        """Whether there is any budget, so that maximum execution times matter."""
        return self._budgets.any

    @property
    def allowance(self) -> Allowance | None:
        """What budgets and restraints allow in this cycle; None without either."""
        found, restraints = self._budgets.allowance, self._restraints.by_queue
        if not restraints:
            return found
        if found is None:
            return Allowance(restraints=restraints)
        found.restraints = restraints
        return found

    def drifted(self, charges: Mapping[Key, Charge]) -> list[QueueName]:
        """Return the queues whose restraint has wrong sums, for the invariants."""
        return self._restraints.drifted(charges)

    def find_queues_by(self, queue_of: Callable[[Key], QueueName | None]) -> None:
        """Set the function that returns the ClusterQueue of a LocalQueue."""
        self._budgets.coverage.queue_of = queue_of

    def demote(self, uid: Uid) -> None:
        """Note that a workload was admitted beyond a budget."""
        self._budgets.demote(uid)

    def is_demoted(self, uid: Uid) -> bool:
        """Say whether a workload runs beyond a budget, with the lowest priority."""
        return self._budgets.is_demoted(uid)

    def budgets(
        self, tree: QuotaTree, workloads: Mapping[Key, WorkloadFact]
    ) -> Iterator[BudgetAccountFact]:
        """Yield the account that is to be stored in every budget's status, by name."""
        leaving = list(self._presence.leaving(workloads))
        return self._budgets.records(tree, leaving)

    # Answers ------------------------------------------------------------------------------------

    @property
    def patience(self) -> Patiences:
        """Root of a tree → what protects workloads there from preemption by shares."""
        return self._undisturbed.patience

    @property
    def bends(self) -> bool:
        """Whether any balance bends a weight now."""
        return bool(self._books.by_cohort) and self._bending.is_any

    def records(self, workloads: dict[Key, WorkloadFact]) -> Iterator[CreditAccountFact]:
        """Yield every ledger as it is to be stored: those of cohorts, then those of queues."""
        leaving = list(self._presence.leaving(workloads))
        yield from accounts.records(self._books.by_cohort, leaving, self._grants.names())
        yield from self.queue_books.records(leaving)

    def usage(self, workloads: Mapping[Key, WorkloadFact]) -> Iterator[UsageRecordFact]:
        """Yield the records of usage that are to be stored, older hours of a tree first."""
        return self._usages.unstored(self._presence.leaving(workloads))

    def is_altered(self, now: float) -> bool:
        """Say, once per change, whether ledgers should be stored, because their terms changed.

        No object contains the time of such a change. A restart from accounts that are stored after
        it counts by the same terms.
        """
        if self._altered_at is None or self._altered_at > floor(now) - self._policies.lag_s:
            return False
        self._altered_at = None
        return True

    def governed(self, tree: QuotaTree) -> dict[str, tuple[CohortName, ...]]:
        """Return, for each policy, the root cohorts that it applies to."""
        return self._policies.governed(tree)
