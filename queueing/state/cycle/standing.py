"""Standing workloads: they wait, and keep those after them off what they wait for.

Two sorts of workloads stand: preemptors whose victims still hold quota, and heads that block their
queue because they found nobody to preempt. Both are judged again in every round of their tree,
along with its heads.

One more try. A round judges those who stand before it is known what the round admits, so they
never see the result of a tree's last round. That matters to a preemptor that would also fit in
another flavor, or with fewer pods: it waits for its victims only while these are enough, and an
admission may have taken part of that. And to one that may not preempt while it borrows: when others
borrow more, it may have to borrow from higher up in the tree than allows that. So when no head is
left in a tree and its last round admitted somebody, such workloads are judged once more. In Kueue
mode they are not, because there no admission wakes anybody.

Those who fitted and were kept off get one, too, when no head is left and somebody of their tree was
admitted after they were judged: by that one that stands may find other victims, or by shares go
after them.

At last everybody who may preempt gets one, in trees in which somebody would fit but is kept off.
Which victims each of several preemptors takes depends on who is judged beside it, and that on who
happened to be woken. A new leader judges all of them together, so that is done here, too, before
anybody is left behind; once between two facts, as several may take each other's victims for ever.
"""

from collections.abc import Collection, Iterator

from queueing.core.decisions import Wait
from queueing.core.names import FlavorResource, QueueName
from queueing.core.outline import Part
from queueing.core.quota.node import Node
from queueing.core.rounds import Judgement
from queueing.state.cycle.prospects import outline_of
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item, Peers
from queueing.state.queues.stands import Stand


def has_another_way(memory: Memory, peers: Peers) -> bool:
    """Say whether peers may fit without anybody leaving: in another flavor, or with fewer pods.

    Each part of the demand is compared with the free quota by itself, though several parts may
    compete for the same; and who uses a claim may need less than it asks. So False is certain, and
    True is not.
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
    """Keep `unsettled` up to date: trees with an admission that those who stand did not see."""
    for root in judged:
        if root not in admitted:
            memory.unsettled.pop(root, None)
    if memory.standing and not memory.as_kueue:
        memory.unsettled.update(dict.fromkeys(admitted))
        memory.unreviewed.update({one: None for one in judged if one not in memory.reviewed})
    if memory.kept_off and not memory.as_kueue:
        memory.filled.update(dict.fromkeys(admitted))


def try_again(memory: Memory) -> bool:
    """Wake those who get one more try; say whether there are any."""
    found = [*_of_those_who_stand(memory), *_of_those_kept_off(memory)]
    memory.unsettled.clear()
    memory.filled.clear()
    if not found:
        found = list(_of_all_who_may_preempt(memory))
        memory.reviewed.update({memory.roots[peers.queue]: None for peers in found})
        memory.unreviewed.clear()
    for peers in found:
        memory.wake_peers(peers)
    return bool(found)


def may_try_again(memory: Memory) -> Iterator[Peers]:
    """Yield those who did not see the last admissions of their tree, and could use them."""
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
            has_another_way(memory, peers) or _borrows_too_high(memory, peers, item)
        ):
            yield peers


def _borrows_too_high(memory: Memory, peers: Peers, item: Item) -> bool:
    """Say whether an item that may not preempt while it borrows would have to, for what it wants.

    That is the rule of the search over flavors: it must stay within its queue's own quota, or
    within a subtree below the root.
    """
    if memory.objects.rules[peers.queue].preempts_while_borrowing(memory.settings):
        return False
    node = memory.tree.queue(peers.queue)
    for resource, amount in item.wants.items():
        cell = node.cell(resource)
        is_free = amount <= max(0, cell.available())
        if not (is_free or amount <= cell.limits.nominal or cell.height_of_fit(amount)[1]):
            return True
    return False


def _of_those_kept_off(memory: Memory) -> Iterator[Peers]:
    """Yield those who fitted but for others, if an admission may have moved these aside since."""
    for name in memory.kept_off if memory.filled else ():
        queue, root = memory.queues.get(name), memory.roots.get(name)
        if queue is not None and root in memory.filled and memory.objects.is_active(name):
            yield from (one for one in queue.kept_off if has_another_way(memory, one))


def _of_all_who_may_preempt(memory: Memory) -> Iterator[Peers]:
    """Yield all whom preemption may help, and those kept off, where somebody is kept off in vain.

    Those who lack a known amount are not among them: they could not be helped. A single one that
    may preempt decides by itself as it did beside nobody.
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
    """Wake those whom an item kept off some resources, because for now it does so no longer.

    It does this once between two facts. Otherwise two workloads that keep each other off by turns
    would never let a cycle end.
    """
    key = item.fact.key
    if resources and item.peers is not None and (key, False) not in memory.stepped_down:
        memory.stepped_down[key, False] = None
        memory.ledger.changes.release(item.peers.queue, resources)


def note_beginning(memory: Memory, item: Item) -> None:
    """Note that an item is about to stand: that may help others who are kept off.

    Like stepping down, this counts once between two facts.
    """
    key, peers = item.fact.key, item.peers
    if peers is not None and key not in memory.standing and (key, True) not in memory.stepped_down:
        memory.ledger.changes.claimed[peers.queue] = None


def wake_kept_off(memory: Memory, roots: Collection[Node | None]) -> None:
    """Wake those in some trees who would fit, were it not for others that stand.

    Somebody began to stand there. Its victims may leave enough room for all, and with fair sharing
    those who were kept off may go first now.
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
    """Note that an item that stands was judged as the head of its queue.

    If it now waits for something else, those whom it kept off what it wanted before are woken.
    """
    if item.fact.key in memory.standing and not memory.as_kueue:
        memory.overtaken.pop(item.fact.key, None)
        now = judgement.decision
        mode = now.mode if isinstance(now, Wait) else None
        if known is None or known.mode is not mode or item.wants != judgement.usage:
            give_way(memory, item, item.wants)


def note_overtaken(memory: Memory, item: Item, *, overtaken: bool) -> None:
    """Note whether others come before an item that stands, so that it keeps nobody off for now.

    When that begins, those whom it kept off are woken.
    """
    key = item.fact.key
    if not overtaken:
        memory.overtaken.pop(key, None)
    elif key in memory.standing and key not in memory.overtaken and not memory.as_kueue:
        memory.overtaken[key] = None
        give_way(memory, item, item.wants)
