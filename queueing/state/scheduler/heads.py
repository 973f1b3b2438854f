"""Which workloads are judged in a round: the head of each queue of a tree."""

from collections.abc import Iterable
from dataclasses import replace

from queueing.core.admissibility import refusal
from queueing.core.decisions import Mode, Requeue, Wait
from queueing.core.names import FlavorResource, QueueName, Uid, namespace_of
from queueing.core.quota.node import Node
from queueing.core.rounds import Head, Progress
from queueing.state.intake.joining import isolate
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item, Peers, peers_of
from queueing.state.queues.pending import PendingQueue
from queueing.state.queues.stands import BLOCKING, PARKED
from queueing.state.scheduler.reach import Reach
from queueing.state.scheduler.wake import is_promised

KEEPS_QUOTA = frozenset((Mode.DEFERRED_FIT, Mode.NO_CANDIDATES))
"""How far heads came that keep quota from others though they preempt nobody."""


def queues_in_turn(memory: Memory) -> list[list[QueueName]]:
    """Group the queues that may have a head by round: tree by tree, after where the last one ended.

    As Kueue counts, all are in one round.
    """
    if not memory.rules.waits_for_lacks:
        return [sorted(memory.ready)]
    trees: dict[Node, list[QueueName]] = {}
    for name in sorted(memory.ready):
        root = memory.root_of(name)
        if root is None:
            memory.ready.discard(name)
        else:
            trees.setdefault(root, []).append(name)
    ordered = sorted((root.path(), root, names) for root, names in trees.items())
    start = sum(path <= memory.trees.cursor for path, _, _ in ordered)
    return [names for _, _, names in ordered[start:] + ordered[:start]]


def heads_of(memory: Memory, names: Iterable[QueueName], refused: list[Wait]) -> list[Item]:
    """Return the heads of some queues; those without one are removed from `ready`.

    Waits of heads that must not be judged are added to `refused`.
    """
    reaches: dict[Node, Reach] = {}
    found = []
    for name in names:
        queue = memory.queues.get(name)
        head = None if queue is None else head_of(memory, queue, reaches, refused)
        if head is not None:
            found.append(head)
        elif queue is None or not has_turn(memory, queue):
            memory.ready.discard(name)
    return found


def has_turn(memory: Memory, queue: PendingQueue) -> bool:
    """Say whether a queue has a head that competes, and may admit."""
    return queue.head() is not None and memory.objects.is_active(queue.name)


def head_of(
    memory: Memory, queue: PendingQueue, reaches: dict[Node, Reach], refused: list[Wait]
) -> Item | None:
    """Return the head of a queue that may be judged; None if it has none now.

    A head that must not be judged is set aside with its reason, and the next takes its turn; as
    Kueue counts, the turn is used up.
    """
    if not memory.objects.is_active(queue.name):
        return None
    while True:
        item = _first_of(memory, queue, reaches) if queue.shelves else queue.head()
        if item is None:
            return None
        if memory.objects.is_strict(queue.name) and not may_lead(memory, queue, item):
            return None
        wait = refusal_of(memory, item)
        if wait is None:
            return item
        refused.append(wait)
        if not memory.rules.waits_for_lacks:
            return None


def _first_of(memory: Memory, queue: PendingQueue, reaches: dict[Node, Reach]) -> Item | None:
    """Return the first of a queue that is READY, or that waits on a shelf and may fit now.

    Who waits for free quota only is judged where it is, and stays there if others are faster.
    """
    root = memory.trees.roots[queue.name]
    reach = reaches.get(root)
    if reach is None:
        reach = reaches[root] = Reach(memory)

    def bound(resource: FlavorResource, priority: int | None) -> int:
        return reach.most(queue.name, resource, priority)

    while (peers := queue.covered(bound)) is not None:
        if peers.lacks:
            return peers.top()
        missing = reach.missing(peers)
        if missing is None:
            memory.wake_peers(peers)
            break
        queue.shelve(peers, missing, peers.priority)
    return queue.head()


def blockers_beside(memory: Memory, items: Iterable[Item]) -> list[Item]:
    """Return the heads that block queues in the trees of `items` and are judged all the same.

    As Kueue counts, they are those that keep quota from others, or did before others took theirs.
    With promises none is: what such a head keeps from others is charged.
    """
    if memory.rules.promises:
        return []
    found = []
    roots = dict.fromkeys(memory.trees.roots[peers_of(one).queue] for one in items)
    for name in (name for root in roots for name in memory.trees.members[root]):
        queue = memory.queues.get(name)
        front = None if queue is None else queue.front()
        if front is None or not memory.objects.is_active(name):
            continue
        keeps = front.preempting or (front.wait is not None and front.wait.mode in KEEPS_QUOTA)
        if keeps and front.peers is not None and front.peers.stand is BLOCKING:
            found.append(front)
    return found


def as_head(memory: Memory, item: Item) -> Head:
    """Return an item as the round judges it."""
    peers = peers_of(item)
    spared: frozenset[Uid] = frozenset()
    root = memory.trees.roots[peers.queue]
    if root in memory.pairs and memory.rules.keeps_pairs:
        before = memory.pairs[root].victims_of(item.fact.uid)
        spared = frozenset(uid for uid in before if not memory.is_leaving(uid))
    return Head(
        workload=item.fact,
        queue=peers.queue,
        demand=peers.demand,
        timestamp=item.timestamp,
        progress=_still_valid(memory, item),
        spared=spared,
        preempting=item.preempting,
    )


def may_lead(memory: Memory, queue: PendingQueue, item: Item) -> bool:
    """Say whether an item may be judged before the former head of its StrictFIFO queue.

    Where LocalQueues take turns, it must not pass the holder of a promise that would come before it
    without turns. Otherwise the former head keeps no quota any more.
    """
    if not memory.rules.promises:
        return True
    for peers in list(queue.waiting):
        first = peers.top()
        if first is not None and first.order < item.order and is_promised(memory, peers):
            return False
        if peers.stand is not PARKED:  # one that must not be judged would come first for ever
            memory.wake_peers(peers)
    return True


def _still_valid(memory: Memory, item: Item) -> Progress | None:
    """Return the progress of a queued item if it is valid still.

    It is while its queue releases nothing and no quota of its tree changes. As Kueue counts, it
    also is, whatever has changed, in the next round that judges a workload of its queue.
    """
    queue, progress = memory.queues[peers_of(item).queue], item.progress
    if progress is None:
        return None
    preserves = not memory.rules.waits_for_lacks and memory.settings.preserve_scan_progress
    if preserves and item.progress_in == queue.judged - 1:
        return replace(progress, generation=memory.trees.roots[queue.name].generation)
    return progress if item.progress_at == queue.releases else None


def refusal_of(memory: Memory, item: Item) -> Wait | None:
    """Set an item aside that must not be judged, apart from its peers; return its wait.

    None if it may be judged.
    """
    fact, peers = item.fact, peers_of(item)
    namespace = memory.objects.namespaces.get(namespace_of(fact.key))
    queue = memory.objects.queues[peers.queue]
    found = refusal(fact, queue, queue_inactive=False, namespace=namespace)
    if found is None:
        return None
    isolate(memory, item)
    peers = peers_of(item)
    wait = item.waits(found.requeue, found.reason, found.message)
    item.wait = peers.wait = wait
    peers.lacks = ()
    inadmissible = wait.requeue is not Requeue.IMMEDIATE
    memory.queues[peers.queue].set_aside(peers, PARKED if inadmissible else BLOCKING)
    memory.touch(peers.queue, peers.local_queue)
    return wait


def oldest_waiting(memory: Memory, most: int) -> list[Peers]:
    """Return some who wait inadmissible, the longest-waiting of each queue, queue after queue.

    The next call begins at the queue after the last one, so that each has its turn.
    """
    names = sorted(name for name, queue in memory.queues.items() if queue.waiting)
    start = sum(name <= memory.trees.swept for name in names)
    found: list[Peers] = []
    for name in names[start:] + names[:start]:
        for peers in memory.queues[name].waiting:
            if len(found) >= most:
                return found
            if peers.stand is PARKED:
                found.append(peers)
                memory.trees.swept = name
    return found
