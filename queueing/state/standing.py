"""Standing workloads: they wait, and keep those after them off what they wait for.

They are preemptors whose victims still hold quota, and heads that block their queue for want of
victims. They are judged along in every round of their tree, so they see what became of all rounds
but the last. One that would also fit in another flavor, or with fewer pods, prefers to wait for its
victims only while these are enough, and an admission may end that. So when a tree has no head left
and its last round admitted somebody, such ones get one more try. In Kueue mode they do not: no
admission wakes anybody there.
"""

from collections.abc import Collection, Iterator

from queueing.core.decisions import Wait
from queueing.core.names import FlavorResource
from queueing.core.outline import Part
from queueing.core.quota.node import Node
from queueing.core.rounds import Judgement
from queueing.state.memory import Memory
from queueing.state.openness import is_active
from queueing.state.peers import Item, Peers
from queueing.state.prospects import outline_of
from queueing.state.stands import Stand


def has_another_way(memory: Memory, peers: Peers) -> bool:
    """Say whether each part of a demand finds a flavor that has enough free, as far as it goes.

    Parts may compete for it: False is certain.
    """
    if peers.demand.may_shrink:
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
    """Note in which trees those who stand were judged, and in which of them somebody got in."""
    for root in judged:
        if root not in admitted:
            memory.unsettled.pop(root, None)
    if memory.standing and not memory.as_kueue:
        memory.unsettled.update(dict.fromkeys(admitted))


def try_again(memory: Memory) -> bool:
    """Wake those who stand and whom the last admissions may help; say whether there are any."""
    found = list(may_try_again(memory))
    memory.unsettled.clear()
    for peers in found:
        memory.wake_peers(peers)
    return bool(found)


def may_try_again(memory: Memory) -> Iterator[Peers]:
    """Give those who stand in a tree that changed since they were judged, and could use that."""
    for key in memory.standing if memory.unsettled else ():
        peers = memory.items[key].peers
        if peers is None or peers.stand is Stand.READY or not is_active(memory, peers.queue):
            continue
        if memory.roots[peers.queue] in memory.unsettled and has_another_way(memory, peers):
            yield peers


def give_way(memory: Memory, item: Item, resources: Collection[FlavorResource]) -> None:
    """Let those be judged again whom an item kept off some resources, and does no longer.

    Once between two facts: else two who each keep the other off, by turns, would never let a cycle
    end.
    """
    key = item.fact.key
    if resources and item.peers is not None and (key, False) not in memory.stepped_down:
        memory.stepped_down[key, False] = None
        memory.ledger.tidings.release(item.peers.queue, resources)


def note_beginning(memory: Memory, item: Item) -> None:
    """Note that one begins to stand, before it does; once between two facts, as it steps down."""
    key, peers = item.fact.key, item.peers
    if peers is not None and key not in memory.standing and (key, True) not in memory.stepped_down:
        memory.ledger.tidings.claimed[peers.queue] = None


def wake_kept_off(memory: Memory, roots: Collection[Node | None]) -> None:
    """Wake those in some trees who would fit, were it not for others that stand.

    One more who stands has others leave, and these may be enough for all; and by shares it may be
    that those who were kept off go first now.
    """
    for name in list(memory.kept_off):
        queue, root = memory.queues.get(name), memory.roots.get(name)
        if queue is None or not queue.kept_off:
            del memory.kept_off[name]
        elif root is not None and root in roots and is_active(memory, name):
            for peers in list(queue.kept_off):
                if has_another_way(memory, peers):
                    memory.wake_peers(peers, doubtful=True)


def note_place(memory: Memory, item: Item, judgement: Judgement, known: Wait | None) -> None:
    """Note that one who stands was judged as a head; in another place it keeps others off."""
    if item.fact.key in memory.standing and not memory.as_kueue:
        memory.overtaken.pop(item.fact.key, None)
        now = judgement.decision
        mode = now.mode if isinstance(now, Wait) else None
        if known is None or known.mode is not mode or item.wants != judgement.usage:
            give_way(memory, item, item.wants)


def note_overtaken(memory: Memory, item: Item, *, overtaken: bool) -> None:
    """Note whether others come first, so that what an item claims is not kept from the rest."""
    key = item.fact.key
    if not overtaken:
        memory.overtaken.pop(key, None)
    elif key in memory.standing and key not in memory.overtaken and not memory.as_kueue:
        memory.overtaken[key] = None
        give_way(memory, item, item.wants)
