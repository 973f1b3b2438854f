"""The order of entries with fair sharing: a tournament in each tree."""

from collections.abc import Iterable, Iterator, Mapping
from heapq import heappop, heappush
from typing import NamedTuple

from queueing.core.fair_sharing.shares import Shares
from queueing.core.names import FlavorResource, QueueName, Uid
from queueing.core.quota.node import Node
from queueing.core.quota.tree import QuotaTree


class Contender(NamedTuple):
    """A nominated head, and what it would use in its queue."""

    node: Node
    usage: Mapping[FlavorResource, int]
    priority: int
    """0 for all if priority does not order the heads of a round."""
    timestamp: float
    uid: Uid
    goes_first: bool = False
    """Whether it comes first whatever it borrows, because its preemptions are in progress."""


Score = tuple[bool, bool, int, float, int, float, Uid]
"""Sorts ascending: not goes_first, borrowing, share, priority (highest first), timestamp, uid."""


def fair_order(
    contenders: Iterable[Contender],
    tree: QuotaTree,
    *,
    prefers_non_borrowing: bool,
) -> Iterator[Contender]:
    """Yield all contenders, the fairest first, tree by tree in order of the roots' names.

    In each cohort, the best contender of each child competes with the share that the child would
    have with it, and the winner competes in the parent cohort, up to the root. The caller may
    charge usage between two yields: that changes shares only on the path of the last winner, so
    only the games on it are played again.
    """
    trees: dict[Node, list[Contender]] = {}
    for one in contenders:
        trees.setdefault(one.node.root(), []).append(one)
    for root in sorted(trees, key=tree_place):
        tournament = _Tournament(tree, prefers_non_borrowing=prefers_non_borrowing)
        yield from tournament.play(root, trees[root])


def tree_place(root: Node) -> tuple[bool, str]:
    """Return the place of a tree among the others of a round."""
    return root.is_queue, root.name


class _Tournament:
    """The games of one tree: of each cohort, a heap of contenders from below with their scores."""

    __slots__ = ("_games", "_left", "_prefers_non_borrowing", "_shares", "_tree")

    def __init__(self, tree: QuotaTree, *, prefers_non_borrowing: bool) -> None:
        self._tree = tree
        self._shares = Shares()
        self._prefers_non_borrowing = prefers_non_borrowing
        self._left: dict[Node, list[Contender]] = {}
        """The contenders of each queue that did not win yet."""
        self._games: dict[Node, list[tuple[Score, Contender]]] = {}
        """By cohort; a queue without one has a game of its own."""

    def play(self, root: Node, contenders: Iterable[Contender]) -> Iterator[Contender]:
        """Yield the winner of the tree, then that of the others, and so on."""
        for one in contenders:
            self._left.setdefault(one.node, []).append(one)
        for queue in self._left:
            self._enter_best(queue)
        cohorts = {above for queue in self._left for above in queue.ancestors()}
        for cohort in sorted(cohorts, key=_height):
            self._send_up(cohort)
        final = self._games[root]
        while final:
            winner = final[0][1]
            path = list(winner.node.ancestors()) or [root]
            for node in path:
                heappop(self._games[node])
            self._left[winner.node].remove(winner)
            yield winner
            if self._left[winner.node]:
                self._enter_best(winner.node)
            for node in path[:-1]:
                if self._games[node]:
                    self._send_up(node)

    def _enter_best(self, queue: Node) -> None:
        """Enter the best contender of a queue that did not win yet in the game of its cohort."""
        best = min([(self._score(queue, one), one) for one in self._left[queue]])
        heappush(self._games.setdefault(queue.parent or queue, []), best)

    def _send_up(self, cohort: Node) -> None:
        """Enter the best contender of a cohort in the game of its parent, if it has one."""
        if cohort.parent is not None:
            best = self._games[cohort][0][1]
            parents = self._games.setdefault(cohort.parent, [])
            heappush(parents, (self._score(cohort, best), best))

    def _score(self, child: Node, contender: Contender) -> Score:
        """Return the score of a child of a cohort with the contender's usage added."""
        node, usage = contender.node, contender.usage
        if child is node:
            share = self._shares.of(node, usage)
            borrows = _borrows_with(node, usage)
        else:
            with self._tree.attempt():
                self._tree.add_usage(QueueName(node.name), usage)
                share = self._shares.of(child)
                borrows = child.borrows(usage)
        return (
            not contender.goes_first,
            borrows and self._prefers_non_borrowing,
            *share,
            -contender.priority,
            contender.timestamp,
            contender.uid,
        )


def _height(node: Node) -> tuple[int, str]:
    return node.height, node.name


def _borrows_with(queue: Node, usage: Mapping[FlavorResource, int]) -> bool:
    """Say whether a queue would borrow any of what it would use more."""
    for resource, amount in usage.items():
        cell = queue.cell(resource)
        if cell.usage + amount > cell.quota:
            return True
    return False
