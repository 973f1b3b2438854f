"""A head in the three stages of a round: as `Head`, nominated as `Entry`, decided as `Ruling`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from queueing.core.decisions import Admit, Bar, Mode, Preempt, Reason, Requeue, Wait
from queueing.core.facts import Strategy, WorkloadFact
from queueing.core.flavors.assignment import Assignment, Choices, Progress
from queueing.core.holders import Holder
from queueing.core.names import FlavorResource, Key, QueueName, Uid
from queueing.core.preemption.query import Target
from queueing.core.queue_rules import QueueRules
from queueing.core.quota.node import QuotaNode
from queueing.core.quota.tree import QuotaTree
from queueing.core.topology.usage import placed, places_of
from queueing.core.usage import Demand
from queueing.core.values import value

_BEGINS_ANEW = frozenset((None, Mode.DEFERRED_FIT, Mode.SKIPPED))
NOTHING: Mapping[FlavorResource, int] = MappingProxyType({})


@value()
class Head:
    """A workload that is judged in a round: the first of its queue, or one that has a promise.

    `timestamp` is since when it is queued: see `queue_timestamp`.
    """

    workload: WorkloadFact
    queue: QueueName
    demand: Demand
    timestamp: float
    progress: Progress | None = None
    nominated: Choices | None = None
    """The flavors that it was nominated for earlier in its round, if it must keep to them."""
    spared: frozenset[Uid] = frozenset()
    """Workloads that it must not preempt again."""
    preempting: bool = False
    """Whether its last judgement preempted others."""
    siblings: tuple[Holder, ...] = ()
    """Less favorable variants of the same workload that are admitted: it takes their place."""
    waited: int = 0
    """How many rounds in a row it got no ruling, because it let others go first."""
    is_behind: bool = False
    """Whether one before it in its queue found nobody to preempt: it takes nothing by shares."""


@dataclass(slots=True, eq=False)
class Entry:
    """A nominated head: its flavor assignment, and the victims that it needs."""

    head: Head
    rules: QueueRules
    node: QuotaNode
    assignment: Assignment
    usage: Mapping[FlavorResource, int]
    """What is charged if it is admitted."""
    targets: Sequence[Target] = ()
    barred: Bar | None = None
    """Why budgets or rules make it wait, though it would fit; None if they do not."""
    demoted: str | None = None
    """Why it runs beyond a budget, with the lowest priority; None if it does not."""
    partners: frozenset[Uid] = frozenset()
    """Workloads that use its ResourceClaims already."""

    @property
    def barred_before(self) -> Bar | None:
        """Why flavors that fitted were barred earlier in the same search; None if none was."""
        former = self.head.progress
        if former is None or former.shape != self.assignment.demand.full:
            return None
        return former.barred if former.generation == self.node.root.generation else None


class Ruling(NamedTuple):
    """The decision about an entry."""

    entry: Entry
    decision: Admit | Wait
    preemptions: tuple[Preempt, ...] = ()
    taken: tuple[Key, ...] = ()
    """Workloads whose promise is taken from them."""
    kept: Mapping[FlavorResource, int] = NOTHING
    """The quota that an entry which is not admitted keeps from later entries of the round."""

    @property
    def head(self) -> Head:
        return self.entry.head

    @property
    def is_promise(self) -> bool:
        """Whether what it keeps is promised to it: it waits only until others have left."""
        return bool(self.kept) and self.mode in (Mode.PREEMPT, Mode.DEFERRED_FIT)

    @property
    def mode(self) -> Mode | None:
        """How far the judgement came; None if it is admitted."""
        return self.decision.mode

    @property
    def progress(self) -> Progress | None:
        """At which flavors the next attempt begins; None to try all flavors anew.

        A workload that waits for victims tries all anew when they have left, and so does one that
        was skipped because others of the round came first.
        """
        if self.preemptions or self.decision.mode in _BEGINS_ANEW:
            return None
        return self.entry.assignment.progress


def wait(entry: Entry, mode: Mode, reason: Reason, message: str) -> Ruling:
    """Return the wait of a head that gets nothing.

    It is inadmissible, unless its queue is StrictFIFO or flavors are left to try.
    """
    strict = entry.rules.fact.strategy is Strategy.STRICT_FIFO
    again = strict or entry.assignment.progress is not None
    requeue = Requeue.IMMEDIATE if again else Requeue.INADMISSIBLE
    return _waits(entry, mode, (reason, message), requeue)


def retry(entry: Entry, mode: Mode, reason: Reason, message: str) -> Ruling:
    """Return the wait of a head that is judged again in the next round."""
    return _waits(entry, mode, (reason, message), Requeue.IMMEDIATE)


def keep(entry: Entry, mode: Mode, reason: Reason, message: str) -> Ruling:
    """Return the wait of a head that is judged again, and keeps its usage from later entries."""
    return retry(entry, mode, reason, message)._replace(kept=entry.usage)


def _waits(entry: Entry, mode: Mode, why: tuple[Reason, str], requeue: Requeue) -> Ruling:
    head = entry.head
    told = Wait(
        workload=head.workload.key,
        uid=head.workload.uid,
        cluster_queue=head.queue,
        requeue=requeue,
        reason=why[0],
        message=why[1],
        mode=mode,
        nominated=entry.assignment.pod_sets(),
        targets=tuple(one.holder.key for one in entry.targets if not one.holder.promised)
        if entry.targets
        else (),
    )
    return Ruling(entry, told)


def taken_from(targets: Iterable[Target]) -> tuple[Key, ...]:
    """Return those of some victims who only lose a promise."""
    return tuple(target.holder.key for target in targets if target.holder.promised)


def preemptions(head: Head, victims: Iterable[Target], tree: QuotaTree) -> tuple[Preempt, ...]:
    """Return the decisions to evict victims for a head."""
    own = tree.queue(head.queue).path()
    path = cache(lambda queue: tree.queue(queue).path())
    return tuple(
        Preempt(
            workload=victim.key,
            uid=victim.uid,
            cluster_queue=victim.queue,
            preemptor=head.workload.key,
            preemptor_uid=head.workload.uid,
            preemptor_queue=head.queue,
            reason=reason,
            preemptor_path=own,
            victim_path=path(victim.queue),
            already_evicted=victim.evicted,
        )
        for victim, reason in ((one.holder, one.reason) for one in victims)
    )


def reservation(entry: Entry) -> Mapping[FlavorResource, int]:
    """Return the quota, and the places, that a head without candidates keeps from later entries.

    Otherwise smaller workloads would starve it. As in Kueue it is the request, but at most what is
    left of the nominal quota; if it borrows, of nominal quota plus borrowing limit.
    """
    borrows = entry.assignment.borrow > 0
    kept: dict[FlavorResource, int] = {}
    for resource, amount in entry.usage.items():
        cell = entry.node.cell(resource)
        left = cell.limits.nominal - cell.usage
        if not borrows:
            kept[resource] = max(0, min(amount, left))
        elif cell.limits.borrowing_limit is None:
            kept[resource] = amount
        else:
            kept[resource] = max(0, min(amount, left + cell.limits.borrowing_limit))
    return placed(kept, places_of(entry.usage))
