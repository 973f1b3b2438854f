"""Which workloads are judged in a round, the head of each queue of a tree, and in which world."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from queueing.core.decisions import Decision, Mode, Requeue
from queueing.core.entries import Head
from queueing.core.facts import Strategy
from queueing.core.flavors.assignment import Progress
from queueing.core.names import QueueName, ResourceName, Uid
from queueing.core.nomination import World, refusal
from queueing.core.placement.pods import used_at
from queueing.core.preemption.limits import Bound
from queueing.core.quota.node import QuotaNode
from queueing.core.topology.assignment import Occupancy
from queueing.core.topology.usage import places_of
from queueing.state.intake.joining import isolate
from queueing.state.intake.returning import would_return
from queueing.state.intake.variants import less_favorable
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import BLOCKING, PARKED, Item, Peers
from queueing.state.queues.pending import PendingQueue
from queueing.state.scheduler.reach import Reach
from queueing.state.scheduler.wake import is_promised

KEEPS_QUOTA = frozenset((Mode.DEFERRED_FIT, Mode.NO_CANDIDATES))
"""How far heads came that keep quota from others though they preempt nobody."""
STRICT = Strategy.STRICT_FIFO
NOBODY: frozenset[Uid] = frozenset()
Place = tuple[str, bool]
"""What trees take turns by: the name of the root, and whether it is a queue."""


def queues_in_turn(memory: Memory) -> Iterator[tuple[Place, list[QueueName]]]:
    """Yield the queues that may have a head, tree by tree, after where the last round was.

    As Kueue counts, all are in one round.
    """
    if not memory.settings.rules.waits_for_lacks:
        yield memory.trees.cursor, sorted(memory.ready)
        return
    node_of, trees = memory.objects.tree.queue, defaultdict[QuotaNode, list[QueueName]](list)
    memory.ready.intersection_update(memory.objects.queues)
    for name in memory.ready:
        trees[node_of(name).root].append(name)
    places = {(root.name, root.is_queue): names for root, names in trees.items()}
    order = sorted(places)
    start = bisect_right(order, memory.trees.cursor)
    for place in order[start:] + order[:start]:
        yield place, sorted(places[place])


def heads_of(memory: Memory, names: Iterable[QueueName], refused: list[Decision]) -> list[Item]:
    """Return the heads of some queues; those without one are removed from `ready`.

    Waits of heads that must not be judged are added to `refused`.
    """
    reach, found = None, list[Item]()
    for name in names:
        queue = memory.queues.get(name)
        if reach is None and queue is not None and queue.shelves:
            reach = Reach(memory)
        head = None if queue is None else head_of(memory, queue, reach, refused)
        if head is not None:
            found.append(head)
        elif queue is None or not has_turn(memory, queue):
            memory.ready.discard(name)
    return found


def has_turn(memory: Memory, queue: PendingQueue) -> bool:
    """Say whether a queue has a head that competes, and may admit."""
    return queue.head() is not None and memory.objects.is_active(queue.name)


def head_of(
    memory: Memory, queue: PendingQueue, reach: Reach | None, refused: list[Decision]
) -> Item | None:
    """Return the head of a queue that may be judged; None if it has none now.

    A head that must not be judged is set aside with its reason, and the next takes its turn; as
    Kueue counts, the turn is used up.
    """
    fact = memory.objects.queues.get(queue.name)
    if fact is None or queue.name in memory.ledger.asleep:
        return None
    strict = fact.strategy is STRICT
    while item := _first_of(queue, reach) if reach and queue.shelves else queue.head():
        if strict and not may_lead(memory, queue, item):
            break
        if item.peers.stand is PARKED or may_be_judged(memory, item, refused):
            return item  # on a shelf: what would forbid it makes it READY
        if not memory.settings.rules.waits_for_lacks:
            break
    return None


def _first_of(queue: PendingQueue, reach: Reach) -> Item | None:
    """Return the first of a queue that is READY, or that waits on a shelf and may fit now.

    That one is judged where it is, and stays there if others are faster. One that asks for several
    resources and lacks another as well takes no turn: at each release those behind it would lose to
    others of the tree.
    """
    while (peers := queue.covered(reach.most)) is not None:
        missing = reach.missing(peers) if len(peers.demand.shape.requests) > 1 else None
        if missing is None:
            return peers.top()
        queue.shelve(peers, missing)
    return queue.head()


def blockers_beside(memory: Memory, names: Iterable[QueueName]) -> list[Item]:
    """Return the heads that block queues in the trees of some, and are judged with their heads.

    As Kueue counts, they are those that keep quota from others, or did before others took theirs.
    With promises there are none: what such a head keeps from others is charged.
    """
    if memory.settings.rules.promises:
        return []
    found, objects = [], memory.objects
    roots = {objects.tree.queue(name).root for name in names}
    for name, queue in memory.queues.items():
        front = queue.front() if queue.lanes else None
        if front is None or front.peers.stand is not BLOCKING or not objects.is_active(name):
            continue
        keeps = front.preempting or (front.wait is not None and front.wait.mode in KEEPS_QUOTA)
        if keeps and objects.tree.queue(name).root in roots:
            found.append(front)
    return sorted(found, key=lambda one: one.peers.queue)


def as_head(memory: Memory, item: Item) -> Head:
    """Return an item as the round judges it."""
    peers, name = item.peers, item.peers.queue
    queue, settings = memory.queues[name], memory.settings
    by_shares = settings.fair_sharing is not None and settings.rules.preempts_in_turn
    return Head(
        workload=item.fact,
        queue=name,
        demand=peers.demand,
        timestamp=item.timestamp,
        progress=None if item.progress is None else _still_valid(memory, item, item.progress),
        spared=spared_by(memory, name, item.fact.uid) if name in memory.pairs else NOBODY,
        preempting=item.preempting,
        siblings=() if item.fact.variant is None else less_favorable(memory, item.fact),
        waited=item.waited,
        is_behind=by_shares and bool(queue.hopeful) and _is_behind(queue, item),
    )


def spared_by(memory: Memory, queue: QueueName, preemptor: Uid) -> frozenset[Uid]:
    """Return whom a workload of a queue must not preempt again."""
    pairs = memory.pairs.get(queue)
    if pairs is None or not memory.settings.rules.keeps_pairs:
        return NOBODY
    uids, leaving = memory.workloads.uids, memory.ledger.leaving
    before = pairs.victims_of(preemptor)
    return frozenset(uid for uid in before if uids.get(uid) not in leaving)


def _is_behind(queue: PendingQueue, item: Item) -> bool:
    """Say whether one before an item in its queue was judged and waits for others to give back."""
    place = queue.place(item)
    return any(queue.place(one) < place for one in map(Peers.top, queue.hopeful) if one)


def may_lead(memory: Memory, queue: PendingQueue, item: Item) -> bool:
    """Say whether an item may be judged before the former head of its StrictFIFO queue.

    Where LocalQueues take turns, it must not pass the holder of a promise that would come before it
    without turns. Otherwise the former head keeps no quota any more.
    """
    if not memory.settings.rules.promises:
        return True
    for peers in list(queue.waiting):
        first = peers.top()
        if first is not None and first.order < item.order and is_promised(memory, peers):
            return False
        if peers.stand is not PARKED:  # one that must not be judged would come first for ever
            memory.wake(peers)
    return True


def _still_valid(memory: Memory, item: Item, progress: Progress) -> Progress | None:
    """Return the progress of a queued item if it is valid still.

    It is while its queue releases nothing and no quota of its tree changes. As Kueue counts, it
    also is, whatever has changed, in the next round that judges a workload of its queue.
    """
    queue = memory.queues[item.peers.queue]
    preserves = not memory.settings.rules.waits_for_lacks and memory.settings.preserve_scan_progress
    if preserves and item.progress_in == queue.judged - 1:
        return replace(progress, generation=memory.tree.queue(queue.name).root.generation)
    return progress if item.progress_at == queue.releases else None


def may_be_judged(memory: Memory, item: Item, told: list[Decision]) -> bool:
    """Set an item aside that must not be judged, apart from its peers; its wait goes to `told`."""
    objects = memory.objects
    found = refusal(item.fact, objects.queues[item.peers.queue], objects.namespaces)
    if found is None:
        return True
    isolate(memory, item)
    memory.places.returning.pop(item.fact.key, None)
    wait = item.waits(found.requeue, found.reason, found.message)
    item.wait = item.peers.wait = wait
    memory.set_aside(item.peers, BLOCKING if wait.requeue is Requeue.IMMEDIATE else PARKED)
    told.append(wait)
    return False


def world_of(memory: Memory, heads: Sequence[Item]) -> World:
    """Return the world in which some heads are judged."""
    queues, asleep = memory.queues, memory.ledger.asleep
    groups = {one.peers.queue: one.peers for one in heads}

    def pending(name: QueueName, resource: ResourceName, left: int) -> int:
        queue = queues.get(name)
        if queue is None or name in asleep:
            return 0
        head, taken = groups.get(name), queue.may_take(resource, left)
        if head is not None and not head.competes:  # it is judged on its shelf, and in no lane
            asked = head.demand.shape.requests.get(resource, 0)
            taken += asked * head.size if asked <= left else 0
        return min(left, taken)

    limits = memory.trees.limits if memory.settings.rules.weighs_work else {}
    plain = World(
        tree=memory.objects.tree,
        rules=memory.objects.rules,
        holders=memory.ledger,
        settings=memory.settings,
        now=memory.clock,
        bounds={node: Bound(most, _leaving(memory, node)) for node, most in limits.items()},
        unready=_unready(memory) if memory.unready else frozenset(),
        pending=pending,
        leaving=bool(memory.ledger.leaving),
        movable=partial(would_return, memory),
        preempted_for=_preempted_for(memory) if memory.places.passes else (),
    )
    if not memory.credits.any:
        return plain
    return replace(
        plain,
        patience=memory.credits.patience,
        followed=frozenset(
            name for name in groups if memory.credits.bends and memory.queues[name].pending()[0] > 1
        ),
        allowance=memory.credits.allowance,
        credited=frozenset(name for name, rank in memory.credits.ranks.items() if rank.bends),
    )


def _preempted_for(memory: Memory) -> Sequence[Occupancy]:
    if memory.settings.rules.promises:
        return ()
    kept = (
        (memory.workloads[key], one.kept) for key, one in memory.places.passes.items() if one.kept
    )
    return [place for fact, places in kept for place in places_of(used_at(fact, {}, places))]


def _leaving(memory: Memory, node: QuotaNode) -> int:
    below = {one.name for one in ((node,) if node.is_queue else memory.tree.queues_of(node))}
    return sum(name in below for name in memory.ledger.leaving.values())


def _unready(memory: Memory) -> frozenset[QuotaNode]:
    """Return the roots of trees in which admission waits until the pods of others are ready."""
    if not memory.settings.block_admission_until_pods_ready:
        return frozenset()
    charges = (memory.ledger.charges.get(key) for key in memory.unready)
    roots = (memory.root_of(one.holder.queue) for one in charges if one is not None)
    return frozenset(root for root in roots if root is not None)
