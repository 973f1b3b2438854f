"""Phase one of the choice: the level at which pods fit, and which of its domains they get."""

from dataclasses import dataclass
from itertools import chain, islice, takewhile

from queueing.core.topology.counts import Counts
from queueing.core.topology.domains import ROOT
from queueing.core.topology.requests import Search
from queueing.core.topology.taking import Units, tightest


@dataclass(frozen=True, slots=True)
class Chosen:
    """Domains of one level that together have room for everything, in the order of choice."""

    level: int
    domains: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TooFew:
    """How many slices there is room for, and at which level the search ended."""

    level: int
    slices: int


@dataclass(frozen=True, slots=True)
class Choice:
    """The search for a level and domains, on one set of counts."""

    counts: Counts
    search: Search
    leaders: int
    ascending: bool
    """Whether the fullest domains are taken first, and none for fitting best."""

    def find(self) -> Chosen | TooFew | str:
        """Return the domains; a string says that a level has none."""
        search, live = self.search, self.counts.tree.domains.live
        for level in range(search.level, -1, -1):
            if not live[level]:
                return f"no topology domains at level: {self.counts.tree.levels[level]}"
            one = self._single(level)
            if one is not None:
                return Chosen(level, (one,))
            if not search.slices and not self.leaders:
                return Chosen(level, ())
            if search.required:
                return TooFew(level, self._slices_of_first(level))
            if search.unconstrained or level == 0:
                return self._several(level)
        raise AssertionError("level 0 ends the search")

    def _single(self, level: int) -> int | None:
        """Return the domain that gets everything; None if none has room for it."""
        scored, wanted = self.counts.shape.scored, self.search.slices
        ranking = self.counts.ranking(level, leading=True, ascending=self.ascending)
        if self.ascending and not scored:
            return ranking.at_least(wanted, self.leaders)
        # in a descending order no other has room if the first has not, except by score
        tried = None if scored and (self.ascending or self.search.required) else 1
        for at, one in enumerate(islice(ranking, tried)):
            if self._holds(one, wanted):
                return one if self.ascending else ranking.tightest(wanted, at)
        return None

    def _holds(self, one: int, slices: int) -> bool:
        room = self.counts.room
        return room.leader[one] >= self.leaders and room.slices_with_leader[one] >= slices

    def _slices_of_first(self, level: int) -> int:
        """Return the slices, without a leader, of the domain that comes first at a level."""
        ranking = self.counts.ranking(level, leading=True, ascending=self.ascending)
        if self.ascending and len(ranking) < len(self.counts.tree.domains.live[level]):
            return 0  # domains without slices come first, and are left out of the ranking
        first = next(iter(ranking), None)
        return 0 if first is None else self.counts.room.slices[first]

    def _several(self, level: int) -> Chosen | TooFew:
        """Take domains until nothing is left to place, one that holds the leader before others."""
        room, wanted = self.counts.room, self.search.slices
        rest, first = room.slices[ROOT], None
        found = []
        if self.leaders:
            first = self._place_of_leader(level)
            if first is None:
                return TooFew(level, 0)
            found.append(first)
            rest -= room.slices[first]
            wanted -= room.slices_with_leader[first]
        if rest < wanted:
            return TooFew(level, self.search.slices - wanted + rest)
        ranking = self.counts.ranking(level, leading=False, ascending=self.ascending)
        for at, one in enumerate(ranking):
            if wanted <= 0:
                break
            if one == first:
                continue
            if not self.ascending and room.slices[one] >= wanted:
                one = ranking.tightest(wanted, at, first)
            found.append(one)
            wanted -= room.slices[one]
        return Chosen(level, tuple(found))

    def _place_of_leader(self, level: int) -> int | None:
        """Return the domain for the leader: the first that leaves enough for all, if there is one.

        None says that the leader fits nowhere.
        """
        room, wanted = self.counts.room, self.search.slices
        ranking = self.counts.ranking(level, leading=True, ascending=self.ascending)
        first = next(iter(ranking))
        if not room.leader[first]:
            return None
        spare = room.slices[ROOT] - wanted
        for one in takewhile(room.leader.__getitem__, ranking if spare >= 0 else ()):
            if room.slices[one] - room.slices_with_leader[one] <= spare:
                first = one
                break
        if self.ascending or not self._holds(first, wanted):
            return first
        # another of its score may fit better: then it holds everything
        tail = chain([first], (one for one in ranking if one != first))
        units = Units(
            self.search.size,
            room.slices,
            room.slices_with_leader,
            room.leader,
            room.score,
            best_fit=True,
        )
        return tightest(tail, wanted, self.leaders, units)
