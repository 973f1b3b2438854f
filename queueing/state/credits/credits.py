"""What the engine calls: news in, ledgers up to a time, and what follows from them out."""

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
    """All ledgers of a cluster. Without a policy it remembers nothing and costs nothing."""

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
        """The ledgers within queues."""
        self._budgets = Budgets(self._policies, self._books.counted)
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
        """What the stored accounts tell of workloads."""
        self.any = False
        """Whether there is any policy or budget, so that it matters who holds what."""
        self._reshaped = False
        self._altered_at: int | None = None
        self._started = False

    # News ---------------------------------------------------------------------------------------

    def observe(self, fact: CreditFact) -> None:
        """Take in a policy, a grant or a stored account; an account is read only at the start."""
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
        """Note what a workload's status says now; None when it is gone."""
        if self._policies.any:
            self._presence.note(key, fact)
        if self._budgets.any or self._policies.restrains:
            self.stir(key)

    def stir(self, key: Key) -> None:
        """Note that a workload may hold something else than before."""
        if self._budgets.any:
            self._budgets.stir(key)
        if self._policies.restrains:
            self._restraints.stir(key)

    def reshape(self) -> None:
        """Note that quotas, weights or the structure of trees changed."""
        self._reshaped = self._counts

    @property
    def _counts(self) -> bool:
        """Whether any policy counts, or did until now."""
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
        """Bring the ledgers up to `now`; say whether shares changed.

        `bends` says that fair sharing is on.
        """
        if not self._counts:
            self._started = True
            return False
        at = floor(now) - self._policies.lag_s
        changed, divided = self._reshaped, self._reshaped or self.queue_books.stale
        if divided:
            if self._started:
                # What happened before the change counts by the terms of then.
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
        """Let everything happen that statuses and grants tell of and the ledgers have reached."""
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
        """Work out what budgets leave to those who wait; say what that changes."""
        return self._budgets.allow(tree, charges, workloads, self._agenda.ends())

    def restrain(self, tree: QuotaTree, charges: Mapping[Key, Charge]) -> bool:
        """Work out what those hold who may not borrow; say whether others of them may have room.

        Called when it is settled who runs beyond a budget: who does is not one of them.
        """
        return self._restraints.measure(tree, charges)

    def wakes(self, now: float) -> list[Key]:
        """Return who has run long enough by now to be a victim for the sake of shares."""
        return self._undisturbed.wakes(now)

    def next_at(self) -> float | None:
        """Return when time alone may change a share, or whom shares may take; None for never."""
        times = [float(one + self._policies.lag_s) for one in self._next_in_ledgers()]
        if self._books.by_cohort and self._undisturbed.next_at is not None:
            times.append(self._undisturbed.next_at)
        return min(times, default=None)

    def _next_in_ledgers(self) -> Iterator[int]:
        """Return times of the ledgers that somebody may wait for."""
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
        """Open and close ledgers, and let all go by the present quotas from `at` on."""
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
        """Let everything happen that was planned until `at`."""
        for second in self._agenda.due(at):
            # First what evictions lost: it depends on what was held before anything of that second.
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
        """Let the ledgers follow one second, and what else there is: purses, rows of usage."""
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
        """Whether there is any budget, so that execution times matter."""
        return self._budgets.any

    @property
    def allowance(self) -> Allowance | None:
        """What budgets leave as of this cycle, and who may not borrow; None without either."""
        found, restraints = self._budgets.allowance, self._restraints.by_queue
        if not restraints:
            return found
        if found is None:
            return Allowance(restraints=restraints)
        found.restraints = restraints
        return found

    def drifted(self, charges: Mapping[Key, Charge]) -> list[QueueName]:
        """Return the queues of which what is held by those who may not borrow is wrong."""
        return self._restraints.drifted(charges)

    def find_queues_by(self, queue_of: Callable[[Key], QueueName | None]) -> None:
        """Set what tells to which ClusterQueue a LocalQueue leads."""
        self._budgets.queue_of = queue_of

    def demote(self, uid: Uid) -> None:
        """Note that a workload was let in beyond a budget."""
        self._budgets.demote(uid)

    def is_demoted(self, uid: Uid) -> bool:
        """Say whether a workload runs beyond a budget, so that anybody may preempt it."""
        return self._budgets.is_demoted(uid)

    def budgets(
        self, tree: QuotaTree, workloads: Mapping[Key, WorkloadFact]
    ) -> Iterator[BudgetAccountFact]:
        """Return what every budget's status is to say, by name."""
        leaving = list(self._presence.leaving(workloads))
        return self._budgets.records(tree, leaving)

    # Answers ------------------------------------------------------------------------------------

    @property
    def patience(self) -> Patiences:
        """What keeps shares from taking too soon in each tree, by its root."""
        return self._undisturbed.patience

    @property
    def bends(self) -> bool:
        """Say whether any balance bends a weight now."""
        return bool(self._books.by_cohort) and self._bending.is_any

    def records(self, workloads: dict[Key, WorkloadFact]) -> Iterator[CreditAccountFact]:
        """Return every ledger as it is to be stored: of cohorts by name, of queues by name."""
        leaving = list(self._presence.leaving(workloads))
        yield from accounts.records(self._books.by_cohort, leaving, self._grants.names())
        yield from self.queue_books.records(leaving)

    def usage(self, workloads: Mapping[Key, WorkloadFact]) -> Iterator[UsageRecordFact]:
        """Return the rows of every tree that are to be stored, its older hours first."""
        return self._usages.unstored(self._presence.leaving(workloads))

    def is_altered(self, now: float) -> bool:
        """Say, once, that ledgers have gone by other terms since, of which no object tells when.

        Whoever stores them now lets a start from there go by the same terms.
        """
        if self._altered_at is None or self._altered_at > floor(now) - self._policies.lag_s:
            return False
        self._altered_at = None
        return True

    def governed(self, tree: QuotaTree) -> dict[str, tuple[CohortName, ...]]:
        """Return the root cohorts that each policy has."""
        return self._policies.governed(tree)
