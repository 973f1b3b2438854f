"""Which heads are judged in the next round.

Trees of quota are independent, so a round takes whole trees, as many as the budget allows. In a
tree with claims only the heads that the fewest claims outrank are taken, with those claims' reserve
charged: so no head takes what a better one waits for, and none is held up by a lesser one's claim.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from queueing.core.admissibility import refusal
from queueing.core.decisions import Decision, Mode, Wait
from queueing.core.names import QueueName, namespace_of
from queueing.core.quota.node import Node
from queueing.core.rounds import Head
from queueing.state.claims import Claim
from queueing.state.intake import isolate
from queueing.state.memory import Memory
from queueing.state.pending import Item, PendingQueue, Stand
from queueing.state.wakes import blocker_of

_HOLDS_BACK = (Mode.NO_CANDIDATES,)
_HOLDS_BACK_IN_KUEUE = (Mode.NO_CANDIDATES, Mode.PREEMPT, Mode.DEFERRED_FIT)


@dataclass(slots=True)
class Selection:
    """Items to judge now, and the claims that hold back quota from them."""

    items: list[Item] = field(default_factory=list)
    companions: list[Item] = field(default_factory=list)
    """Blocking heads judged along, because what they ask for keeps lesser ones off."""
    claims: list[Claim] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    """What was decided on the way: heads that must not be judged."""


def select(memory: Memory, budget: int | None) -> Selection:
    """Take the heads of the next round, of as many trees as `budget` heads allow, at least one."""
    selection = Selection()
    trees: dict[Node, list[Item]] = {}
    for name in sorted(memory.ready):
        queue = memory.queues.get(name)
        head = None if queue is None else _judgeable_head(memory, queue, selection)
        if head is not None:
            trees.setdefault(memory.roots[name], []).append(head)
        elif queue is None or not has_turn(memory, queue):
            memory.ready.discard(name)
    claims = _claims_by_tree(memory)
    for root, items in _within_budget(memory, trees, budget):
        _take_tree(memory, selection, items, claims.get(root, []))
    return selection


def heads_of_all(memory: Memory) -> Selection:
    """Take the head of every active queue, also one that blocks it: one Kueue cycle."""
    selection = Selection()
    for name in sorted(memory.queues):
        head = _judgeable_head(memory, memory.queues[name], selection, once=True)
        if head is not None:
            selection.items.append(head)
    return selection


def head_of(item: Item) -> Head:
    """Prepare an item to be judged."""
    peers = item.peers
    if peers is None:
        raise AssertionError(f"{item.fact.key} is in no queue")
    return Head(
        workload=item.fact,
        queue=peers.queue.name,
        demand=peers.demand,
        timestamp=item.timestamp,
        progress=item.progress,
    )


def is_active(memory: Memory, name: QueueName) -> bool:
    """Say whether a ClusterQueue exists and may admit."""
    active = memory.objects.activity(name)
    return active is not None and active.status


def has_turn(memory: Memory, queue: PendingQueue) -> bool:
    """Say whether a queue has a head to judge now."""
    return is_active(memory, queue.name) and queue.head() is not None


def _judgeable_head(
    memory: Memory, queue: PendingQueue, selection: Selection, *, once: bool = False
) -> Item | None:
    """Return the head of a queue; one that must not be judged is set aside with its reason.

    In Kueue mode, or with `once`, that uses up the queue's turn in this round.
    """
    if not is_active(memory, queue.name):
        return None
    fact = memory.objects.queues[queue.name]
    while (item := queue.head()) is not None:
        namespace = memory.objects.namespaces.get(namespace_of(item.fact.key))
        refused = refusal(item.fact, fact, queue_inactive=False, namespace=namespace)
        if refused is None:
            return item
        wait = Wait(
            workload=item.fact.key,
            uid=item.fact.uid,
            cluster_queue=queue.name,
            requeue=refused.requeue,
            reason=refused.reason,
            message=refused.message,
        )
        isolate(item)
        _set_aside(memory, item, wait)
        selection.decisions.append(wait)
        if once or memory.as_kueue:
            return None
    return None


def _set_aside(memory: Memory, item: Item, wait: Wait) -> None:
    peers = item.peers
    if peers is None:
        raise AssertionError(f"{item.fact.key} is in no queue")
    item.wait = peers.wait = wait
    inadmissible = wait.requeue is not wait.requeue.IMMEDIATE
    peers.queue.settle(peers, Stand.PARKED if inadmissible else Stand.BLOCKING)
    if not inadmissible:
        memory.blocked[peers.queue.name] = None
    memory.touch(peers.queue.name, peers.local_queue)


def _within_budget(
    memory: Memory, trees: dict[Node, list[Item]], budget: int | None
) -> list[tuple[Node, list[Item]]]:
    ordered = list(trees.items())
    if budget is None or sum(map(len, trees.values())) <= budget:
        return ordered
    ordered.sort(key=lambda one: one[0].path())
    start = bisect_left([root.path() for root, _ in ordered], memory.cursor)
    ordered = ordered[start:] + ordered[:start]
    taken, count = 0, 0
    while taken < len(ordered) and (not taken or count + len(ordered[taken][1]) <= budget):
        count += len(ordered[taken][1])
        taken += 1
    memory.cursor = ordered[taken % len(ordered)][0].path()
    return ordered[:taken]


def _claims_by_tree(memory: Memory) -> dict[Node, list[Claim]]:
    found: dict[Node, list[Claim]] = {}
    for claim in memory.claims:
        root = memory.roots.get(claim.queue)
        if root is not None:
            found.setdefault(root, []).append(claim)
    return found


def _take_tree(
    memory: Memory, selection: Selection, items: list[Item], claims: Sequence[Claim]
) -> None:
    if claims:
        ranks = [claim.rank for claim in claims]
        stages = [bisect_left(ranks, item.rank) for item in items]
        stage = min(stages)
        items = [item for item, own in zip(items, stages, strict=True) if own == stage]
        selection.claims.extend(claims[:stage])
    selection.items.extend(items)
    selection.companions.extend(_companions(memory, items))


def _companions(memory: Memory, items: list[Item]) -> list[Item]:
    if not memory.blocked or not items or items[0].peers is None:
        return []
    root = memory.roots[items[0].peers.queue.name]
    modes = _HOLDS_BACK_IN_KUEUE if memory.as_kueue else _HOLDS_BACK
    found = []
    for name in list(memory.blocked):
        blocker = blocker_of(memory.queues[name])
        if blocker is None:
            del memory.blocked[name]
        elif memory.roots.get(name) is root and is_active(memory, name):
            item = blocker.top()
            if item is not None and item.wait is not None and item.wait.mode in modes:
                found.append(item)
    return sorted(found, key=lambda item: item.rank)
