"""Standing workloads: pending, and quota is kept for them from the workloads after them.

Three sorts of workloads are standing: preemptors whose victims still hold quota, workloads that
wait for the victims of another preemptor, and heads that block their queue because they found no
victims. They are judged again in every round of their tree, along with its heads (as *companions*).

One more attempt. When no head is left in a tree, three groups of workloads are judged once more
(docs/decisions/0038, 0078). In Kueue mode none is, because there no admission wakes anybody.

1. Standing workloads that were judged before the last admission of their tree, which is always so
   in its last round. A preemptor that would also fit in another flavor, or with fewer pods, waits
   for its victims only while these are enough, and the admission may have taken part of that quota.
   Another may not preempt any more: shares have changed, or its queue has to borrow from higher up.
2. Workloads that fit but were kept off, if a workload of their tree was admitted after they were
   judged. A standing workload may find other victims now, or may come after them by its share.
3. If there is none of these: all workloads that preemption may help, in trees in which a workload
   would fit but is kept off. Which victims each of several preemptors takes depends on which
   others are judged beside it, and so on which happened to be woken and on who is standing. So
   they are judged as by a new leader: all of them together, and standing are only those that a
   new leader would know of. Once between two facts, because several preemptors could take each
   other's victims for ever.
"""

from collections.abc import Collection, Iterator

from queueing.core.decisions import Wait
from queueing.core.facts import PreemptionPolicy
from queueing.core.names import FlavorResource, QueueName
from queueing.core.outline import Part
from queueing.core.quota.node import Node
from queueing.core.rounds import Judgement
from queueing.state.cycle.prospects import outline_of
from queueing.state.intake.marks import forget_history
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item, Peers
from queueing.state.queues.stands import Stand


def has_another_way(memory: Memory, peers: Peers) -> bool:
    """Say whether peers may fit without any preemption: in another flavor, or with fewer pods.

    False is certain, True is not: each part of the demand is compared with the free quota by
    itself, though several parts may compete for the same quota, and a workload that shares a
    ResourceClaim may need less than it requests.
    """
    if peers.demand.may_shrink or peers.demand.claims:
        return True
    rules = memory.objects.rules[peers.queue]
    node = memory.tree.queue(peers.queue)
    outline = outline_of(peers, rules.offer, memory.settings.quota_check)
    return all(_is_covered(part, node) for part in outline.parts)


def _is_covered(part: Part, node: Node) -> bool:
    if part.uncovered is not None:
        return False
    return all(
        any(
            obstacle is None
            and all(
                amount <= node.available(option.resources[name])
                for name, amount in ask.amounts_in(option.name)
            )
            for option, obstacle in zip(ask.group.options, ask.obstacles, strict=True)
        )
        for ask in part.asks
    )


def note_round(memory: Memory, judged: Collection[Node], admitted: Collection[Node]) -> None:
    """Update the sets of trees that may need one more attempt, after a round.

    `judged` are the trees in which the round judged anything, `admitted` those in which it
    admitted a workload. See `unsettled`, `unreviewed` and `filled` in `Memory`.
    """
    for root in judged:
        if root not in admitted:
            memory.unsettled.pop(root, None)
    if memory.standing and not memory.as_kueue:
        memory.unsettled.update(dict.fromkeys(admitted))
        memory.unreviewed.update({one: None for one in judged if one not in memory.reviewed})
    if memory.kept_off and not memory.as_kueue:
        memory.filled.update(dict.fromkeys(admitted))


def try_again(memory: Memory) -> bool:
    """Wake the workloads that get one more attempt; say whether there are any.

    Called when no head is left in any tree.
    """
    found = [*_of_those_who_stand(memory), *_of_those_kept_off(memory)]
    memory.unsettled.clear()
    memory.filled.clear()
    if not found:
        found = list(_of_all_who_may_preempt(memory))
        _begin_anew(memory, found)
    for peers in found:
        memory.wake_peers(peers)
    return bool(found)


def _begin_anew(memory: Memory, found: Collection[Peers]) -> None:
    """Let these peers be judged as if this leader had just begun, and note that they were."""
    roots = {memory.roots[peers.queue]: None for peers in found}
    memory.reviewed.update(roots)
    memory.unreviewed.clear()
    for key in list(memory.standing) if roots else ():
        item = memory.items[key]
        if item.peers is not None and memory.roots[item.peers.queue] in roots:
            forget_history(memory, item)
    for peers in found:
        for item in peers.items():
            item.progress = None
            for whole in (True, False):
                memory.stepped_down.pop((item.fact.key, whole), None)


def may_try_again(memory: Memory) -> Iterator[Peers]:
    """Yield all peers that `try_again` might wake."""
    yield from _of_those_who_stand(memory)
    yield from _of_those_kept_off(memory)
    yield from _of_all_who_may_preempt(memory)


def _of_those_who_stand(memory: Memory) -> Iterator[Peers]:
    for key in memory.standing if memory.unsettled else ():
        item = memory.items[key]
        peers = item.peers
        if peers is None or peers.stand is Stand.READY or not memory.objects.is_active(peers.queue):
            continue
        if memory.roots[peers.queue] in memory.unsettled and (
            has_another_way(memory, peers) or _may_lose_its_right(memory, peers.queue, item)
        ):
            yield peers


def _may_lose_its_right(memory: Memory, queue: QueueName, item: Item) -> bool:
    """Say whether an admission may take from a standing item the right to preempt.

    With fair sharing it may, as it changes the shares. Else it may where the queue must not preempt
    while it borrows (`borrowWithinCohort: Never`): what the item wants must fit in its queue's
    nominal quota or in a subtree below the root, and the queue reclaims from others only while it
    uses less than its nominal quota.
    """
    rules = memory.objects.rules[queue]
    reclaims = rules.fact.preemption.reclaim_within_cohort is not PreemptionPolicy.NEVER
    if memory.settings.fair_sharing is not None:
        return reclaims
    if rules.preempts_while_borrowing(memory.settings):
        return False
    node = memory.tree.queue(queue)
    for resource, amount in item.wants.items():
        cell = node.cell(resource)
        if amount > cell.limits.nominal and not cell.height_of_fit(amount)[1]:
            return True
        if reclaims and cell.usage >= cell.limits.nominal:
            return True
    return False


def _of_those_kept_off(memory: Memory) -> Iterator[Peers]:
    """Yield peers that were kept off, in trees with an admission after they were judged."""
    for name in memory.kept_off if memory.filled else ():
        queue, root = memory.queues.get(name), memory.roots.get(name)
        if queue is not None and root in memory.filled and memory.objects.is_active(name):
            yield from (one for one in queue.kept_off if has_another_way(memory, one))


def _of_all_who_may_preempt(memory: Memory) -> Iterator[Peers]:
    """Yield all hopeful and standing peers of trees in which a workload that fits is kept off.

    Peers on shelves are left out: nothing but the amount that they lack can help them. Trees with a
    single preemptor are left out, too: judged again, it would decide as before.
    """
    for root in memory.unreviewed if memory.kept_off and memory.standing else ():
        queues = [
            memory.queues[name]
            for name in memory.members.get(root, ())
            if name in memory.queues and memory.objects.is_active(name)
        ]
        kept_off = dict.fromkeys(peers for queue in queues for peers in queue.kept_off)
        hopeful = (peers for queue in queues for peers in queue.hopeful)
        found = dict.fromkeys((*hopeful, *_standing_in(memory, {queue.name for queue in queues})))
        several = len(found.keys() - kept_off.keys()) > 1
        if several and any(has_another_way(memory, one) for one in kept_off):
            yield from found


def _standing_in(memory: Memory, queues: Collection[QueueName]) -> Iterator[Peers]:
    for key in memory.standing:
        peers = memory.items[key].peers
        if peers is not None and peers.stand is not Stand.READY and peers.queue in queues:
            yield peers


def give_way(memory: Memory, item: Item, resources: Collection[FlavorResource]) -> None:
    """Note that an item keeps others off these flavor-resources no longer, for now: they are woken.

    It counts once between two facts. Otherwise two workloads that keep each other off by turns
    would never let a cycle end.
    """
    key = item.fact.key
    if resources and item.peers is not None and (key, False) not in memory.stepped_down:
        memory.stepped_down[key, False] = None
        memory.ledger.changes.release(item.peers.queue, resources)


def note_beginning(memory: Memory, item: Item) -> None:
    """Note that an item is about to become standing: workloads that are kept off may be helped.

    It does not count if the item stepped down since the last fact, so that cycles end.
    """
    key, peers = item.fact.key, item.peers
    if peers is not None and key not in memory.standing and (key, True) not in memory.stepped_down:
        memory.ledger.changes.claimed[peers.queue] = None


def wake_kept_off(memory: Memory, roots: Collection[Node | None]) -> None:
    """Wake the workloads of some trees that are kept off, because another one began to stand there.

    Its victims may leave enough room for all, and with fair sharing the workloads that were kept
    off may come first in the order now.
    """
    for name in list(memory.kept_off):
        queue, root = memory.queues.get(name), memory.roots.get(name)
        if queue is None or not queue.kept_off:
            del memory.kept_off[name]
        elif root is not None and root in roots and memory.objects.is_active(name):
            for peers in list(queue.kept_off):
                if has_another_way(memory, peers):
                    memory.wake_peers(peers, doubtful=True)


def note_place(memory: Memory, item: Item, judgement: Judgement, known: Wait | None) -> None:
    """Note that a standing item was judged as the head of its queue.

    If it now waits for something else, the workloads that it kept off its earlier demand are woken.
    """
    if item.fact.key in memory.standing and not memory.as_kueue:
        memory.overtaken.pop(item.fact.key, None)
        now = judgement.decision
        mode = now.mode if isinstance(now, Wait) else None
        if known is None or known.mode is not mode or item.wants != judgement.usage:
            give_way(memory, item, item.wants)


def note_overtaken(memory: Memory, item: Item, *, overtaken: bool) -> None:
    """Note whether a standing item is overtaken: others come first, and no quota is kept for it.

    When that begins, the workloads that it kept off are woken.
    """
    key = item.fact.key
    if not overtaken:
        memory.overtaken.pop(key, None)
    elif key in memory.standing and key not in memory.overtaken and not memory.as_kueue:
        memory.overtaken[key] = None
        give_way(memory, item, item.wants)
