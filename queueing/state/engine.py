"""The engine: facts in, decisions out. It awaits nothing and asks no clock.

The path of one decision: `observe` (`intake`) puts a workload in its queue, `cycle` (`driver`)
judges the heads and assumes what was decided, `settle` (`outcomes`) learns what became of the
write, and the next `observe` of the workload turns the assumption into a fact.
"""

from collections.abc import Iterable, Iterator

from queueing.core.credits.facts import (
    BudgetAccountFact,
    CreditAccountFact,
    CreditFact,
    UsageRecordFact,
)
from queueing.core.decisions import Cycle, Outcome, Wait
from queueing.core.facts import (
    Fact,
    Gone,
    Kind,
    WorkloadFact,
)
from queueing.core.names import CohortName, Key, QueueName
from queueing.core.settings import Settings
from queueing.state import invariants
from queueing.state.answers import reports
from queueing.state.answers.excess import exceeds
from queueing.state.answers.waits import settled_wait, wait_of
from queueing.state.cycle.driver import run_cycle, run_round
from queueing.state.intake.outcomes import take_outcome
from queueing.state.intake.surroundings import drop_object, put_object
from queueing.state.intake.workloads import forget_workload, observe_workload
from queueing.state.memory.memory import Memory
from queueing.state.memory.views import Changed, CohortView, PendingItem, QueueView


class Engine:
    """Memory between cycles, and the driver of the rules over it.

    Facts of one object must come in the order in which the API server made them. While the outcome
    of a write is unknown, the next fact of its workload is taken as the answer: feed it one read
    with quorum, and none of the watch's that may be older.
    """

    __slots__ = ("_memory",)

    def __init__(self, settings: Settings | None = None) -> None:
        self._memory = Memory.empty(settings or Settings())

    def observe(self, fact: Fact) -> None:
        """Take in what the cluster says. The same fact twice changes nothing and wakes nobody."""
        match fact:
            case WorkloadFact():
                observe_workload(self._memory, fact)
                if self._memory.credits.any:
                    self._memory.credits.note(fact.key, fact)
            case Gone(kind=Kind.WORKLOAD, name=name):
                forget_workload(self._memory, Key(name))
                self._memory.credits.note(Key(name), None)
            case Gone():
                drop_object(self._memory, fact)
            case _:
                put_object(self._memory, fact)

    def observe_credit(self, fact: CreditFact) -> None:
        """Take in a credit policy, a grant, or an account as it is stored."""
        self._memory.recalls.clear()
        self._memory.credits.observe(fact)

    def cycle(self, now: float, budget: int | None = None) -> Cycle:
        """Decide all that can be decided now, or as much as judging `budget` heads allows.

        What is admitted or preempted is assumed from here on. Those who stand count in the budget,
        too, because they are judged along. It is overrun by at most one round of one tree of
        cohorts, because these compete and are judged together.
        """
        return run_cycle(self._memory, now, budget)

    def round(self, now: float) -> Cycle:
        """Run one round, exactly one Kueue cycle; every pending workload appears in it once."""
        return run_round(self._memory, now)

    def settle(self, outcome: Outcome) -> None:
        """Learn what became of the write of a decision.

        Refused takes it back and lets the workload be judged again, later and later if that goes
        on; Done and Unknown leave it charged until a fact tells.
        """
        take_outcome(self._memory, outcome)

    def cluster_queue(self, name: QueueName) -> QueueView | None:
        return reports.cluster_queue(self._memory, name)

    def local_queue(self, key: Key) -> QueueView | None:
        return reports.local_queue(self._memory, key)

    def cohort(self, name: CohortName) -> CohortView | None:
        return reports.cohort(self._memory, name)

    def pending(
        self, cluster_queue: QueueName, local_queue: Key | None = None
    ) -> Iterator[PendingItem]:
        """Yield the pending workloads of a ClusterQueue in its order, inadmissible ones too.

        With `local_queue` only those that came by it. To be used up before anything else is said.
        """
        return reports.pending(self._memory, cluster_queue, local_queue)

    def shapes(self, cluster_queue: QueueName) -> tuple[int, int]:
        """Count the sorts of pending workloads that are judged alike: in the queue, set aside."""
        return reports.shapes(self._memory, cluster_queue)

    def waiting(self, workload: Key) -> Wait | None:
        """Return why a workload waits; None when it does not, or is unknown."""
        return wait_of(self._memory, workload)

    def settled(self, workload: Key) -> Wait | None:
        """Return why a workload waits that will for now; None when its turn may come any moment."""
        return settled_wait(self._memory, workload)

    def pending_keys(self) -> list[Key]:
        """List all who wait, in a queue or out of it, in no defined order."""
        return [*self._memory.items, *self._memory.held]

    def is_claimed(self, victim: Key) -> bool:
        """Say whether somebody waits for what a victim holds."""
        return self._memory.claims.is_on(victim)

    def exceeds(self, workload: Key, aside: Iterable[Key] = ()) -> bool:
        """Say whether a workload holds what it would not be granted now, not counting `aside`."""
        return exceeds(self._memory, workload, aside)

    def credit_accounts(self) -> tuple[CreditAccountFact, ...]:
        """Return the credit ledgers as of the last cycle, for storing; none without a policy."""
        return tuple(self._memory.credits.records(self._memory.workloads))

    def credit_budgets(self) -> tuple[BudgetAccountFact, ...]:
        """Return what budgets have spent and hold, as of the last cycle, for storing."""
        return tuple(self._memory.credits.budgets(self._memory.tree, self._memory.workloads))

    def usage_records(self) -> tuple[UsageRecordFact, ...]:
        """Return the rows of usage that are to be stored, older hours of a tree first."""
        return tuple(self._memory.credits.usage(self._memory.workloads))

    def credits_altered(self) -> bool:
        """Say, once, that ledgers should be stored: quotas, prices or reclaimable pods changed."""
        return self._memory.credits.is_altered(self._memory.clock)

    def credits_cover(self, workload: Key) -> bool:
        """Say whether a finished workload may be forgotten: the stored accounts hold its end."""
        return self._memory.credits.stored.covers(workload, self._memory.tree)

    def credits_name(self, workload: Key) -> bool:
        """Say whether an evicted workload may give its quota back: the stored accounts name it."""
        return self._memory.credits.stored.recorded(workload, self._memory.tree)

    def credits_behind(self, workload: Key, since: int) -> tuple[str, ...]:
        """Return the accounts and budgets of what a workload holds that are stored up to before."""
        return self._memory.credits.stored.behind(workload, self._memory.tree, since)

    def credits_settled(self, workload: Key) -> bool:
        """Say whether a workload may reserve again: what it held is in the stored accounts."""
        return self._memory.credits.stored.settled(workload, self._memory.tree)

    def credit_policies(self) -> dict[str, tuple[CohortName, ...]]:
        """Return the root cohorts in which each credit policy counts."""
        return self._memory.credits.governed(self._memory.tree)

    def changed(self) -> Changed:
        """Return what to look at again since the last call of this."""
        return reports.changed(self._memory)

    def story(self, workload: Key) -> tuple[str, ...]:
        """Tell the last things that happened to a workload, oldest first."""
        return self._memory.stories.read(workload)

    def check(self) -> None:
        """Raise AssertionError unless every invariant holds."""
        invariants.check(self._memory)
