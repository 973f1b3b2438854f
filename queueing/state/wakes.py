"""Who is worth another try after what happened.

A workload waits on what blocks it. Quota that is given back wakes those whose whole lack of that
flavor-resource is now available, and those whom preemption may help, if what is free and all their
possible victims hold would be enough; a new possible victim wakes the latter; a change of quotas,
cohorts, flavors or checks wakes every waiter that it reaches. In Kueue mode whatever Kueue's wake
list names wakes all waiters of the tree.
"""

from collections.abc import Iterable, Mapping

from queueing.core.decisions import Reason
from queueing.core.facts import Preemption, PreemptionPolicy
from queueing.core.names import FlavorResource, QueueName, namespace_of
from queueing.core.quota.node import Node
from queueing.state.ledger import Tidings
from queueing.state.memory import Memory
from queueing.state.pending import Expects, Peers
from queueing.state.supply import Supply


def wake_waiting(memory: Memory) -> None:
    """Make READY again whoever the latest changes may help."""
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
    tidings = memory.ledger.take_tidings()
    if memory.as_kueue:
        for root in _by_root(memory, tidings.released):
            for name in memory.members[root]:
                _wake_all(memory, name)
    else:
        _wake_covered(memory, tidings)
        _wake_hunters(memory, tidings)
    _wake_claimants(memory)


def _reshape(memory: Memory) -> None:
    """Work out anew which queues share a tree, and wake the trees that are not what they were."""
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
    """Let a queue that is active have its turn; tell those in one that no longer is."""
    active = memory.objects.activity(name)
    now = active is not None and active.status
    if now:
        memory.ready.add(name)
    elif memory.active.get(name, True):
        queue = memory.queue(name)
        for peers in queue.peers.values():
            memory.announcements.update((item.fact.key, None) for item in peers.items())
    memory.active[name] = now
    if active is None:
        del memory.active[name]


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


def _wake_namespace(memory: Memory, namespace: str) -> None:
    for queue in memory.queues.values():
        for peers in list(queue.waiting):
            if peers.local_queue is not None and namespace_of(peers.local_queue) == namespace:
                memory.wake_peers(peers)


def _wake_for_pods_ready(memory: Memory) -> None:
    for queue in memory.queues.values():
        for peers in list(queue.waiting):
            if peers.wait is not None and peers.wait.reason is Reason.WAITING_FOR_PODS_READY:
                memory.wake_peers(peers)


def _by_root(
    memory: Memory, released: Mapping[QueueName, Mapping[FlavorResource, None]]
) -> dict[Node, dict[FlavorResource, None]]:
    """Gather what was released by the tree in which it was; a queue that is gone frees nothing."""
    found: dict[Node, dict[FlavorResource, None]] = {}
    for name, resources in released.items():
        root = memory.roots.get(name)
        if root is not None:
            found.setdefault(root, {}).update(resources)
    return found


def _wake_covered(memory: Memory, tidings: Tidings) -> None:
    for root, resources in _by_root(memory, tidings.released).items():
        supply = Supply(memory, root)
        for name in memory.members[root]:
            queue = memory.queues.get(name)
            if queue is None or not queue.waiting:
                continue
            node = memory.tree.queue(name)
            for resource in resources:
                if resource in queue.lacking:
                    for peers in queue.covered(resource, node.available(resource)):
                        memory.wake_peers(peers, doubtful=True)
            for peers in list(queue.hopeful):
                if not peers.hope.isdisjoint(resources) and supply.may_cover(peers):
                    memory.wake_peers(peers, doubtful=True)


def _wake_hunters(memory: Memory, tidings: Tidings) -> None:
    """Wake those who found too few victims where somebody new may be one."""
    supplies: dict[Node, Supply] = {}
    for victims_queue, lowest in tidings.newcomers.items():
        root = memory.roots.get(victims_queue)
        if root is None:
            continue
        supply = supplies.setdefault(root, Supply(memory, root))
        for name in memory.members[root]:
            queue = memory.queues.get(name)
            if queue is None or not queue.hopeful:
                continue
            policies = memory.objects.queues[name].preemption
            for peers in list(queue.hopeful):
                if (
                    peers.expects is Expects.CHANGE
                    or (
                        peers.expects is Expects.VICTIM
                        and _may_take(policies, peers, lowest, own=name == victims_queue)
                    )
                ) and supply.may_cover(peers):
                    memory.wake_peers(peers, doubtful=True)


def _may_take(policies: Preemption, peers: Peers, priority: int, *, own: bool) -> bool:
    policy = policies.within_cluster_queue if own else policies.reclaim_within_cohort
    match policy:
        case PreemptionPolicy.NEVER:
            return False
        case PreemptionPolicy.LOWER_PRIORITY:
            return priority < peers.priority
        case PreemptionPolicy.LOWER_OR_NEWER_EQUAL_PRIORITY:
            return priority <= peers.priority
        case PreemptionPolicy.ANY:
            return True


def _wake_claimants(memory: Memory) -> None:
    """Wake a preemptor whose victims are all gone, or for whom there is enough already."""
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


def preempts(policies: Preemption) -> bool:
    """Say whether a queue may preempt at all."""
    return (
        policies.within_cluster_queue is not PreemptionPolicy.NEVER
        or policies.reclaim_within_cohort is not PreemptionPolicy.NEVER
    )
