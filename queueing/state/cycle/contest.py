"""Who of a tree of plain waiters a round admits, found with few of them looked at.

After a release nearly every queue of a tree has somebody whom it could help. The round takes these
heads in an order, and gives to each who still fits, until less is left than the least that anybody
asks; those who come later in that order need not even be known. So each queue takes part with the
best place that anybody of it could have, and its head is looked up when that place is reached.

This holds where all who wait are plain: nothing but the lack of one amount keeps them from being
admitted, and nothing is noted of those whom the round passes over. All queues are just below the
root, of which they use the same flavor-resource, and none keeps any of it to itself: so what one
takes is what is left less for all others. Any other tree is looked at as a whole (`prospects`).
"""

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from math import inf
from typing import NamedTuple

from queueing.core.fair_sharing.order import FlatOrder
from queueing.core.names import QueueName, Uid
from queueing.core.outline import Outline
from queueing.core.queue_rules import QueueRules
from queueing.core.quota.cell import Cell
from queueing.core.quota.node import Node
from queueing.state.cycle.openness import lines_among
from queueing.state.cycle.prospects import Foregone, answer_to, order_of
from queueing.state.memory.memory import Memory
from queueing.state.queues.footing import Place
from queueing.state.queues.lines import Line
from queueing.state.queues.peers import Item, Lacks, Peers

Entrant = tuple[Place, int, Line, float]
"""The best place that anybody of a queue could have, a number, and how much is available there."""

Head = tuple[Place, Item, Line, int]
"""The first item of a line that is covered, with its own place and the one amount that it asks."""


class Contest(NamedTuple):
    """How a contest ended."""

    winners: list[Foregone]
    """Whom the round admits, in its order."""
    is_last: bool
    """Whether less is left then than anybody asks, so that the tree has no other round."""


def is_plain(peers: Peers, lacks: Lacks, outline: Outline, rules: QueueRules) -> bool:
    """Say whether nothing but this lack keeps peers from being admitted, each as any other.

    `outline` is of what the queue offers now, by these rules.
    """
    if len(lacks) != 1 or outline.only_way is None or outline.wanted != lacks:
        return False
    if peers.demand.claims or not rules.never_preempts:
        return False
    for item in peers.items():  # noqa: SIM110 - asked of all who wait; most are their only peer
        if not item.is_usual:
            return False
    return True


def entrants_of(memory: Memory, root: Node, names: Iterable[QueueName]) -> list[Entrant] | None:
    """Return those of some queues of a tree that have a head, None where not all are plain.

    Queues that have none are not looked at again.
    """
    if not _may_contest(memory, root):
        return None
    order, sorts = order_of(memory), memory.settings.priority_sorting_within_cohort
    generation = root.generation
    found: list[Entrant] = []
    above, free = None, 0
    for line in lines_among(memory, names):
        if line is None or line.above is None:
            return None
        if line.above is not above:
            if above is not None:
                return None
            above, free = line.above, _free(line.above)
        usage, shelf, queue = line.cell.usage, line.shelf, line.queue
        available = line.most - usage
        if available > free:  # noqa: PLR1730 - asked of every queue; min() costs twice as much
            available = free
        if available < shelf.least:
            memory.ready.discard(queue.name)
            continue
        if queue.odd or not (line.is_open or _is_open(memory, line)):
            return None
        if order is not None and len(line.node.cells) > 1:
            return None  # its share depends on more than it uses of one thing
        seen = usage, shelf.changes, generation
        if line.seen != seen:
            line.seen, line.best = seen, _best_place(line, root, order, sorts=sorts)
        found.append((line.best, len(found), line, available))
    return found


def winners_of(memory: Memory, root: Node, entrants: list[Entrant]) -> Contest | None:
    """Let the entrants of a tree contend for what is free; None where it has to be judged."""
    order, sorts = order_of(memory), memory.settings.priority_sorting_within_cohort
    left = _free(entrants[0][2].above) if entrants else 0
    least = min([line.shelf.least for _, _, line, _ in entrants], default=inf)
    heapify(entrants)
    heads: list[Head] = []
    winners: list[Head] = []
    while left >= least and (entrants or heads):
        if heads and (not entrants or heads[0][0] < entrants[0][0]):
            one = heappop(heads)
            asked = one[3]
            if asked <= left:
                left -= asked
                winners.append(one)
            continue
        _, _, line, available = heappop(entrants)
        if line.shelf.least > left:
            continue
        item = line.first(available)
        peers = None if item is None else item.peers
        if item is None or peers is None:
            return None
        ((_, asked),) = peers.lacks
        if asked <= left:
            if not _is_plain_still(peers, line):
                return None
            place = _place(line, root, order, asked, _after_shares(item, sorts=sorts))
            heappush(heads, (place, item, line, asked))
    return Contest([_foregone(memory, root, one) for one in winners], left < least)


def _may_contest(memory: Memory, root: Node) -> bool:
    """Say whether the places and the winners of a round depend on nothing but what is asked."""
    if memory.settings.block_admission_until_pods_ready:
        return False
    if memory.credits.allowance is not None or memory.credits.bends:
        return False
    return not any(memory.roots.get(one) is root for one in queues_of_standing(memory))


def queues_of_standing(memory: Memory) -> Iterator[QueueName]:
    """Yield the queue of each who stands."""
    for key in memory.standing:
        peers = memory.items[key].peers
        if peers is not None:
            yield peers.queue


def _free(above: Cell | None) -> int:
    return 0 if above is None else above.quota - above.usage


def _is_open(memory: Memory, line: Line) -> bool:
    """Say whether all who stand in a line are let in; once they are, until objects change."""
    name, opened = line.queue.name, memory.open_local_queues
    line.is_open = all((name, key) in opened for key in line.queue.by_local_queue)
    return line.is_open


def _best_place(line: Line, root: Node, order: FlatOrder | None, *, sorts: bool) -> Place:
    """Return a place that is not after that of anybody in a line.

    As if the first of all asked for the least of all: who asks for more borrows no less, and has no
    smaller share.
    """
    _, _, priority, timestamp, uid = line.shelf.front
    last = (priority, timestamp, Uid(uid)) if sorts else (0, -inf, Uid(""))
    return _place(line, root, order, int(line.shelf.least), last)


def _after_shares(item: Item, *, sorts: bool) -> tuple[int, float, Uid]:
    """Return what decides between equals, where an item has all that its place depends on."""
    fact = item.fact
    return -fact.priority if sorts else 0, item.timestamp, fact.uid


def _place(
    line: Line, root: Node, order: FlatOrder | None, asked: int, last: tuple[int, float, Uid]
) -> Place:
    """Return the place of one of a line who asks so much; `last` decides between equals."""
    cell = line.cell
    borrowed = cell.usage + asked - cell.quota
    if order is None:
        return (root.height if borrowed > 0 else 0, *last)
    return order.place_by_one(line.node, line.only[0].resource, borrowed, last)


def _is_plain_still(peers: Peers, line: Line) -> bool:
    """Say whether peers that are covered need no judgement: what made them plain still holds.

    What a queue offers is all that can change of it: plain ones are judged as any other until they
    leave the shelf, and an open line lets them in.
    """
    return peers.plain and peers.offer is line.rules.offer


def _foregone(memory: Memory, root: Node, head: Head) -> Foregone:
    place, item, line, asked = head
    cell = line.cell
    level = root.height if cell.quota < cell.usage + asked else 0
    answer = answer_to(memory, (root.generation, level), item, line.rules, line.node)
    return Foregone(place, item, [(cell, asked)], *answer)
