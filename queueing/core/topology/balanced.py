"""Balanced placement: a preferred level, whose domains get about equal parts.

Each set of sibling domains is tried on its own. The set is the better the more slices each of its
domains gets at least, which is its threshold; domains that have less are not used. All numbers
are copied for it, so it costs what the sets have domains, not what is placed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from math import log2
from typing import Any

from queueing.core.topology.counts import Room
from queueing.core.topology.descent import Descent
from queueing.core.topology.domains import Domains
from queueing.core.topology.requests import Search
from queueing.core.topology.taking import Share

Order = Callable[[int], Any]
"""A key to sort domains by."""


@dataclass(frozen=True, slots=True)
class _Greedy:
    """Domains taken by most room: how many, and the last of each sort."""

    used: int
    last_with_leader: int | None
    last: int | None
    """The last that was taken for workers alone."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A set of siblings with what is left of their numbers, and its threshold."""

    members: Sequence[int]
    room: Room
    threshold: int
    used: int


@dataclass(frozen=True, slots=True)
class BalancedSearch:
    """A search for a balanced placement."""

    domains: Domains
    search: Search
    leaders: int

    def shares(self, room: Room) -> list[Share] | None:
        """Return the shares of leaves; None if no balanced placement was found."""
        best = self._best(room)
        if best is None:
            return None
        members, now, level = best.members, best.room, self.search.level
        if level < self.search.slice_level:
            members = self._children(self._optimal(members, now, self._by_entropy(now)))
            level += 1
        chosen = self._optimal(members, now, self.domains.place.__getitem__)
        shares = self._even(chosen, now, best.threshold)
        descent = Descent(self.domains, now, self.search, self.leaders, ascending=False)
        return descent.down(shares, level) if shares else None

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
        inside = [one for member in members for one in self.domains.inside(member)]
        columns = (getattr(room, field.name) for field in fields(Room))
        copy = Room(*({one: column[one] for one in inside} for column in columns))
        for one in members:
            for child in self.domains.children[one]:
                self._prune(child, copy, threshold)
            self._recount(one, copy)
            self._prune(one, copy, threshold)
        greedy = self._greedy(members, copy)
        return None if greedy is None else _Candidate(members, copy, threshold, greedy.used)

    def _prune(self, one: int, room: Room, threshold: int) -> None:
        """Close a domain with all below it, or bar it for leaders, if it has too little."""
        too_few = room.slices[one] < threshold
        barred = room.leader[one] and room.slices_with_leader[one] < threshold
        for inside in self.domains.inside(one) if too_few or barred else ():
            room.leader[inside] = room.pods_with_leader[inside] = 0
            room.slices_with_leader[inside] = 0
            if too_few:
                room.pods[inside] = room.slices[inside] = room.score[inside] = 0

    def _recount(self, one: int, copy: Room) -> None:
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

    def _optimal(self, members: Sequence[int], room: Room, order: Order) -> list[int]:
        """Return as few domains as possible that hold everything, with least room to spare.

        There are none if they do not hold everything.
        """
        greedy = self._greedy(members, room)
        most = greedy.used if greedy else 0
        states: dict[tuple[int, int, int], list[int]]
        states = {(0, self.leaders, self.search.count): []}
        for one in sorted(members, key=order):
            for (used, leaders, left), taken in list(states.items()):
                if used == most:
                    continue
                if leaders and room.leader[one]:
                    after = left - room.pods_with_leader[one]
                    states.setdefault((used + 1, leaders - 1, after), [*taken, one])
                states.setdefault((used + 1, leaders, left - room.pods[one]), [*taken, one])
        full = [
            (-left, taken)
            for (used, leaders, left), taken in states.items()
            if used == most and not leaders and left <= 0
        ]
        return min(full, key=lambda one: one[0])[1] if full else []

    def _even(self, chosen: Sequence[int], room: Room, threshold: int) -> list[Share] | None:
        """Give each domain the threshold and hand out what is left; None if that is impossible."""
        extra, leaders = self.search.slices - len(chosen) * threshold, self.leaders
        if extra < 0:
            return None
        shares = []
        for one in sorted(chosen, key=self._most_with_leader(room)):
            led = min(leaders, room.leader[one])
            fitting = room.slices_with_leader[one] if led else room.slices[one]
            more = min(extra, fitting - threshold)
            shares.append(Share(one, (threshold + more) * self.search.size, led))
            extra -= more
            leaders -= led
        return None if extra or leaders else shares

    def _children(self, members: Iterable[int]) -> list[int]:
        return [child for one in members for child in self.domains.children[one]]

    def _most(self, room: Room) -> Order:
        place = self.domains.place
        return lambda one: (-room.score[one], -room.slices[one], room.pods[one], place[one])

    def _most_with_leader(self, room: Room) -> Order:
        slices, pods, place = room.slices_with_leader, room.pods_with_leader, self.domains.place
        return lambda one: (
            (-room.leader[one], -room.score[one], -slices[one], pods[one], place[one])
        )

    def _by_entropy(self, room: Room) -> Order:
        """Order by leader, slices, and how evenly the pods of the domains below are spread."""
        place, children = self.domains.place, self.domains.children

        def order(one: int) -> tuple[int, int, float, str]:
            pods = [room.pods[child] for child in sorted(children[one], key=place.__getitem__)]
            total = sum(pods)
            entropy = -sum(some / total * log2(some / total) for some in pods if some)
            return -room.leader[one], -room.slices_with_leader[one], -entropy, place[one]

        return order
