"""The order of entries with fair sharing: a tournament in each tree."""

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from queueing.core.entries import Entry
from queueing.core.fair_sharing.shares import Shares
from queueing.core.names import FlavorResource, QueueName, Uid
from queueing.core.quota.node import Node
from queueing.core.quota.tree import QuotaTree
from queueing.core.settings import Settings

Score = tuple[bool, bool, int, float, int, float, Uid]
"""Sorts ascending: not first whatever it borrows, because its preemptions are in progress;
borrowing; share; priority (highest first; 0 where it does not order heads); timestamp; uid."""


def fair_order(entries: Iterable[Entry], tree: QuotaTree, settings: Settings) -> Iterator[Entry]:
    """Return all entries, the fairest first, tree by tree in order of the roots' names.

    In each cohort, the best entry of each child competes with the share that the child would
    have with it, and the winner competes in the parent cohort, up to the root. The caller may
    charge usage between two yields: that changes shares only on the path of the last winner, so
    only the games on it are played again.
    """
    trees: dict[Node, list[Entry]] = {}
    for one in entries:
        trees.setdefault(one.node.root, []).append(one)
    roots = sorted(trees, key=tree_place)
    return chain.from_iterable(_Tournament(tree, settings).play(one, trees[one]) for one in roots)


def tree_place(root: Node) -> tuple[bool, str]:
    """Return the place of a tree among the others of a round."""
    return root.is_queue, root.name


class _Tournament:
    """The games of one tree: of each cohort, the entries from below, sorted by their scores."""

    __slots__ = (
        "_by_priority",
        "_games",
        "_left",
        "_preemptors_first",
        "_prefers_non_borrowing",
        "_shares",
        "_tree",
    )

    def __init__(self, tree: QuotaTree, settings: Settings) -> None:
        fair = settings.fair_sharing
        self._tree = tree
        self._shares = Shares()
        self._preemptors_first = settings.prioritize_preemptors
        self._by_priority = settings.priority_sorting_within_cohort
        self._prefers_non_borrowing = fair is not None and fair.prioritize_non_borrowing
        self._left: dict[Node, list[Entry]] = {}
        """The entries of each queue that did not win yet."""
        self._games: dict[Node, list[tuple[Score, Entry]]] = {}
        """By cohort; a queue without one has a game of its own."""

    def play(self, root: Node, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yield the winner of the tree, then that of the others, and so on."""
        for one in entries:
            self._left.setdefault(one.node, []).append(one)
        for queue in self._left:
            self._games.setdefault(queue.parent or queue, []).append(self._best_of(queue))
        for game in self._games.values():
            game.sort()
        cohorts = {above for one in self._games for above in (one, *one.ancestors())}
        for cohort in sorted(cohorts, key=_height):
            self._send_up(cohort)
        final = self._games[root]
        while final:
            winner = final[0][1]
            queue = winner.node
            left, path = self._left[queue], [root]
            if queue.parent is not None and queue.parent is not root:
                path = list(queue.ancestors())
            for node in path:
                del self._games[node][0]
            left.remove(winner)
            yield winner
            if left:
                insort(self._games[path[0]], self._best_of(queue))
            for node in path[:-1]:
                if self._games[node]:
                    self._send_up(node)

    def _best_of(self, queue: Node) -> tuple[Score, Entry]:
        """Return the best entry of a queue that did not win yet."""
        left = self._left[queue]
        if len(left) == 1:  # as in nearly all rounds
            return self._score(queue, left[0]), left[0]
        return min([(self._score(queue, one), one) for one in left])

    def _send_up(self, cohort: Node) -> None:
        """Enter the best entry of a cohort in the game of its parent, if it has one."""
        if cohort.parent is not None:
            best = self._games[cohort][0][1]
            parents = self._games.setdefault(cohort.parent, [])
            insort(parents, (self._score(cohort, best), best))

    def _score(self, child: Node, entry: Entry) -> Score:
        """Return the score of a child of a cohort with the entry's usage added."""
        node, usage, head = entry.node, entry.usage, entry.head
        if child is node:
            share = self._shares.of(node, usage)
            borrows = self._prefers_non_borrowing and _borrows_with(node, usage)
        else:
            with self._tree.attempt():
                self._tree.add_usage(QueueName(node.name), usage)
                share = self._shares.of(child)
                borrows = self._prefers_non_borrowing and child.borrows(usage)
        return (
            not (self._preemptors_first and head.preempting),
            borrows,
            *share,
            -head.workload.priority if self._by_priority else 0,
            head.timestamp,
            head.workload.uid,
        )


def _height(node: Node) -> tuple[int, str]:
    return node.height, node.name


def _borrows_with(queue: Node, usage: Mapping[FlavorResource, int]) -> bool:
    """Say whether a queue would borrow any of what it would use more."""
    for resource, amount in usage.items():
        cell = queue.cells.get(resource) or queue.cell(resource)
        if cell.usage + amount > cell.quota:
            return True
    return False
