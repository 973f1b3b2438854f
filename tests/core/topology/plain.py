"""The algorithm of the reference, step by step as its text says, by scanning everything.

It counts the whole tree anew for each search, and overwrites numbers as it goes.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import cmp_to_key

from queueing.core.selectors import meets, untolerated
from queueing.core.topology.assignment import HOSTNAME
from queueing.core.topology.requests import PodSetRequest
from queueing.core.topology.searching import SearchTerms
from queueing.core.topology.tree import Node
from tests.core.topology.plain_balanced import balanced

MAX = 2**31 - 1
Used = dict[str, dict[str, int]]


@dataclass(eq=False)
class Dom:
    path: tuple[str, ...]
    children: list["Dom"] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    pods: int = 0
    slices: int = 0
    pods_wl: int = 0
    slices_wl: int = 0
    leader: int = 0
    score: int = 0


class Refused(Exception):  # noqa: N818 - it ends the search, and is no error
    """The reason why there is no place."""


def one_of(pod_set: PodSetRequest) -> dict[str, int]:
    return {**{str(name): amount for name, amount in pod_set.pod.requests}, "pods": 1}


def _whole(amount: int, by: int) -> int:
    """Divide as Kueue does: towards zero."""
    return amount // by if amount >= 0 else -(-amount // by)


@dataclass
class Plain:
    """A search of one workload on one flavor."""

    levels: tuple[str, ...]
    nodes: list[Node]
    others: Used
    """By node."""
    used: Used
    """By key of the leaf."""
    terms: SearchTerms
    assumed: Used = field(default_factory=dict)

    def tree(self) -> list[Dom]:
        root = Dom(())
        for node in sorted(self.nodes, key=lambda one: one.name):
            at = root
            for level in self.levels:
                value = node.labels[level]
                below = next((one for one in at.children if one.path[-1] == value), None)
                if below is None:
                    below = Dom((*at.path, value))
                    at.children.append(below)
                at = below
            at.nodes.append(node)
        return root.children

    def search(
        self,
        workers: PodSetRequest,
        leader: PodSetRequest | None = None,
        within: tuple[str, ...] = (),
    ) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
        """Return where workers and leader go, by key of the leaf; raise the reason if nowhere."""
        self._parameters(workers)
        self.within, self.leaders = within, 0 if leader is None else 1
        self.hosts = self.levels[-1] == HOSTNAME
        self.requests = one_of(workers)
        self.leader_requests = None if leader is None else one_of(leader)
        self.pod = workers.pod
        self.excluded: Counter[str] = Counter()
        self.top = self.tree()
        self.leaves_count = len(self.at(len(self.levels) - 1))
        for one in self.top:
            self._count(one, 0)
        self.profile = self.terms.profile
        self.least_free = self.unconstrained and self.profile.mixed
        shares = None
        preferred = workers.topology.preferred and not self.required and not self.unconstrained
        if self.profile.balanced and preferred:
            shares = balanced(self)
        if shares is None:
            fit, chosen = self._fit()
            shares = self._descend(fit, chosen)
        leaves = sorted(shares, key=lambda one: one.path)
        return (
            [(self.key(one), one.pods) for one in leaves if one.pods],
            [(self.key(one), one.leader) for one in leaves if one.leader and self.leaders],
        )

    def key(self, leaf: Dom) -> str:
        return leaf.path[-1] if self.hosts else ",".join(leaf.path)

    def at(self, level: int) -> list[Dom]:
        found = self.top
        for _ in range(level):
            found = [child for one in found for child in one.children]
        return list(found)

    # 3.1

    def _parameters(self, workers: PodSetRequest) -> None:
        asked, layers = workers.topology, workers.topology.slices
        levels = list(self.levels)
        self.count, self.layers = workers.count, layers
        self.size = layers[0].size if layers else 1
        if self.size <= 0:
            raise Refused("slice topology requested, but slice size not provided")
        slice_only = bool(layers) and not asked.required and not asked.preferred
        self.required = bool(asked.required)
        self.unconstrained = bool(asked.unconstrained) or workers.implied or slice_only
        if asked.required:
            wanted = asked.required
        elif asked.preferred:
            wanted = asked.preferred
        elif slice_only:
            wanted = levels[0]
        elif asked.unconstrained or workers.implied:
            wanted = levels[-1]
        else:
            raise Refused("topology level not specified")
        if wanted not in levels:
            raise Refused(f"no requested topology level: {wanted}")
        self.level = levels.index(wanted)
        slice_topology = layers[0].topology if layers else levels[-1]
        if slice_topology not in levels:
            raise Refused(f"no requested topology level for slices: {slice_topology}")
        self.slice_level = levels.index(slice_topology)
        if self.slice_level < self.level:
            raise Refused(
                f"podset slice topology {slice_topology} is above the podset topology {wanted}"
            )
        self.wanted = self.count // self.size
        self.inner: dict[int, int] = {}
        self._inner_layers(levels)

    def _inner_layers(self, levels: list[str]) -> None:
        layers = self.layers
        before, before_level = (layers[0], self.slice_level) if layers else (None, 0)
        for layer in layers[1:]:
            assert before is not None
            if layer.topology not in levels:
                raise Refused(
                    f"no requested topology level for additional slice layer: {layer.topology}"
                )
            here = levels.index(layer.topology)
            if here <= before_level:
                raise Refused(
                    f"additional slice layer topology {layer.topology} must be at a lower level"
                    f" than {before.topology}"
                )
            if before.size % layer.size:
                raise Refused(
                    f"additional slice layer size {layer.size} must evenly divide parent layer"
                    f" size {before.size}"
                )
            for level in range(before_level + 1, here + 1):
                self.inner[level] = layer.size
            before, before_level = layer, here

    # 3.2

    def _count(self, one: Dom, level: int) -> None:
        if not one.children:
            self._count_leaf(one, level)
            return
        for child in one.children:
            self._count(child, level + 1)
        self.sum(one, level, self.inner)

    def sum(self, one: Dom, level: int, inner: dict[int, int]) -> None:
        floor = inner.get(level + 1, 1)
        parts = [
            (child, child.pods // floor * floor, child.pods_wl // floor * floor)
            for child in one.children
        ]
        one.pods = sum(pods for _, pods, _ in parts)
        one.slices = sum(child.slices for child in one.children)
        one.leader = max(child.leader for child in one.children)
        one.score = sum(child.score for child in one.children)
        hosts = [part for part in parts if not self.leaders or part[0].leader]
        one.pods_wl = one.slices_wl = 0
        if hosts:
            one.pods_wl = one.pods - min(p - q for _, p, q in hosts)
            one.slices_wl = one.slices - min(c.slices - c.slices_wl for c, _, _ in hosts)
        if level == self.slice_level:
            one.slices = one.pods // self.size
            one.slices_wl = one.pods_wl // self.size

    def _count_leaf(self, one: Dom, level: int) -> None:
        why = self._closed(one)
        if why:
            self.excluded[why] += 1
            return
        if one.path[: len(self.within)] != self.within:
            self.excluded["topologyDomain"] += 1
            return
        rem: Counter[str] = Counter()
        for node in one.nodes:
            rem.update(node.capacity)
            rem.subtract(self.others.get(node.name, {}))
        if not self.terms.empty:
            rem.subtract(self.used.get(self.key(one), {}))
        rem.subtract(self.assumed.get(self.key(one), {}))
        if self.terms.profile.respects_preferences:
            one.score = sum(
                weight
                for weight, term in self.pod.preferences
                if self.hosts and all(meets(each, one.nodes[0].labels) for each in term.labels)
            )
        one.pods, lacking = self._times(rem, self.requests)
        if not one.pods:
            self.excluded[f'resource "{lacking}"'] += 1
        if self.leader_requests is not None and self._times(rem, self.leader_requests)[0] >= 1:
            one.leader = 1
            rem.subtract(self.leader_requests)
        one.pods_wl = self._times(rem, self.requests)[0]
        if level == self.slice_level:
            one.slices, one.slices_wl = one.pods // self.size, one.pods_wl // self.size

    def _times(self, rem: Counter[str], requests: dict[str, int]) -> tuple[int, str]:
        counts = {
            name: min(MAX, _whole(rem[name], asked)) if asked else MAX
            for name, asked in requests.items()
        }
        fewest = min(counts.values())
        scarce = min(name for name, count in counts.items() if count == fewest)
        return max(0, fewest), scarce

    def _closed(self, one: Dom) -> str:
        if not self.hosts:
            return ""
        node = one.nodes[0]
        taint = untolerated(node.taints, self.pod.tolerations)
        if taint is not None:
            value = f"={taint.value}" if taint.value else ""
            return f'taint "{taint.key}{value}:{taint.effect}"'
        for key, value in self.pod.node_selector:
            if node.labels.get(key) != value:
                return "nodeSelector"
        terms = self.pod.affinity
        if terms is not None and not any(
            all(meets(one, node.labels) for one in term.labels) for term in terms
        ):
            return "affinity"
        return ""

    # 3.3

    def order_a(self, doms: list[Dom]) -> list[Dom]:
        sign = 1 if self.least_free else -1
        return sorted(doms, key=lambda d: (-d.score, sign * d.slices, d.pods, d.path))

    def order_l(self, doms: list[Dom]) -> list[Dom]:
        sign = 1 if self.least_free else -1
        return sorted(
            doms, key=lambda d: (-d.leader, -d.score, sign * d.slices_wl, d.pods_wl, d.path)
        )

    def best_fit(self, tail: list[Dom], need: int, leaders: int, *, pods: bool = False) -> Dom:
        best = None
        for one in tail:
            if one.score != tail[0].score:
                break
            if one.leader < leaders or self.unit(one, leaders, pods=pods) < need:
                continue
            if best is None or (
                self.unit(one, leaders, pods=pods) < self.unit(best, leaders, pods=pods)
            ):
                best = one
        return best or tail[0]

    @staticmethod
    def unit(one: Dom, leaders: int, *, pods: bool) -> int:
        if pods:
            return one.pods_wl if leaders else one.pods
        return one.slices_wl if leaders else one.slices

    # 3.4

    def _fit(self) -> tuple[int, list[Dom]]:
        level, wanted, leaders = self.level, self.wanted, self.leaders
        while True:
            doms = self.order_l(self.at(level))
            if not doms:
                raise Refused(f"no topology domains at level: {self.levels[level]}")

            def holds(one: Dom) -> bool:
                return one.slices_wl >= wanted and one.leader >= leaders

            top = doms[0]
            if not self.least_free and holds(top):
                top = self.best_fit(doms, wanted, leaders)
            if self.least_free:
                for one in doms:
                    if holds(one):
                        return level, [one]
            if holds(top):
                return level, [top]
            if self.required:
                if self.profile.respects_preferences and any(one.score for one in doms):
                    for at, one in enumerate(doms):
                        if holds(one):
                            return level, [self.best_fit(doms[at:], wanted, leaders)]
                raise Refused(self._message(level, top.slices))
            if not self.unconstrained and level > 0:
                level -= 1
                continue
            return level, self._several(level, doms)

    def _several(self, level: int, doms: list[Dom]) -> list[Dom]:
        doms = self.prioritise(doms, self.count, self.leaders, self.size, pods=False)
        remaining, leaders, found = self.wanted, self.leaders, []
        while leaders and doms and doms[0].leader > 0:
            one = doms[0]
            if not self.least_free and one.slices_wl >= remaining:
                one = self.best_fit(doms, remaining, leaders)
            found.append(one)
            doms.remove(one)
            leaders -= one.leader
            remaining -= one.slices_wl
        if leaders > 0:
            raise Refused(self._message(level, self.leaders - leaders))
        doms = self.order_a(doms)
        while remaining > 0 and doms:
            one = doms[0]
            if not self.least_free and one.slices >= remaining:
                one = self.best_fit(doms, remaining, 0)
            found.append(one)
            doms.remove(one)
            remaining -= one.slices
        if remaining > 0:
            raise Refused(self._message(level, self.wanted - remaining))
        return found

    # 3.5 and 3.6

    def prioritise(
        self, doms: list[Dom], count: int, leaders: int, size: int, *, pods: bool
    ) -> list[Dom]:
        if not leaders or len(doms) < 2:
            return list(doms)
        need = count if pods else count // size
        available = sum(self.unit(one, 0, pods=pods) for one in doms)
        for one in doms:
            less = self.unit(one, 0, pods=pods) - self.unit(one, 1, pods=pods)
            if one.leader >= leaders and available - less >= need:
                return [one, *(other for other in doms if other is not one)]
        return list(doms)

    def take(
        self, doms: list[Dom], count: int, leaders: int, size: int, *, pods: bool = False
    ) -> list[Dom]:
        doms = self.prioritise(doms, count, leaders, size, pods=pods)
        need, unit = (count, 1) if pods else (count // size, size)
        found: list[Dom] = []
        while doms:
            one = doms[0]
            enough = self.unit(one, leaders, pods=pods) >= need and one.leader >= leaders
            if not self.least_free and enough:
                one = self.best_fit(doms, need, leaders, pods=pods)
            doms.remove(one)
            found.append(one)
            if self.unit(one, leaders, pods=pods) >= need and one.leader >= leaders:
                one.pods, one.slices, one.leader = need * unit, need, leaders
                return found
            given = min(self.unit(one, leaders, pods=pods), need)
            one.leader = min(one.leader, leaders)
            leaders -= one.leader
            need -= given
            one.pods, one.slices = given * unit, given
        return []

    def _descend(self, fit: int, chosen: list[Dom]) -> list[Dom]:
        current = self.take(chosen, self.count, self.leaders, self.size)
        for _ in range(fit, self.slice_level):
            below = self.order_a([child for one in current for child in one.children])
            current = self.take(below, self.count, self.leaders, self.size)
        return self.per_parent(current, max(fit, self.slice_level))

    def per_parent(self, current: list[Dom], level: int) -> list[Dom]:
        for below in range(level + 1, len(self.levels)):
            following: list[Dom] = []
            for parent in current:
                children = self.order_a(parent.children)
                pods, leaders, size = parent.pods, parent.leader, self.inner.get(below, 1)
                if not pods and not leaders:
                    continue
                if below <= self.slice_level:
                    following += self.take(children, pods, leaders, self.size)
                    continue
                if size > 1:
                    for one in children:
                        one.slices, one.slices_wl = one.pods // size, one.pods_wl // size
                following += self.take(children, pods, leaders, size, pods=size == 1)
            current = following
        return current

    # 3.8

    def _message(self, level: int, fitting: int) -> str:
        unit = "pod" if self.size == 1 else "slice"
        if len(self.layers) > 1:
            text = 'topology "T" doesn\'t allow to fit'

            def better(one: Dom, other: Dom) -> int:
                if one.slices != other.slices:
                    return other.slices - one.slices
                return -1 if self._id(one) < self._id(other) else 1

            best = min(self.at(level), key=cmp_to_key(better))
            for layer in self.layers:
                inside = [best]
                for _ in range(level, self.levels.index(layer.topology)):
                    inside = [child for one in inside for child in one.children]
                some = sum(one.pods // layer.size for one in inside)
                all_ = self.count // layer.size
                text += f"; {some}/{all_} slice(s) fit on level {layer.topology}"
        elif fitting:
            text = f'topology "T" allows to fit only {fitting} out of {self.wanted} {unit}(s)'
        else:
            text = f'topology "T" doesn\'t allow to fit any of {self.wanted} {unit}(s)'
        if self.excluded:
            parts = sorted(f"{why}: {count}" for why, count in self.excluded.items())
            text += f". Total nodes: {self.leaves_count}; excluded: {', '.join(parts)}"
        return text

    def _id(self, one: Dom) -> str:
        is_host = self.hosts and len(one.path) == len(self.levels)
        return one.path[-1] if is_host else ",".join(one.path)
