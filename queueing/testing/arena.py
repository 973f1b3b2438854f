"""One round of the core without the engine: facts in, judgements out."""

from collections.abc import Iterable

from queueing.core.decisions import Admit
from queueing.core.entries import Head, Ruling
from queueing.core.facts import ClusterQueueFact, CohortFact, FlavorFact, WorkloadFact
from queueing.core.flavors.assignment import Progress
from queueing.core.holders import ByPriority, Holder, Ranked, exposed_by, rank
from queueing.core.names import FlavorName, Key, QueueName, name_of
from queueing.core.nomination import World
from queueing.core.ordering import queue_timestamp
from queueing.core.queue_rules import Catalog, QueueRules
from queueing.core.quota.node import QuotaNode
from queueing.core.quota.tree import QuotaTree
from queueing.core.rounds import process_round
from queueing.core.settings import Settings
from queueing.core.usage import demand_of, holder_of
from queueing.testing.builders import LOCAL_QUEUE
from queueing.testing.trees import check


class Arena:
    """Queues, flavors and running workloads; pending ones are judged by `round`.

    A workload belongs to the ClusterQueue named like its LocalQueue. Flavors that a queue names
    and no fact gives exist, without labels and taints, unless `missing` lists them.
    """

    def __init__(
        self,
        *facts: ClusterQueueFact | CohortFact | FlavorFact | WorkloadFact,
        settings: Settings | None = None,
        missing: Iterable[str] = (),
    ) -> None:
        self.settings = settings or Settings()
        self.now = 0.0
        self.tree = QuotaTree()
        self.held: dict[QueueName, dict[Key, Holder]] = {}
        self.local_usages: dict[Key, float] = {}
        queues = [fact for fact in facts if isinstance(fact, ClusterQueueFact)]
        flavors = _flavors(queues, facts, frozenset(missing))
        self.rules: dict[QueueName, QueueRules] = {}
        for fact in facts:
            if isinstance(fact, CohortFact):
                self.tree.put_cohort(fact)
        for queue in queues:
            self.tree.put_queue(queue)
            self.rules[queue.name] = Catalog().rules(queue, flavors)
        for fact in facts:
            if isinstance(fact, WorkloadFact):
                self.hold(holder_of(fact, self.settings))

    def hold(self, holder: Holder) -> None:
        """Charge a running workload."""
        self.tree.add_usage(holder.queue, holder.usage)
        self.tree.hold(holder.queue, holder.usage)
        self.held.setdefault(holder.queue, {})[holder.key] = holder

    def release(self, key: Key) -> None:
        """Let a running workload end."""
        for held in self.held.values():
            holder = held.pop(key, None)
            if holder is not None:
                self.tree.remove_usage(holder.queue, holder.usage)
                self.tree.hold(holder.queue, holder.usage, -1)

    def holders(self, queue: QueueName) -> Iterable[Holder]:
        return self.held.get(queue, {}).values()

    def ranked(self, queue: QueueName) -> Ranked:
        return rank(self.holders(queue))

    def exposed(self, queue: QueueName) -> ByPriority:
        return exposed_by(self.holders(queue))

    def commons(self, _queue: QueueName, _claims: Iterable[str]) -> None:
        """Nobody shares a claim here."""

    def local_usage(self, _queue: QueueName, local_queue: Key) -> float:
        return self.local_usages.get(local_queue, 0.0)

    def round(self, *workloads: WorkloadFact, pods_ready: bool = True) -> list[Ruling]:
        """Judge one round whose heads are these workloads."""
        return self.judge([self.head(one) for one in workloads], pods_ready=pods_ready)

    def judge(self, heads: list[Head], *, pods_ready: bool = True) -> list[Ruling]:
        """Judge one round, and hold what it admits."""
        world = World(
            tree=self.tree,
            rules=self.rules,
            holders=self,
            settings=self.settings,
            now=self.now,
            leaving=any(one.evicted for held in self.held.values() for one in held.values()),
            unready=frozenset() if pods_ready else self._roots(),
        )
        judgements = whole_round(heads, world)
        for judgement in judgements:
            if isinstance(judgement.decision, Admit):
                self._keep(judgement)
        check(self.tree)
        return judgements

    def _roots(self) -> frozenset[QuotaNode]:
        return frozenset(self.tree.queue(name).root for name in self.rules)

    def head(self, workload: WorkloadFact, progress: Progress | None = None) -> Head:
        """Make a head of a pending workload."""
        return Head(
            workload=workload,
            queue=QueueName(name_of(workload.local_queue or Key(LOCAL_QUEUE))),
            demand=demand_of(workload),
            timestamp=queue_timestamp(workload, self.settings),
            progress=progress,
        )

    def _keep(self, judgement: Ruling) -> None:
        head = judgement.head
        holder = Holder(
            key=head.workload.key,
            uid=head.workload.uid,
            queue=head.queue,
            local_queue=head.workload.local_queue,
            priority=head.workload.priority,
            timestamp=head.timestamp,
            reserved_at=head.timestamp,
            evicted=False,
            usage=judgement.entry.usage,
        )
        self.hold(holder)


def whole_round(heads: Iterable[Head], world: World) -> list[Ruling]:
    """Run a round without a pause."""
    steps = process_round(heads, world)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: list[Ruling] = end.value
            return found


def _flavors(
    queues: Iterable[ClusterQueueFact], facts: Iterable[object], missing: frozenset[str]
) -> dict[FlavorName, FlavorFact]:
    named = {one.flavor for queue in queues for group in queue.groups for one in group.flavors}
    flavors = {name: FlavorFact(name=name) for name in sorted(named) if name not in missing}
    flavors.update((fact.name, fact) for fact in facts if isinstance(fact, FlavorFact))
    return flavors
