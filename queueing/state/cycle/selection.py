"""Which heads are judged in the next round.

Quota trees are independent, so a round takes whole trees, as many as the budget allows. With the
heads of a tree, its standing workloads are judged again as companions (see `standing`).
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from queueing.core.admissibility import Refusal, refusal
from queueing.core.decisions import Decision, Requeue, Wait
from queueing.core.facts import ClusterQueueFact
from queueing.core.names import FlavorResource, QueueName, Uid, namespace_of
from queueing.core.quota.node import Node
from queueing.core.rounds import Head
from queueing.state.cycle.contest import (
    Entrant,
    entrants_of,
    queues_of_standing,
    winners_of,
)
from queueing.state.cycle.openness import is_let_in, line_of
from queueing.state.cycle.parking import still_valid
from queueing.state.cycle.prospects import Foregone, Prospect, foregone, prospects_of
from queueing.state.cycle.supply import Supply
from queueing.state.intake.joining import isolate
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item, Peers, peers_of
from queueing.state.queues.pending import PendingQueue
from queueing.state.queues.shelf import Shelf
from queueing.state.queues.stands import BLOCKING, PARKED

STANDING_WEIGHT = 8
"""How many heads one companion counts as in a budget. It searches for victims, and again if other
heads of the round preempt these."""


@dataclass(slots=True)
class Selection:
    """The heads of one round, and what it costs of the budget."""

    items: list[Item] = field(default_factory=list)
    """The heads to be judged."""
    heads: int = 0
    """How many heads were found, including those that need no judgement."""
    weight: int = 0
    """How much of a budget the round uses up, without successors and looks."""
    successors: int = 0
    """How many heads took over the turn of a hopeless one."""
    looks: int = 0
    """How many candidates for preemption were looked at (see `Effort`)."""
    foregone: list[Foregone] = field(default_factory=list)
    """Heads that the round certainly admits; no other head of their trees is admitted in it."""
    spent: list[Node] = field(default_factory=list)
    """Roots of trees in which no queue has a head any more once the foregone are admitted."""
    companions: list[Item] = field(default_factory=list)
    """Standing workloads that are judged along with the heads of their trees."""
    decisions: list[Decision] = field(default_factory=list)
    """Waits of heads that must not be judged, for example because their namespace does not match.
    """
    supplies: dict[Node, Supply] = field(default_factory=dict)
    """A memo: the `Supply` of each tree, as this round begins."""

    def queues(self) -> set[QueueName]:
        """Return the queues that have a head in this round."""
        foregone = {one.admit.cluster_queue for one in self.foregone}
        return {head_queue(one) for one in self.items} | foregone

    def supply(self, memory: Memory, queue: QueueName) -> Supply:
        """Return the supply of the tree of a queue."""
        root = memory.roots[queue]
        found = self.supplies.get(root)
        if found is None:
            found = self.supplies[root] = Supply(memory, root)
        return found


def select(memory: Memory, budget: int | None) -> Selection:
    """Select the heads of the next round, of as many trees as the budget allows, at least one."""
    selection = Selection()
    standing = Counter[Node]() if budget is None else _standing(memory)
    taken: dict[Node, list[Item]] = {}
    plain: dict[Node, list[Prospect]] = {}
    for root, names in _in_turn(memory, budget):
        look = _look(memory, root, names, selection)
        weight = look.heads + STANDING_WEIGHT * standing[root] if look.heads else 0
        over = budget is not None and selection.weight + weight > budget
        if over and selection.heads and look.heads:
            memory.cursor = root.path()
            break
        selection.heads += look.heads
        selection.weight += weight
        if look.entrants is not None:
            contest = winners_of(memory, root, look.entrants)
            if contest is not None:
                selection.foregone.extend(contest.winners)
                if contest.is_last:
                    selection.spent.append(root)
                continue
            look = _look_at_all(memory, root, names, selection)
        if look.items:
            taken[root] = look.items
            if look.prospects is not None:
                plain[root] = look.prospects
    if memory.standing and taken:
        selection.companions = _companions(memory, taken)
    among = {memory.roots[head_queue(item)] for item in selection.companions}
    for root, items in taken.items():
        winners = None
        if root not in among:
            winners = foregone(memory, root, items, plain.get(root))
        if winners is None:
            selection.items.extend(items)
        else:
            selection.foregone.extend(winners)
    return selection


def _standing(memory: Memory) -> Counter[Node]:
    """Count the standing workloads of each tree, by root."""
    roots = (memory.roots.get(name) for name in queues_of_standing(memory))
    return Counter(root for root in roots if root is not None)


class _Look(NamedTuple):
    """The heads of a tree, as far as they need to be known."""

    heads: int
    entrants: list[Entrant] | None
    """The entrants of a `contest`, if the tree may have one; then the heads are not looked up."""
    items: list[Item]
    prospects: list[Prospect] | None
    """The prospects of all items, if all queues are lines; else None."""


def _look(memory: Memory, root: Node, names: list[QueueName], selection: Selection) -> _Look:
    entrants = entrants_of(memory, root, names)
    if entrants is None:
        return _look_at_all(memory, root, names, selection)
    return _Look(len(entrants), entrants, [], None)


def _look_at_all(memory: Memory, root: Node, names: list[QueueName], selection: Selection) -> _Look:
    prospects = prospects_of(memory, root, names)
    if prospects is None:
        items = _heads_of_tree(memory, names, selection)
    else:
        items = [item for _, item, _ in prospects]
    return _Look(len(items), None, items, prospects)


def _in_turn(memory: Memory, budget: int | None) -> Iterable[tuple[Node, list[QueueName]]]:
    """Group the queues of `ready` by tree; with a budget, begin where it ran out last time."""
    trees: dict[Node, list[QueueName]] = {}
    for name in sorted(memory.ready):
        root = memory.roots.get(name)
        if root is None:
            memory.ready.discard(name)
        else:
            trees.setdefault(root, []).append(name)
    if budget is None:
        return trees.items()
    ordered = sorted(trees.items(), key=lambda one: one[0].path())
    start = bisect_left(ordered, memory.cursor, key=lambda one: one[0].path())
    return ordered[start:] + ordered[:start]


def _heads_of_tree(memory: Memory, names: list[QueueName], selection: Selection) -> list[Item]:
    """Return the heads of some queues; those without a head are removed from `ready`."""
    items = []
    for name in names:
        queue = memory.queues.get(name)
        head = None if queue is None else judgeable_head(memory, queue, selection)
        if head is not None:
            items.append(head)
        elif queue is None or not memory.as_kueue or not has_turn(memory, queue, selection):
            memory.ready.discard(name)
    return items


def head_queue(item: Item) -> QueueName:
    """Return the ClusterQueue of an item that is queued."""
    return peers_of(item).queue


def heads_of_all(memory: Memory) -> Selection:
    """Select the head of every active queue: those of one Kueue cycle."""
    selection = Selection()
    for name in sorted(memory.queues):
        head = judgeable_head(memory, memory.queues[name], selection, once=True)
        if head is not None:
            selection.items.append(head)
    return selection


def head_of(memory: Memory, item: Item, *, patient: bool = False) -> Head:
    """Return the `Head` of an item, for it to be judged.

    A `patient` one gets no decision if others of the round take the quota that it would fit in.
    """
    peers = peers_of(item)
    if patient and item.head is not None and item.head.workload is item.fact:
        return item.head
    spared: frozenset[Uid] = frozenset()
    if memory.feuds and not memory.as_kueue:
        spared = _spared(memory, item, peers.queue)
    head = Head(
        workload=item.fact,
        queue=peers.queue,
        demand=peers.demand,
        timestamp=item.timestamp,
        progress=still_valid(memory, item),
        spared=spared,
        preempting=item.preempting,
        patient=patient,
    )
    if patient and not spared and item.progress is None:
        item.head = head
    return head


def is_patient(item: Item) -> bool:
    """Say whether a selected item is judged on its shelf, because enough quota seems to be free."""
    return item.peers is not None and item.peers.stand is PARKED


def _spared(memory: Memory, item: Item, name: QueueName) -> frozenset[Uid]:
    """Return the uids that an item must not preempt again: its feuds, except leaving victims."""
    feuds = memory.feuds.get(memory.roots[name])
    if feuds is None:
        return frozenset()
    before = feuds.victims_of(item.fact.uid)
    return frozenset(uid for uid in before if not memory.is_leaving(uid))


def has_turn(memory: Memory, queue: PendingQueue, selection: Selection) -> bool:
    """Say whether a queue has a head to judge, or a workload on a shelf that may fit."""
    return memory.objects.is_active(queue.name) and (
        queue.head() is not None or _covered(memory, queue, selection) is not None
    )


def judgeable_head(
    memory: Memory, queue: PendingQueue, selection: Selection, *, once: bool = False
) -> Item | None:
    """Return the head of a queue that may be judged; None if it has none.

    A head that must not be judged is set aside with its reason. In Kueue mode, or with `once`, that
    uses up the queue's turn in this round; otherwise the next one takes over.
    """
    if not memory.objects.is_active(queue.name):
        return None
    line = line_of(memory, queue)
    if line is not None:
        free = line.cell.available()
        if free < line.shelf.least:
            return None
        first = line.first(free)
        if first is not None and is_let_in(memory, first, queue.name):
            return first
    fact = memory.objects.queues[queue.name]
    while (item := _next(memory, queue, selection)) is not None:
        peers = item.peers
        if peers is not None and peers.doubtful and not _still_covered(memory, peers, selection):
            queue.park_again(peers)
            if queue.fickle:
                memory.fickle[queue.name] = None
            memory.touch(queue.name, peers.local_queue)
            continue
        refused = _refusal(memory, item, fact)
        if refused is None:
            return item
        selection.decisions.append(_set_aside(memory, item, refused))
        if once or memory.as_kueue:
            return None
    return None


def _next(memory: Memory, queue: PendingQueue, selection: Selection) -> Item | None:
    """Return the head of a queue, or an item on a shelf that comes before it and may fit now.

    If all that the latter lacks is known, it is judged on its shelf, and stays there if others of
    the round come first. Otherwise it is made READY first.
    """
    peers = _covered(memory, queue, selection)
    if peers is None:
        return queue.head()
    if peers.stand is PARKED and peers.lacks:
        return peers.top()
    memory.wake_peers(peers, doubtful=True)
    return queue.head()


def _covered(memory: Memory, queue: PendingQueue, selection: Selection) -> Peers | None:
    """Return the first peers on shelves that may fit now; None if READY ones come before them."""
    only = queue.shelves.only
    if only is not None and queue.lanes.usage_of is None and queue.name in memory.roots:
        return _covered_on(only, memory, queue)
    if not queue.shelves or queue.name not in memory.roots:
        return None
    supply = selection.supply(memory, queue.name)
    bound = supply.bound(queue.name)
    while (peers := queue.covered(bound)) is not None:
        missing = None if peers.lacks else supply.missing(peers)
        if missing is None:
            return peers
        queue.shelve(peers, missing)
    return None


def _covered_on(
    only: tuple[FlavorResource, Shelf[Peers]], memory: Memory, queue: PendingQueue
) -> Peers | None:
    """Do the same as `_covered` for a queue with one shelf, in which LocalQueues take no turns."""
    resource, shelf = only
    found = shelf.first(memory.tree.queue(queue.name).cell(resource).available())
    if found is None:
        return None
    first = queue.lanes.front() if queue.lanes.heaps else None
    place, peers = found
    return peers if first is None or place <= first.order else None


def _still_covered(memory: Memory, peers: Peers, selection: Selection) -> bool:
    """Say whether doubtful peers may still fit: others may have taken what they were woken for."""
    if not peers.lacks:
        return selection.supply(memory, peers.queue).may_cover(peers)
    node = memory.tree.queue(peers.queue)
    return any(node.available(resource) >= asked for resource, asked in peers.lacks)


def _refusal(memory: Memory, item: Item, queue: ClusterQueueFact) -> Refusal | None:
    """Return why an item must not be judged; None if it may be, and note its LocalQueue as open."""
    if is_let_in(memory, item, queue.name):
        return None
    fact = item.fact
    namespace = memory.objects.namespaces.get(namespace_of(fact.key))
    refused = refusal(fact, queue, queue_inactive=False, namespace=namespace)
    if refused is None and not fact.checks and not fact.misconfigured:
        memory.open_local_queues.add((queue.name, fact.local_queue))
    return refused


def _set_aside(memory: Memory, item: Item, refused: Refusal) -> Wait:
    """Set an item aside that must not be judged, apart from its peers; return its wait.

    Its standing and its claim end.
    """
    memory.step_down(item.fact.key)
    isolate(memory, item)
    peers = peers_of(item)
    wait = Wait(
        workload=item.fact.key,
        uid=item.fact.uid,
        cluster_queue=peers.queue,
        requeue=refused.requeue,
        reason=refused.reason,
        message=refused.message,
    )
    item.wait = peers.wait = wait
    inadmissible = wait.requeue is not Requeue.IMMEDIATE
    memory.queues[peers.queue].settle(peers, PARKED if inadmissible else BLOCKING)
    memory.touch(peers.queue, peers.local_queue)
    return wait


def _companions(memory: Memory, trees: Mapping[Node, list[Item]]) -> list[Item]:
    found = []
    for key in sorted(memory.standing):
        item = memory.items[key]
        peers = item.peers
        if peers is None or not memory.objects.is_active(peers.queue):
            continue
        heads = trees.get(memory.roots[peers.queue], ())
        if not heads or any(one is item for one in heads):
            continue
        if _refusal(memory, item, memory.objects.queues[peers.queue]) is not None:
            continue  # it gets its reason when it is the head
        if _keeps_its_place(memory, item, peers):
            found.append(item)
    return found


def _keeps_its_place(memory: Memory, item: Item, peers: Peers) -> bool:
    """Say whether a standing item may be a companion: no other of its queue must go first.

    In a StrictFIFO queue, and in Kueue mode, only the first of the queue may.
    """
    if memory.objects.is_strict(peers.queue) or memory.as_kueue:
        return memory.queues[peers.queue].lanes.front() is item
    return True
