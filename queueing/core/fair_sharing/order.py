"""The order of entries with fair sharing: a tournament in each tree."""

from bisect import insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from queueing.core.entries import Entry
from queueing.core.fair_sharing.shares import Shares
from queueing.core.names import QueueName, Uid
from queueing.core.quota.node import QuotaNode
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
    return _Tournament(tree, settings).play(entries)


@dataclass(slots=True, eq=False)
class _Tournament:
    """The games of all cohorts: the entries from below each, sorted by their scores."""

    tree: QuotaTree
    settings: Settings
    _shares: Shares = field(default_factory=Shares)
    _several: set[QuotaNode] = field(default_factory=set)
    """The queues that more than one entry is of."""
    _games: dict[QuotaNode, list[tuple[Score, Entry]]] = field(default_factory=dict)
    """By cohort; a queue without one has a game of its own."""

    def play(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Return the winners of each tree: the first, then that of the others, and so on."""
        games, seen = self._games, set[QuotaNode]()
        for one in entries:
            queue = one.node
            games.setdefault(queue.parent or queue, []).append((self._score(queue, one), one))
            if queue in seen:
                self._several.add(queue)
            seen.add(queue)
        for game in games.values():
            game.sort()
        cohorts = {above for one in games for above in (one, *one.ancestors())}
        for cohort in sorted(cohorts, key=lambda one: (one.height, one.name)):
            self._send_up(cohort)
        roots = sorted(
            (one for one in cohorts if one.parent is None), key=lambda one: (one.is_queue, one.name)
        )
        return chain.from_iterable(map(self._winners, roots))

    def _winners(self, root: QuotaNode) -> Iterator[Entry]:
        final = self._games[root]
        while final:
            winner = final.pop(0)[1]
            queue, path = winner.node, list[QuotaNode]()
            if (queue.parent or root) is not root:
                path = [above for above in queue.ancestors() if above is not root]
            for node in path:
                del self._games[node][0]
            yield winner
            if queue in self._several:
                self._play_again(queue)
            for node in path:
                if self._games[node]:
                    self._send_up(node)

    def _play_again(self, queue: QuotaNode) -> None:
        """Let the entries of a queue whose usage changed compete with their new scores."""
        game = self._games[queue.parent or queue]
        game[:] = sorted(
            (self._score(queue, one) if one.node is queue else score, one) for score, one in game
        )

    def _send_up(self, cohort: QuotaNode) -> None:
        """Enter the best entry of a cohort in the game of its parent, if it has one."""
        if cohort.parent is not None:
            best = self._games[cohort][0][1]
            parents = self._games.setdefault(cohort.parent, [])
            insort(parents, (self._score(cohort, best), best))

    def _score(self, child: QuotaNode, entry: Entry) -> Score:
        """Return the score of a child of a cohort with the entry's usage added."""
        node, usage, head = entry.node, entry.usage, entry.head
        settings, fair = self.settings, self.settings.fair_sharing
        asked = fair is not None and fair.prioritize_non_borrowing
        if child is node:
            infinite, share = self._shares.of(node, usage)
            borrows = asked and any(map(node.borrowing_with, usage, usage.values()))
        else:
            with self.tree.attempt():
                self.tree.add_usage(QueueName(node.name), usage)
                infinite, share = self._shares.of(child)
                borrows = asked and child.borrows(usage)
        return (
            not (settings.prioritize_preemptors and head.preempting),
            borrows,
            infinite,
            share,
            -head.workload.priority if settings.priority_sorting_within_cohort else 0,
            head.timestamp,
            head.workload.uid,
        )
