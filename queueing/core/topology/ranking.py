"""The domains of one level in the order in which they are chosen; kept sorted."""

from collections.abc import Callable, Iterable, Iterator

from sortedcontainers import SortedList

Rank = tuple[int, int, int, int, str, int]
"""Leader, score and slices, negated where more comes first; pods, place, and the domain itself."""


class Ranking:
    """Domains by rank. Those that may have changed are ranked anew when the order is asked for."""

    __slots__ = ("_changed", "_held", "_rank", "_ranks")

    def __init__(self, rank: Callable[[int], Rank | None], domains: Iterable[int]) -> None:
        self._rank = rank
        found = ((one, rank(one)) for one in domains)
        self._held = {one: mine for one, mine in found if mine is not None}
        self._ranks: SortedList[Rank] = SortedList(self._held.values())
        self._changed: set[int] = set()

    def __len__(self) -> int:
        return len(self._ranks)

    def __iter__(self) -> Iterator[int]:
        return (rank[-1] for rank in self._ranks)

    def touch(self, domains: Iterable[int]) -> None:
        """Say which domains may have changed."""
        self._changed.update(domains)

    def refresh(self) -> None:
        """Put domains that changed where they belong now; one without a rank belongs nowhere."""
        held, ranks = self._held, self._ranks
        for domain in self._changed:
            before, now = held.get(domain), self._rank(domain)
            if before == now:
                continue
            if before is not None:
                ranks.remove(before)
                del held[domain]
            if now is not None:
                ranks.add(now)
                held[domain] = now
        self._changed.clear()

    def at_least(self, slices: int, leaders: int) -> int | None:
        """Return the first domain of an ascending order without scores that has so much."""
        ranks = self._ranks
        at = ranks.bisect_left((-leaders, 0, slices))
        found = at < len(ranks) and ranks[at][0] == -leaders
        return ranks[at][-1] if found else None

    def tightest(self, slices: int, at: int = 0, without: int | None = None) -> int:
        """Return the domain of a descending order with the fewest slices that are enough.

        Only domains from a place on are looked at, and of these only those like the first in score
        and leader. It must have enough itself, and not be the one to do without.
        """
        ranks = self._ranks
        leader, score = ranks[at][:2]
        end = ranks.bisect_left((leader, score, 1 - slices))
        while True:
            begin = ranks.bisect_left((leader, score, ranks[end - 1][2]))
            for rank in ranks.islice(max(begin, at), end):
                one: int = rank[-1]
                if one != without:
                    return one
            end = begin
