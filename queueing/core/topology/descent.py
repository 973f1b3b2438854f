"""Phase two of the choice: from the domains of one level down to the leaves."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from queueing.core.topology.choosing import Chosen
from queueing.core.topology.counts import Known, Room
from queueing.core.topology.domains import Domains
from queueing.core.topology.requests import Search
from queueing.core.topology.taking import Share, Units, take


@dataclass(frozen=True, slots=True)
class Descent:
    """How pods come down from chosen domains; `room` is what fits into each domain."""

    domains: Domains
    room: Room
    search: Search
    leaders: int
    ascending: bool

    def spread(self, chosen: Chosen) -> list[Share]:
        """Return the shares of leaves, where all that is chosen has room for everything.

        Above the level of slices only the choice of domains counts, and everything is handed out
        anew among all their children.
        """
        search, slices = self.search, self._slices
        shares = take(chosen.domains, search.count, self.leaders, slices)
        for _ in range(chosen.level, search.slice_level):
            children = self._children(one.domain for one in shares)
            shares = take(children, search.count, self.leaders, slices)
        return self.down(shares, max(chosen.level, search.slice_level))

    def down(self, shares: Sequence[Share], level: int) -> list[Share]:
        """Bring shares down to the leaves, those of each domain among its own children."""
        search = self.search
        for below in range(level + 1, len(search.inner)):
            units = self._slices if below <= search.slice_level else self._inner(below)
            shares = [
                found
                for one in shares
                if one.pods or one.leaders
                for found in take(self._children([one.domain]), one.pods, one.leaders, units)
            ]
        return [one for one in shares if one.pods or one.leaders]

    @property
    def _slices(self) -> Units:
        room = self.room
        return self._units(self.search.size, room.slices, room.slices_with_leader)

    def _inner(self, level: int) -> Units:
        size, room = self.search.inner[level], self.room
        if size == 1:
            return self._units(1, room.pods, room.pods_with_leader)
        return self._units(size, _Whole(room.pods, size), _Whole(room.pods_with_leader, size))

    def _units(self, size: int, fitting: Known, with_leader: Known) -> Units:
        return Units(
            size, fitting, with_leader, self.room.leader, self.room.score, not self.ascending
        )

    def _children(self, parents: Iterable[int]) -> list[int]:
        """Return the domains below others in order.

        Those without room are left out, except where they may stand between a leader and others.
        """
        room, sign = self.room, 1 if self.ascending else -1
        place, children = self.domains.place, self.domains.children
        pods, slices, score = room.pods, room.slices, room.score
        ranks = [
            (-score[one], sign * slices[one], pods[one], place[one], one)
            for parent in parents
            for one in children[parent]
            if pods[one] or self.leaders
        ]
        ranks.sort()
        return [rank[-1] for rank in ranks]


@dataclass(frozen=True, slots=True)
class _Whole:
    """How many whole slices of a size numbers make."""

    of: Known
    size: int

    def __getitem__(self, domain: int) -> int:
        return self.of[domain] // self.size
