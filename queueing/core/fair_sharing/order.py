"""The order of entries with fair sharing: a tournament in each tree."""

from collections.abc import Iterable, Iterator, Mapping
from heapq import heappop, heappush
from typing import NamedTuple

from queueing.core.fair_sharing.shares import Share, Shares
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
    """The games of one tree: for each node, a heap of contenders from below with their scores."""

    __slots__ = ("_games", "_prefers_non_borrowing", "_shares", "_tree")

    def __init__(self, tree: QuotaTree, *, prefers_non_borrowing: bool) -> None:
        self._tree = tree
        self._shares = Shares()
        self._prefers_non_borrowing = prefers_non_borrowing
        self._games: dict[Node, list[tuple[Score, Contender]]] = {}

    def play(self, root: Node, contenders: Iterable[Contender]) -> Iterator[Contender]:
        """Yield the winner of the tree, then that of the others, and so on."""
        entered: dict[Node, None] = {}
        for one in contenders:
            self._enter(one.node, one.node, one)
            entered[one.node] = None
        levels = sorted({above for node in entered for above in node.ancestors()}, key=_height)
        for node in (*entered, *levels):
            self._send_up(node)
        final = self._games[root]
        while final:
            winner = final[0][1]
            path = [winner.node, *winner.node.ancestors()]
            for node in path:
                heappop(self._games[node])
            yield winner
            self._replay(winner.node)
            for node in path:
                self._send_up(node)

    def _replay(self, queue: Node) -> None:
        """Compute the scores of a queue's other heads anew, after one of them was decided."""
        others = [contender for _, contender in self._games[queue]]
        self._games[queue].clear()
        for one in others:
            self._enter(queue, queue, one)

    def _send_up(self, node: Node) -> None:
        """Enter the best contender of a node in the game of its parent."""
        game = self._games.get(node)
        if not game or node.parent is None:
            return
        if node.is_queue:  # its score in its queue's own game is the same
            heappush(self._games.setdefault(node.parent, []), game[0])
        else:
            self._enter(node.parent, node, game[0][1])

    def _enter(self, game: Node, child: Node, contender: Contender) -> None:
        score = self._score(child, contender)
        heappush(self._games.setdefault(game, []), (score, contender))

    def _score(self, child: Node, contender: Contender) -> Score:
        """Return the score of a child of a cohort with the contender's usage added."""
        usage = contender.usage
        if child is contender.node:
            borrows, share = _with_its_usage(contender, self._shares)
        else:
            with self._tree.attempt():
                self._tree.add_usage(QueueName(contender.node.name), usage)
                borrows = child.borrows(usage)
                share = self._shares.of(child)
        return _score(contender, share, borrows=borrows and self._prefers_non_borrowing)


def _with_its_usage(contender: Contender, shares: Shares) -> tuple[bool, Share]:
    """Return whether the contender's queue would borrow with it, and the share it would have."""
    node, usage = contender.node, contender.usage
    borrows = False
    for resource, amount in usage.items():
        cell = node.cell(resource)
        if cell.usage + amount > cell.quota:
            borrows = True
    return borrows, shares.of(node, usage)


def _score(contender: Contender, share: Share, *, borrows: bool) -> Score:
    infinite, value = share
    order = -contender.priority, contender.timestamp, contender.uid
    return not contender.goes_first, borrows, infinite, value, *order


def _height(node: Node) -> tuple[int, str]:
    return node.height, node.name
