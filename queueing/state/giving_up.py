"""Which heads of a round, in whose way others of it got, keep their turn for the next.

Where the round moved something in their tree all of them do. Else they are set aside, as the next
round would find the same; but for what one of them did to the order of the round. Entries of one
queue are decided in its order, so a head holds up one that stands behind it, and that for nothing
if it gets nothing: others were decided before the one that stands, and before its victims counted
as gone. So heads that hold up somebody are set aside first, and the rest are tried without these.
"""

from collections.abc import Mapping, Sequence

from queueing.core.names import QueueName
from queueing.core.quota.node import Node
from queueing.state.memory import Memory
from queueing.state.parking import stay_or_give_up
from queueing.state.peers import Item, peers_of


def give_up(
    memory: Memory, skipped: Sequence[Item], companions: Sequence[Item], moved: set[Node]
) -> None:
    """Set those of the `skipped` aside who need not be tried in the next round.

    `moved` are the trees in which somebody was admitted or set aside.
    """
    if companions and not memory.as_kueue:
        standing = _by_queue(companions)
        first = [one for one in skipped if _holds_up(memory, one, standing)]
        for item in first:
            stay_or_give_up(memory, item, moved)
        moved = moved.union(memory.roots[peers_of(item).queue] for item in first)
    for item in skipped:
        stay_or_give_up(memory, item, moved)


def _by_queue(companions: Sequence[Item]) -> dict[QueueName, list[Item]]:
    """Gather those who still wait after the round."""
    found: dict[QueueName, list[Item]] = {}
    for item in companions:
        if item.peers is not None:
            found.setdefault(item.peers.queue, []).append(item)
    return found


def _holds_up(memory: Memory, head: Item, standing: Mapping[QueueName, Sequence[Item]]) -> bool:
    """Say whether a head goes before one that stands in its queue."""
    name = peers_of(head).queue
    own, *others = memory.queues[name].lanes.places([head, *standing.get(name, ())])
    return any(own < other for other in others)
