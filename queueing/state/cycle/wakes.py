"""Which waiting workloads become READY again after an event.

A workload waits for what blocks it, and only an event that may change that wakes it:

- A release of quota wakes no workload that lacks a known amount. Instead each queue of the tree
  finds, on its shelves, the first workload whose missing amount is available now.
- A release, or a new possible victim, wakes a workload that preemption may help, if the free quota
  and all that its possible victims hold would be enough. If not, it waits on a shelf for that sum.
- A workload that is kept off by standing workloads is woken when another one becomes standing.
- A change of quotas, cohorts, flavors or checks wakes all workloads in the queues that it reaches.

In Kueue mode each event of Kueue's list wakes all waiting workloads of the tree.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import nsmallest

from queueing.core.decisions import Reason
from queueing.core.facts import PreemptionPolicy
from queueing.core.names import FlavorResource, QueueName, namespace_of
from queueing.core.preemption.reach import limit_of
from queueing.core.quota.node import Node
from queueing.core.reasons import TOO_MANY_LEAVE
from queueing.state.cycle.standing import wake_kept_off
from queueing.state.cycle.supply import Supply
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Peers
from queueing.state.queues.pending import PendingQueue
from queueing.state.queues.stands import Expects
from queueing.state.usage.changes import UsageChanges


def wake_waiting(memory: Memory) -> None:
    """Make the workloads READY that the changes since the last call may help; forget the changes.

    Called at the begin of a cycle and after each of its rounds.
    """
    if memory.reshaped:
        _reshape(memory)
    for name in memory.refitted:
        _note_activity(memory, name)
        for member in _reach(memory, name):
            _wake_all(memory, member)
    memory.refitted.clear()
    for namespace in memory.relabelled:
        _wake_namespace(memory, namespace)
    memory.relabelled.clear()
    if memory.pods_turned_ready:
        memory.pods_turned_ready = False
        _wake_for_pods_ready(memory)
    _spread_changes(memory, memory.ledger.take_changes())
    _wake_claimants(memory)


def _spread_changes(memory: Memory, changes: UsageChanges) -> None:
    """Wake the workloads that usage changes may help: released quota, and new possible victims."""
    _wake_users(memory, changes)
    if memory.as_kueue:
        for root, news in _by_root(memory, changes).items():
            for name in memory.members[root] if news.released is not None else ():
                _wake_all(memory, name)
    else:
        for root, news in _by_root(memory, changes).items():
            _spread(memory, root, news)
        if memory.fickle and changes.admitted:
            _wake_fickle(memory, {memory.roots.get(name) for name in changes.admitted})
        if memory.kept_off and changes.claimed:
            wake_kept_off(memory, {memory.roots.get(name) for name in changes.claimed})


def _reshape(memory: Memory) -> None:
    """Work out anew which queues share a tree; wake all workloads of trees that changed."""
    memory.reshaped = False
    memory.roots = {}
    memory.members = {}
    for name in sorted(memory.objects.queues):
        root = memory.tree.queue(name).root()
        memory.roots[name] = root
        memory.members.setdefault(root, []).append(name)
        _note_activity(memory, name)
    before, memory.generations = memory.generations, {}
    memory.feuds = {root: one for root, one in memory.feuds.items() if root in memory.members}
    for root, names in memory.members.items():
        memory.generations[root] = root.generation
        if before.get(root) != root.generation:
            memory.feuds.pop(root, None)
            for name in names:
                memory.ready.add(name)
                _wake_all(memory, name)


def _note_activity(memory: Memory, name: QueueName) -> None:
    """Update whether a ClusterQueue is active: it becomes `ready`, or its workloads are told.

    If that changed, the views of the queue and of its LocalQueues are reported as changed.
    """
    active, before = memory.objects.activity(name), memory.active.pop(name, None)
    if active is not None:
        memory.active[name] = active
    if before is not None and active is not before and active != before:
        memory.touch(name, None)
        memory.touched.local_queues.update(memory.objects.local_queues_of.get(name, {}))
    if active is not None and active.status:
        memory.ready.add(name)
    elif before is None or before.status:
        _deactivate(memory, name)
    if active is None or active.status:
        memory.ledger.asleep.discard(name)
    else:
        memory.ledger.asleep.add(name)


def _deactivate(memory: Memory, name: QueueName) -> None:
    """Handle that a ClusterQueue became inactive.

    Its pending workloads get that reason in the next cycle. Workloads that they kept off are woken.
    So are preemptors of workloads that hold quota there, because those cannot be victims any more.
    """
    for peers in memory.queue(name).peers.values():
        for item in peers.items():
            memory.announcements[item.fact.key] = None
            if item.fact.key in memory.standing and not memory.as_kueue:
                memory.ledger.changes.release(name, item.wants)
    for holder in memory.ledger.rolls.held_in(name):
        memory.wake_preemptors(holder.key)


def _reach(memory: Memory, name: QueueName) -> Iterable[QueueName]:
    root = memory.roots.get(name)
    if memory.as_kueue and root is not None:
        return memory.members[root]
    return (name,)


def _wake_all(memory: Memory, name: QueueName) -> None:
    queue = memory.queues.get(name)
    if queue is not None:
        for peers in list(queue.waiting):
            memory.wake_peers(peers)


def _wake_users(memory: Memory, changes: UsageChanges) -> None:
    """Wake users of ResourceClaims that an admitted workload uses now: they need less quota."""
    for name, claims in changes.joined.items():
        queue = memory.queues.get(name)
        for peers in list(queue.waiting) if queue is not None else ():
            if not claims.isdisjoint(peers.demand.claims):
                memory.wake_peers(peers)


def _wake_namespace(memory: Memory, namespace: str) -> None:
    for queue in memory.queues.values():
        for peers in list(queue.waiting):
            if peers.local_queue is not None and namespace_of(peers.local_queue) == namespace:
                memory.wake_peers(peers)


def _wake_for_pods_ready(memory: Memory) -> None:
    if not memory.settings.block_admission_until_pods_ready:
        return
    for queue in memory.queues.values():
        for peers in list(queue.waiting):
            waits = peers.wait is not None and peers.wait.reason is Reason.WAITING_FOR_PODS_READY
            if waits or peers in queue.kept_off:
                memory.wake_peers(peers)


@dataclass(slots=True)
class News:
    """The usage changes of one tree."""

    released: dict[FlavorResource, None] | None = None
    """Flavor-resources of which quota was given back; None if nothing was released, empty if only
    a priority changed."""
    newcomers: dict[QueueName, int] = field(default_factory=dict)
    """ClusterQueue → lowest priority of the workloads in it that became possible victims."""
    _least: list[tuple[int, QueueName]] | None = None
    """The two lowest priorities of `newcomers` with their queues; None until `lowest` is called."""

    def lowest(self, *, but: QueueName) -> int | None:
        """Return the lowest priority of new victims in other queues; None when there are none."""
        if self._least is None:
            self._least = nsmallest(2, ((low, name) for name, low in self.newcomers.items()))
        return next((priority for priority, name in self._least if name != but), None)


def _by_root(memory: Memory, changes: UsageChanges) -> dict[Node, News]:
    """Group usage changes by tree. Changes of a queue that no longer exists are dropped."""
    found: dict[Node, News] = {}
    for name, resources in changes.released.items():
        news = _news_of(memory.roots.get(name), found)
        if news is not None:
            if news.released is None:
                news.released = {}
            news.released.update(resources)
    for name, lowest in changes.newcomers.items():
        news = _news_of(memory.roots.get(name), found)
        if news is not None:
            news.newcomers[name] = lowest
    return found


def _news_of(root: Node | None, found: dict[Node, News]) -> News | None:
    """Return the news of a tree, created if need be; None without a root."""
    if root is None:
        return None
    news = found.get(root)
    if news is None:
        news = found[root] = News()
    return news


def _spread(memory: Memory, root: Node, news: News) -> None:
    """Apply the news of a tree to its queues.

    Hopeful workloads are woken or shelved; queues with shelves become `ready`, and `selection`
    looks for a workload whose amount is free.
    """
    supply = Supply(memory, root)
    queues, ready, released = memory.queues, memory.ready, news.released is not None
    for name in memory.members[root]:
        queue = queues.get(name)
        if queue is None:
            continue
        if queue.hopeful:
            _spread_among_hopeful(memory, queue, news, supply)
        shelves = queue.shelves
        if shelves.only is not None:
            if released:  # only free quota counts on this shelf, so new victims do not help
                ready.add(name)
        elif shelves:
            ready.add(name)


def _spread_among_hopeful(memory: Memory, queue: PendingQueue, news: News, supply: Supply) -> None:
    """Wake the hopeful peers of a queue that the news may help; shelve those that lack too much."""
    for peers in list(queue.hopeful):
        missing = supply.missing(peers)
        if missing is not None:
            queue.shelve(peers, missing)
        elif _concerns(memory, peers, news):
            memory.wake_peers(peers, doubtful=True)


def _wake_fickle(memory: Memory, roots: set[Node | None]) -> None:
    """Wake the fickle workloads of some trees: the admission of another one may help these."""
    for name in list(memory.fickle):
        queue, root = memory.queues.get(name), memory.roots.get(name)
        if queue is None or not queue.fickle:
            del memory.fickle[name]
        elif root is not None and root in roots:
            supply = Supply(memory, root)
            for peers in list(queue.fickle):
                if supply.may_cover(peers):
                    memory.wake_peers(peers, doubtful=True)


def _concerns(memory: Memory, peers: Peers, news: News) -> bool:
    """Say whether the news of their tree is among the events that hopeful peers wait for."""
    if (news.released is not None or news.newcomers) and _awaits_departures(memory, peers):
        return True
    if news.released and not peers.hope.isdisjoint(news.released):
        return True
    if peers.expects is Expects.RELEASE or not news.newcomers:
        return False
    if peers.expects >= Expects.CHANGE:
        return True
    name = peers.queue
    policies = memory.objects.queues[name].preemption
    own, others = news.newcomers.get(name), news.lowest(but=name)
    return _may_take(policies.within_cluster_queue, peers, own) or _may_take(
        policies.reclaim_within_cohort, peers, others
    )


def _awaits_departures(memory: Memory, peers: Peers) -> bool:
    """Say whether a limit of concurrent preemptions stopped peers: then any release may help."""
    limited = memory.objects.limited_queues or memory.objects.limited_cohorts
    wait = peers.wait
    return bool(limited) and wait is not None and wait.message == TOO_MANY_LEAVE


def _may_take(policy: PreemptionPolicy, peers: Peers, priority: int | None) -> bool:
    """Say whether a policy lets peers preempt a workload of this priority; None is no workload."""
    return priority is not None and priority < limit_of(policy, peers.priority)


def _wake_claimants(memory: Memory) -> None:
    """Wake the preemptors whose victims have all left, or whose demand is free already."""
    for owner in memory.drained:
        claim = memory.claims.of(owner)
        item = memory.items.get(owner)
        if claim is None or item is None or not memory.tree.has_queue(claim.queue):
            continue
        node = memory.tree.queue(claim.queue)
        wanted = item.wants.items()
        if not claim.victims or all(node.available(one) >= asked for one, asked in wanted):
            memory.wake(item)
    memory.drained.clear()
