"""Balanced placement: a preferred level, whose domains get about equal parts.

Each set of sibling domains is tried on its own. The set is the better the more slices each of its
domains gets at least, which is its threshold; domains that have less are not used. All numbers
are copied for it, so it costs what the sets have domains, not what is placed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import log2

from queueing.core.topology.counts import Room
from queueing.core.topology.descent import Descent
from queueing.core.topology.domains import Domains
from queueing.core.topology.requests import Search
from queueing.core.topology.taking import Share


@dataclass(frozen=True, slots=True)
class _Greedy:
    """Domains taken by most room: how many, and what the last of each sort offers."""

    used: int
    last_with_leader: int | None
    last: int | None
    """The last that was taken for workers alone."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A set of siblings with what is left of their numbers, and its threshold."""

    members: tuple[int, ...]
    room: "_Copy"
    threshold: int
    used: int


class _Copy:
    """The numbers of a set and of all below it, to be changed."""

    def __init__(self, domains: Domains, room: Room, members: Iterable[int]) -> None:
        inside = [one for member in members for one in domains.inside(member)]
        self.pods = {one: room.pods[one] for one in inside}
        self.slices = {one: room.slices[one] for one in inside}
        self.pods_with_leader = {one: room.pods_with_leader[one] for one in inside}
        self.slices_with_leader = {one: room.slices_with_leader[one] for one in inside}
        self.leader = {one: room.leader[one] for one in inside}
        self.score = {one: room.score[one] for one in inside}

    def as_room(self) -> Room:
        return Room(
            self.pods,
            self.slices,
            self.pods_with_leader,
            self.slices_with_leader,
            self.leader,
            self.score,
        )

    def close(self, inside: Iterable[int]) -> None:
        """Let nothing fit into domains any more."""
        for one in inside:
            self.pods[one] = self.slices[one] = self.score[one] = 0
            self.bar_leader([one])

    def bar_leader(self, inside: Iterable[int]) -> None:
        """Let no leader fit into domains any more."""
        for one in inside:
            self.leader[one] = self.pods_with_leader[one] = self.slices_with_leader[one] = 0


@dataclass(frozen=True, slots=True)
class Balance:
    """A search for a balanced placement."""

    domains: Domains
    search: Search
    leaders: int

    def shares(self, room: Room) -> list[Share] | None:
        """Return the shares of leaves; None if no balanced placement was found."""
        best = self._best(room)
        if best is None:
            return None
        members: Sequence[int] = best.members
        now, level = best.room.as_room(), self.search.level
        if level < self.search.slice_level:
            chosen = self._optimal(members, now, self._by_entropy(now))
            if chosen is None:
                return None
            members, level = self._children(chosen), level + 1
        chosen = self._optimal(members, now, self.domains.path.__getitem__)
        if chosen is None:
            return None
        shares = self._even(chosen, now, best.threshold)
        if shares is None:
            return None
        descent = Descent(self.domains, now, self.search, self.leaders, ascending=False)
        return descent.down(shares, level)

    # Which set of siblings.

    def _best(self, room: Room) -> _Candidate | None:
        best: _Candidate | None = None
        for members in self._sets():
            least = best.threshold if best else 1
            for threshold in self._thresholds(members, room):
                if threshold < least:
                    continue
                found = self._pruned(members, room, threshold)
                if found is not None:
                    if best is None or (-threshold, found.used) < (-best.threshold, best.used):
                        best = found
                    break
        return best

    def _sets(self) -> list[tuple[int, ...]]:
        above = self.domains.in_order(self.search.level - 1)
        return [tuple(self.domains.children[one]) for one in above]

    def _thresholds(self, members: Sequence[int], room: Room) -> list[int]:
        """Return the thresholds to try with a set, the better first."""
        narrow = self.search.level < self.search.slice_level
        greedy = self._greedy(self._children(members) if narrow else members, room)
        if greedy is None or not greedy.used:
            return []
        bounds = [self.search.slices // greedy.used]
        if greedy.last_with_leader is not None:
            bounds.append(room.slices_with_leader[greedy.last_with_leader])
        if greedy.last is not None:
            bounds.append(room.slices[greedy.last])
        first = min(bounds)
        if not self.leaders or greedy.last is None:
            return [first]
        second = min(first, room.slices_with_leader[greedy.last])
        return [first, second] if second < first else [first]

    def _greedy(self, members: Iterable[int], room: Room) -> _Greedy | None:
        """Take domains with most room until all fits; None if it does not."""
        left, leaders = self.search.slices, self.leaders
        rest = sorted(members, key=self._most(room))
        used, with_leader, last = 0, None, None
        if leaders:
            order = sorted(rest, key=self._most_with_leader(room))
            for one in order:
                if leaders <= 0 or not room.leader[one]:
                    break
                leaders -= room.leader[one]
                left -= room.slices_with_leader[one]
                rest.remove(one)
                used, with_leader = used + 1, one
        for one in rest:
            if left <= 0:
                break
            left -= room.slices[one]
            used, last = used + 1, one
        return _Greedy(used, with_leader, last) if left <= 0 and leaders <= 0 else None

    def _pruned(self, members: tuple[int, ...], room: Room, threshold: int) -> _Candidate | None:
        """Close all that has less than the threshold; None if the rest is too little."""
        copy = _Copy(self.domains, room, members)
        for one in members:
            for child in self.domains.children[one]:
                self._prune(child, copy, threshold)
            self._recount(one, copy)
            self._prune(one, copy, threshold)
        greedy = self._greedy(members, copy.as_room())
        return None if greedy is None else _Candidate(members, copy, threshold, greedy.used)

    def _prune(self, one: int, copy: _Copy, threshold: int) -> None:
        if copy.slices[one] < threshold:
            copy.close(self.domains.inside(one))
        elif self.leaders and copy.leader[one] and copy.slices_with_leader[one] < threshold:
            copy.bar_leader(self.domains.inside(one))

    def _recount(self, one: int, copy: _Copy) -> None:
        """Count a domain and all below it again, without slices of inner layers."""
        children = self.domains.children[one]
        for child in children:
            self._recount(child, copy)
        if not children:
            return
        copy.pods[one] = sum(copy.pods[child] for child in children)
        copy.slices[one] = sum(copy.slices[child] for child in children)
        copy.score[one] = sum(copy.score[child] for child in children)
        hosts = [child for child in children if copy.leader[child] or not self.leaders]
        copy.leader[one] = max(copy.leader[child] for child in children)
        beside = slices = 0
        if hosts:
            cost = min(copy.pods[child] - copy.pods_with_leader[child] for child in hosts)
            apart = min(copy.slices[child] - copy.slices_with_leader[child] for child in hosts)
            beside, slices = copy.pods[one] - cost, copy.slices[one] - apart
        if self.domains.level[one] == self.search.slice_level:
            copy.slices[one] = copy.pods[one] // self.search.size
            slices = beside // self.search.size
        copy.pods_with_leader[one], copy.slices_with_leader[one] = beside, slices

    # Which domains of the set, and how much each gets.

    def _optimal(
        self, members: Iterable[int], room: Room, order: Callable[[int], tuple[object, ...]]
    ) -> list[int] | None:
        """Return as few domains as possible that hold everything, with least room to spare."""
        members = list(members)
        greedy = self._greedy(members, room)
        if greedy is None:
            return None
        start = (0, self.leaders, self.search.count)
        states: dict[tuple[int, int, int], tuple[int, ...]] = {start: ()}
        for one in sorted(members, key=order):
            for (used, leaders, left), taken in list(states.items()):
                if used == greedy.used:
                    continue
                if leaders and room.leader[one]:
                    after = left - room.pods_with_leader[one]
                    states.setdefault((used + 1, leaders - 1, after), (*taken, one))
                states.setdefault((used + 1, leaders, left - room.pods[one]), (*taken, one))
        full = [
            (-left, taken)
            for (used, leaders, left), taken in states.items()
            if used == greedy.used and not leaders and left <= 0
        ]
        return list(min(full, key=lambda one: one[0])[1]) if full else None

    def _even(self, chosen: Sequence[int], room: Room, threshold: int) -> list[Share] | None:
        """Give each domain the threshold and hand out what is left; None if that is impossible."""
        extra, leaders = self.search.slices - len(chosen) * threshold, self.leaders
        if extra < 0:
            return None
        shares = []
        size = self.search.size
        for one in sorted(chosen, key=self._most_with_leader(room)):
            led = min(leaders, room.leader[one])
            fitting = room.slices_with_leader[one] if led else room.slices[one]
            more = min(extra, fitting - threshold)
            shares.append(Share(one, (threshold + more) * size, led))
            extra -= more
            leaders -= led
        return None if extra or leaders else shares

    def _children(self, members: Iterable[int]) -> list[int]:
        return [child for one in members for child in self.domains.children[one]]

    def _most(self, room: Room) -> Callable[[int], tuple[object, ...]]:
        path = self.domains.path
        return lambda one: (-room.score[one], -room.slices[one], room.pods[one], path[one])

    def _most_with_leader(self, room: Room) -> Callable[[int], tuple[object, ...]]:
        path = self.domains.path
        return lambda one: (
            -room.leader[one],
            -room.score[one],
            -room.slices_with_leader[one],
            room.pods_with_leader[one],
            path[one],
        )

    def _by_entropy(self, room: Room) -> Callable[[int], tuple[object, ...]]:
        """Order by leader, slices, and how evenly the pods of the domains below are spread."""

        def order(one: int) -> tuple[object, ...]:
            pods = [room.pods[child] for child in sorted(self.domains.children[one])]
            total = sum(pods)
            entropy = -sum(some / total * log2(some / total) for some in pods if some)
            first = (-room.leader[one], -room.slices_with_leader[one], -entropy)
            return (*first, self.domains.path[one])

        return order
