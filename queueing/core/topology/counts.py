"""How many pods and slices of one shape fit into each domain; kept along with the tree.

The numbers are those of the first phase of Kueue's search. They are remembered per shape, and when
they are asked for, only the leaves that changed and the domains above them are counted again.
"""

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from queueing.core.names import ResourceName
from queueing.core.topology.domains import ROOT
from queueing.core.topology.eligibility import Eligibility, lacking
from queueing.core.topology.ranking import Rank, Ranking
from queueing.core.topology.requests import Placeable, Requests
from queueing.core.topology.tree import Tree

MANY = 2**31 - 1
ENOUGH = ResourceName("")
"""What is lacking where a pod fits."""
SHAPES_MAX = 32
"""So many shapes are remembered, the latest asked for; at 50,000 nodes each takes up to 10 MiB."""


class Known(Protocol):
    """Numbers by domain, to be read."""

    def __getitem__(self, domain: int, /) -> int: ...


class Numbers(Known, Protocol):
    """Numbers by domain."""

    def __setitem__(self, domain: int, number: int, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Room:
    """What fits into each domain. `with_leader` is what fits if a leader is put there, too."""

    pods: Numbers
    slices: Numbers
    pods_with_leader: Numbers
    slices_with_leader: Numbers
    leader: Numbers
    """1 where a leader fits; 0 everywhere if none is wanted."""
    score: Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class CountsKey:
    """All that counts depend on beside the tree: everything but the number of pods."""

    pod: Placeable
    """Without requests."""
    requests: Requests
    leader: Requests | None
    size: int
    slice_level: int
    inner: tuple[int, ...]
    empty: bool
    """Whether workloads that are placed are ignored."""
    scored: bool


class Counts:
    """Counts of one shape. With `within` only leaves of that domain are open."""

    def __init__(
        self, tree: Tree, eligibility: Eligibility, shape: CountsKey, within: int | None = None
    ) -> None:
        self.tree, self.shape = tree, shape
        self._eligibility, self._within = eligibility, within
        self._seen, self._epoch = 0, -1

    def _begin(self) -> None:
        self._epoch = self.tree.epoch
        self.pods: list[int] = []
        self.slices: list[int] = []
        self.leader: list[int] = []
        self.pods_with_leader = self.pods if self.shape.leader is None else []
        self.slices_with_leader = self.slices if self.shape.leader is None else []
        self._score: list[int] = []
        self._lacks: list[ResourceName] = []
        self._lacking: Counter[ResourceName] = Counter()
        self._rankings: dict[tuple[int, bool, int], Ranking] = {}
        self.room = Room(
            self.pods,
            self.slices,
            self.pods_with_leader,
            self.slices_with_leader,
            self.leader,
            self._score,
        )

    # Questions.

    def refresh(self) -> None:
        """Count again where something changed."""
        tree, domains = self.tree, self.tree.domains
        touched = tree.changes.since(self._seen) if self._epoch == tree.epoch else None
        self._seen = tree.changes.end
        if touched is None:
            self._begin()
            touched = self._below(ROOT if self._within is None else self._within)
        self._eligibility.refresh()
        missing = len(domains) - len(self.pods)
        if missing:
            columns = {id(one): one for one in (*self._columns(), self._score)}
            for column in columns.values():
                column += [0] * missing
            self._lacks += [ENOUGH] * missing
        if touched:
            self._lift(self._count(touched))

    def ranking(self, level: int, *, leading: bool, ascending: bool) -> Ranking:
        """Return the domains of a level in order; domains without slices may be left out.

        `leading` puts those first that can hold the leader, and then by what fits beside it.
        """
        leading = leading and self.shape.leader is not None
        key = (level, leading, 1 if ascending else -1)
        found = self._rankings.get(key)
        if found is None:
            rank = partial(self._rank, leading=leading, sign=key[2])
            found = self._rankings[key] = Ranking(rank, self.tree.domains.live[level])
        found.refresh()
        return found

    def excluded(self) -> Counter[str]:
        """Return how many leaves are closed or have no room for a single pod, by why."""
        told = self._eligibility.told()
        closed = told.total()
        told.update({lacking(one): n for one, n in self._lacking.items() if one and n})
        if self._within is not None:
            obstacle = self._eligibility.obstacle
            mine = sum(not obstacle[leaf] for leaf in self._below(self._within))
            told["topologyDomain"] = len(self.tree.domains.leaves) - closed - mine
        return +told

    def _below(self, domain: int) -> list[int]:
        return self.tree.domains.below(domain, len(self.tree.levels) - 1)

    def _rank(self, domain: int, *, leading: bool, sign: int) -> Rank | None:
        domains = self.tree.domains
        if domain not in domains.live[domains.level[domain]]:
            return None
        if not leading and not self.slices[domain] and not self.shape.scored:
            return None
        slices = self.slices_with_leader if leading else self.slices
        return (
            -self.leader[domain] if leading else 0,
            -self._score[domain],
            sign * slices[domain],
            (self.pods_with_leader if leading else self.pods)[domain],
            domains.place[domain],
            domain,
        )

    # Counting.

    def _columns(self) -> tuple[list[int], ...]:
        leaders = (self.pods_with_leader, self.slices_with_leader, self.leader)
        return (self.pods, self.slices, *leaders)

    def _fitting(
        self, leaves: Sequence[int], requests: Requests
    ) -> tuple[list[int], list[ResourceName]]:
        """Return how many times requests fit into leaves, and what is lacking where it is 0."""
        columns = self.tree.room if self.shape.empty else self.tree.free
        fitting = [MANY] * len(leaves)
        lacks = [ENOUGH] * len(leaves)
        overdrawn: set[int] = set()
        for resource, asked in reversed(requests):
            if not asked:
                continue
            column = columns.get(resource)
            mine = [column[leaf] // asked for leaf in leaves] if column else [0] * len(leaves)
            fitting = list(map(min, fitting, mine))
            lacks = [resource if one <= 0 else lack for one, lack in zip(mine, lacks, strict=True)]
            if min(mine, default=0) < 0:
                overdrawn.update(at for at, one in enumerate(mine) if one < 0)
        for at in overdrawn:
            lacks[at] = _scarcest(columns, leaves[at], requests)
        return [max(one, 0) for one in fitting], lacks

    def _count(self, leaves: list[int]) -> dict[int, tuple[int, int, int]]:
        """Count leaves; return the pods, slices and scores that those had which changed."""
        shape, obstacle = self.shape, self._eligibility.obstacle
        live, size = self.tree.domains.leaves, shape.size
        at_slices = shape.slice_level == len(self.tree.levels) - 1
        fitting, lacks = self._fitting(leaves, shape.requests)
        leading = self._leading(leaves, fitting) if shape.leader is not None else None
        alone = leading is None and not shape.scored
        pods, slices, score, lacked = self.pods, self.slices, self._score, self._lacks
        changed = {}
        for at, (leaf, now, lack) in enumerate(zip(leaves, fitting, lacks, strict=True)):
            is_open = leaf in live and not obstacle[leaf]
            if not is_open:
                now, lack = 0, ENOUGH
            if lack != lacked[leaf]:
                self._lacking[lacked[leaf]] -= 1
                self._lacking[lack] += 1
                lacked[leaf] = lack
            if now == pods[leaf] and alone:
                continue
            changed[leaf] = (pods[leaf], slices[leaf], score[leaf])
            pods[leaf] = now
            slices[leaf] = now // size if at_slices else 0
            score[leaf] = self._eligibility.score[leaf] if shape.scored and is_open else 0
            if leading is not None:
                with_leader = leading[0][at] if is_open else 0
                self.leader[leaf] = leading[1][at] if is_open else 0
                self.pods_with_leader[leaf] = with_leader
                self.slices_with_leader[leaf] = with_leader // size if at_slices else 0
        return changed

    def _leading(self, leaves: list[int], fitting: list[int]) -> tuple[list[int], list[int]]:
        """Return how many pods fit beside a leader, and whether one fits at all, by leaf."""
        shape = self.shape
        beside, hosts = list(fitting), [0] * len(leaves)
        columns = self.tree.room if shape.empty else self.tree.free
        leader = dict(shape.leader or ())
        alone, _ = self._fitting(leaves, shape.leader or ())
        for at, leaf in enumerate(leaves):
            if alone[at]:
                hosts[at] = 1
                beside[at] = min(
                    (
                        (columns[resource][leaf] - leader.get(resource, 0)) // asked
                        for resource, asked in shape.requests
                        if asked and resource in columns
                    ),
                    default=MANY,
                )
                beside[at] = max(0, min(beside[at], fitting[at]))
        return beside, hosts

    def _lift(self, below: dict[int, tuple[int, int, int]]) -> None:
        """Bring changes up to the root, level by level, and the rankings in order."""
        shape, domains, inner = self.shape, self.tree.domains, self.shape.inner
        for level in range(len(self.tree.levels) - 1, -1, -1):
            for (of, _, _), ranking in self._rankings.items():
                if of == level:
                    ranking.touch(below)
            above: dict[int, tuple[int, int, int]] = {}
            floor = inner[level]
            for one, (pods, slices, score) in below.items():
                parent = domains.parent[one]
                if parent not in above:
                    before = (self.pods[parent], self.slices[parent], self._score[parent])
                    above[parent] = before
                now = self.pods[one]
                self.pods[parent] += (now - now % floor) - (pods - pods % floor)
                self.slices[parent] += self.slices[one] - slices
                self._score[parent] += self._score[one] - score
            if level - 1 == shape.slice_level:
                for parent in above:
                    self.slices[parent] = self.pods[parent] // shape.size
            if shape.leader is not None:
                for parent in above:
                    self._lead(parent, floor)
            below = above

    def _lead(self, parent: int, floor: int) -> None:
        """Find what fits into a domain beside the leader: the leader goes where it costs least."""
        shape, pods, beside = self.shape, self.pods, self.pods_with_leader
        hosts = [one for one in self.tree.domains.children[parent] if self.leader[one]]
        self.leader[parent] = 1 if hosts else 0
        if not hosts:
            self.pods_with_leader[parent] = self.slices_with_leader[parent] = 0
            return
        cost = min(
            (pods[one] - pods[one] % floor) - (beside[one] - beside[one] % floor) for one in hosts
        )
        apart = min(self.slices[one] - self.slices_with_leader[one] for one in hosts)
        beside[parent] = pods[parent] - cost
        at_slices = self.tree.domains.level[parent] == shape.slice_level
        slices = beside[parent] // shape.size if at_slices else self.slices[parent] - apart
        self.slices_with_leader[parent] = slices


def _scarcest(
    columns: Mapping[ResourceName, Sequence[int]], leaf: int, requests: Requests
) -> ResourceName:
    """Return the resource of which a leaf is short of most pods; the first by name of several.

    As in Kueue, less than one pod too many is none.
    """
    least, scarce = MANY, ENOUGH
    for resource, asked in requests:
        if asked:
            left = columns[resource][leaf] if resource in columns else 0
            pods = left // asked if left >= 0 else -(-left // asked)
            if pods < least:
                least, scarce = pods, resource
    return scarce


class Memory:
    """The counts of the shapes that were asked for last, and who is kept out of which leaf."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._counts: OrderedDict[CountsKey, Counts] = OrderedDict()
        self._eligibility: OrderedDict[Placeable, Eligibility] = OrderedDict()

    def counts(self, shape: CountsKey, within: int | None = None) -> Counts:
        """Return the counts of a shape as of now; those within a domain are not remembered."""
        found = self._counts.get(shape) if within is None else None
        if found is None:
            found = Counts(self.tree, self._eligible(shape.pod), shape, within)
            if within is None:
                self._counts[shape] = found
        if within is None:
            self._counts.move_to_end(shape)
            if len(self._counts) > SHAPES_MAX:
                self._counts.popitem(last=False)
        found.refresh()
        return found

    def _eligible(self, pod: Placeable) -> Eligibility:
        found = self._eligibility.setdefault(pod, Eligibility(self.tree, pod))
        self._eligibility.move_to_end(pod)
        if len(self._eligibility) > SHAPES_MAX:
            self._eligibility.popitem(last=False)
        return found
