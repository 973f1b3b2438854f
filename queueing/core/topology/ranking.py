"""The domains of one level in the order in which they are chosen; kept sorted."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from sortedcontainers import SortedList


class Rank(NamedTuple):
    """The place of a domain: it comes before all that are greater.

    All but the last two are negated where more comes first.
    """

    leader: int
    score: int
    slices: int
    pods: int = -1
    path: tuple[str, ...] = ()
    domain: int = -1


class Ranking:
    """Domains by rank. The rank of a domain is asked for again when it may have changed."""

    __slots__ = ("_held", "_rank", "_ranks")

    def __init__(self, rank: Callable[[int], Rank | None], domains: Iterable[int]) -> None:
        self._rank = rank
        found = ((one, rank(one)) for one in domains)
        self._held = {one: mine for one, mine in found if mine is not None}
        self._ranks: SortedList[Rank] = SortedList(self._held.values())

    def __len__(self) -> int:
        return len(self._ranks)

    def __iter__(self) -> Iterator[int]:
        return (one.domain for one in self._ranks)

    def update(self, domain: int) -> None:
        """Put a domain where it belongs now; one without a rank belongs nowhere."""
        before, now = self._held.pop(domain, None), self._rank(domain)
        if now is not None:
            self._held[domain] = now
        if before == now:
            return
        if before is not None:
            self._ranks.remove(before)
        if now is not None:
            self._ranks.add(now)

    def at_least(self, slices: int, leaders: int) -> int | None:
        """Return the first domain of an ascending order without scores that has so much."""
        ranks = self._ranks
        at = ranks.bisect_left(Rank(-leaders, 0, slices))
        found = at < len(ranks) and ranks[at].leader == -leaders
        return ranks[at].domain if found else None

    def tightest(self, slices: int, at: int = 0, without: int | None = None) -> int:
        """Return the domain of a descending order with the fewest slices that are enough.

        Only domains from a place on are looked at, and of these only those like the first in score
        and leader. It must have enough itself, and not be the one to do without.
        """
        ranks = self._ranks
        first: Rank = ranks[at]
        end = ranks.bisect_left(Rank(first.leader, first.score, 1 - slices))
        while True:
            least: Rank = ranks[end - 1]
            equal = ranks.bisect_left(Rank(least.leader, least.score, least.slices))
            begin = max(equal, at)
            for rank in ranks.islice(begin, end):
                one: int = rank.domain
                if one != without:
                    return one
            end = begin
