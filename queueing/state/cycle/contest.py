"""Which workloads a round admits in a tree of plain queues, found by looking at few of them.

After a release nearly every queue of a tree has a workload that would fit. A round goes through
these heads in the order of entries and admits each that still fits, until less quota is left than
the smallest request. The heads after that need not even be known. So each queue enters the contest
with the best place that any of its workloads could have, and its head is looked up only when that
place is reached (docs/decisions/0080).

This is possible where all pending workloads are *plain*: nothing but the lack of one amount keeps
them from being admitted, so a workload that the round passes over simply stays on its shelf. All
queues must be direct children of the root, use the same flavor-resource of it, and lend all of
their quota: then what one queue takes is missing for every other. `prospects` handles other trees.
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
"""A queue in the contest: its best possible place, a number that makes entrants unique, its line,
and the amount that is available to it."""

Head = tuple[Place, Item, Line, int]
"""The first workload of a line for which there is enough: its place, item, line and request."""


class Contest(NamedTuple):
    """The result of a contest."""

    winners: list[Foregone]
    """The workloads that the round admits, in the order of the round."""
    is_last: bool
    """Whether less is left than the smallest request, so that the tree needs no other round."""


def is_plain(peers: Peers, lacks: Lacks, outline: Outline, rules: QueueRules) -> bool:
    """Say whether nothing but these `lacks` keeps peers from being admitted.

    `outline` is the peers' outline for what the queue offers now, by `rules`.
    """
    if len(lacks) != 1 or outline.only_way is None or outline.wanted != lacks:
        return False
    if peers.demand.claims or not rules.never_preempts:
        return False
    for item in peers.items():  # noqa: SIM110 - hot path; most workloads are their only peer
        if not item.is_usual:
            return False
    return True


def entrants_of(memory: Memory, root: Node, names: Iterable[QueueName]) -> list[Entrant] | None:
    """Return an entrant for each queue that has a head; None if the queues are not all plain.

    Queues without a head are removed from `ready`.
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
            return None  # its share depends on more than one flavor-resource
        seen = usage, shelf.changes, generation
        if line.seen != seen:
            line.seen, line.best = seen, _best_place(line, root, order, sorts=sorts)
        found.append((line.best, len(found), line, available))
    return found


def winners_of(memory: Memory, root: Node, entrants: list[Entrant]) -> Contest | None:
    """Return the result of the contest for the free quota; None if the tree has to be judged.

    The order of `entrants` is not kept.
    """
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
    """Say whether nothing but requests and usage decides the round of this tree.

    False with blocking `waitForPodsReady`, with budgets or bent weights, and with standing
    workloads.
    """
    if memory.settings.block_admission_until_pods_ready:
        return False
    if memory.credits.allowance is not None or memory.credits.bends:
        return False
    return not any(memory.roots.get(one) is root for one in queues_of_standing(memory))


def queues_of_standing(memory: Memory) -> Iterator[QueueName]:
    """Yield the ClusterQueue of each standing workload."""
    for key in memory.standing:
        peers = memory.items[key].peers
        if peers is not None:
            yield peers.queue


def _free(above: Cell | None) -> int:
    return 0 if above is None else above.quota - above.usage


def _is_open(memory: Memory, line: Line) -> bool:
    """Say whether all LocalQueues of a line are open (see `openness`), and store the answer."""
    name, opened = line.queue.name, memory.open_local_queues
    line.is_open = all((name, key) in opened for key in line.queue.by_local_queue)
    return line.is_open


def _best_place(line: Line, root: Node, order: FlatOrder | None, *, sorts: bool) -> Place:
    """Return a place in the round that no workload of a line comes before.

    It is the place of the line's first workload, had it the smallest request of the line: a larger
    request never borrows less, nor makes the share smaller.
    """
    _, _, priority, timestamp, uid = line.shelf.front
    last = (priority, timestamp, Uid(uid)) if sorts else (0, -inf, Uid(""))
    return _place(line, root, order, int(line.shelf.least), last)


def _after_shares(item: Item, *, sorts: bool) -> tuple[int, float, Uid]:
    """Return the last part of an item's place: priority, timestamp and uid."""
    fact = item.fact
    return -fact.priority if sorts else 0, item.timestamp, fact.uid


def _place(
    line: Line, root: Node, order: FlatOrder | None, asked: int, last: tuple[int, float, Uid]
) -> Place:
    """Return the place in the round of a workload of a line that requests `asked`.

    `last` decides between workloads that are equal in borrowing or share.
    """
    cell = line.cell
    borrowed = cell.usage + asked - cell.quota
    if order is None:
        return (root.height if borrowed > 0 else 0, *last)
    return order.place_by_one(line.node, line.only[0].resource, borrowed, last)


def _is_plain_still(peers: Peers, line: Line) -> bool:
    """Say whether peers that were plain when they came to the shelf still are.

    What the queue offers is all that may have changed since.
    """
    return peers.plain and peers.offer is line.rules.offer


def _foregone(memory: Memory, root: Node, head: Head) -> Foregone:
    place, item, line, asked = head
    cell = line.cell
    level = root.height if cell.quota < cell.usage + asked else 0
    answer = answer_to(memory, (root.generation, level), item, line.rules, line.node)
    return Foregone(place, item, [(cell, asked)], *answer)
