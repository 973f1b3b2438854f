"""What a pod set asks of a topology, and what one search for it has to find."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from queueing.core.names import PodSetName, ResourceName
from queueing.core.selectors import Requirement, Toleration
from queueing.core.topology.assignment import Assignment

PODS = ResourceName("pods")
"""The resource of which each pod takes one, and a node offers a fixed number."""

Requests = tuple[tuple[ResourceName, int], ...]
"""What one pod asks for, by resource, in the order of their names."""


def in_order(amounts: Mapping[ResourceName, int], *, pods: int = 0) -> Requests:
    """Return amounts as requests, with a number of pods added if there are any."""
    counted = {**amounts, PODS: amounts.get(PODS, 0) + pods} if pods else amounts
    return tuple(sorted(counted.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """Requirements on a node that must all hold; a term without any matches nothing."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()
    """About `metadata.name`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placeable:
    """One pod, as far as it matters which node it is put on. Counts are remembered by it.

    It is the pod template with what checks and flavors add to it, not what quota is charged for.
    """

    requests: Requests
    tolerations: tuple[Toleration, ...] = ()
    node_selector: tuple[tuple[str, str], ...] = ()
    affinity: tuple[Term, ...] | None = None
    """Required node affinity: alternatives; None for none."""
    preferences: tuple[tuple[int, Term], ...] = ()
    """Preferred node affinity: weights and terms."""
    unreadable_selector: str = ""
    """Why the node selector cannot be used; empty if it can."""
    unreadable_affinity: str = ""

    def kept_to(self, preferences: tuple[tuple[int, Term], ...] = ()) -> "Placeable":
        """Return what decides which nodes are open to it, with these preferences among them."""
        return replace(self, requests=(), preferences=preferences)


@dataclass(frozen=True, slots=True)
class Layer:
    """Pods that must be together in one domain of a level: a slice of so many."""

    topology: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyRequest:
    """A pod set's `topologyRequest`, as far as placement reads it."""

    required: str | None = None
    preferred: str | None = None
    unconstrained: bool | None = None
    slices: tuple[Layer, ...] = ()
    """Outermost first."""
    group: str = ""
    """Two pod sets of one group, a leader and its workers, are placed together."""

    @property
    def named(self) -> set[str]:
        """The levels that are asked for."""
        asked = self.required or self.preferred
        return {one.topology for one in self.slices} | ({asked} if asked else set())


NOTHING_ASKED = TopologyRequest()


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSetRequest:
    """A pod set to be placed on the nodes of one flavor."""

    name: PodSetName
    count: int
    pod: Placeable
    topology: TopologyRequest = NOTHING_ASKED
    implied: bool = False
    """Whether it is placed although it asks for nothing: its queue has no flavor without a
    topology."""
    current: Assignment | None = None
    """Where it is now, if a node is to be replaced."""
    kept: Assignment | None = None
    """Where the pods are of the slice that it replaces: they stay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How domains are chosen: the feature gates that placement depends on."""

    mixed: bool = True
    """Pods that may be anywhere fill the fullest domains first, and all others the emptiest."""
    balanced: bool = False
    """Preferred domains get about equal parts where that is possible."""
    respects_preferences: bool = False
    """Preferred node affinity comes before capacity."""
    heeds_annotations: bool = False
    """What our annotations on flavors say counts, such as that pods are spread. Kueue has none."""


KUEUE_DEFAULTS = Profile()


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What one search has to find: `count` pods in slices, in one domain of a level or in several.

    Levels are counted from 0, the widest.
    """

    count: int
    size: int
    """Pods of a slice; 1 if there are no slices."""
    level: int
    slice_level: int
    inner: tuple[int, ...]
    """By level: the size of the inner layer's slices there, 1 for none."""
    required: bool
    unconstrained: bool
    layers: tuple[Layer, ...]

    @property
    def slices(self) -> int:
        """How many slices are wanted; pods that fill no slice are left out."""
        return self.count // self.size


def search_for(levels: Sequence[str], wanted: PodSetRequest, *, hosts: bool) -> Search | str:
    """Return what is to be found on these levels, or why that cannot be said.

    `hosts` says whether the lowest level is single nodes.
    """
    request, layers, lowest = wanted.topology, wanted.topology.slices, len(levels) - 1
    if layers and layers[0].size <= 0:
        return "slice topology requested, but slice size not provided"
    only_slices = bool(layers) and not request.required and not request.preferred
    asked = request.required or request.preferred
    if only_slices:
        level = 0
    elif not asked and (request.unconstrained or wanted.implied):
        level = lowest
    elif not asked:
        return "topology level not specified"
    elif asked not in levels:
        return f"no requested topology level: {asked}"
    else:
        level = levels.index(asked)
    slice_level = lowest
    if layers:
        if layers[0].topology not in levels:
            return f"no requested topology level for slices: {layers[0].topology}"
        slice_level = levels.index(layers[0].topology)
    if slice_level < level:
        topologies = f"{levels[slice_level]} is above the podset topology {levels[level]}"
        return f"podset slice topology {topologies}"
    inner = _inner_sizes(levels, layers)
    if isinstance(inner, str):
        return inner
    if hosts and wanted.pod.unreadable_selector:
        return wanted.pod.unreadable_selector
    if wanted.pod.unreadable_affinity:
        return wanted.pod.unreadable_affinity
    return Search(
        count=wanted.count,
        size=layers[0].size if layers else 1,
        level=level,
        slice_level=slice_level,
        inner=inner,
        required=bool(request.required),
        unconstrained=bool(request.unconstrained or wanted.implied or only_slices),
        layers=layers,
    )


def _inner_sizes(levels: Sequence[str], layers: tuple[Layer, ...]) -> tuple[int, ...] | str:
    """Return the size of the inner slices at each level, or what is wrong with a layer."""
    sizes = [1] * len(levels)
    for outer, layer in pairwise(layers):
        if layer.topology not in levels:
            return f"no requested topology level for additional slice layer: {layer.topology}"
        above, here = levels.index(outer.topology), levels.index(layer.topology)
        told = f"additional slice layer topology {layer.topology}"
        if here <= above:
            return f"{told} must be at a lower level than {outer.topology}"
        if layer.size <= 0 or outer.size % layer.size:
            told = f"additional slice layer size {layer.size}"
            return f"{told} must evenly divide parent layer size {outer.size}"
        sizes[above + 1 : here + 1] = [layer.size] * (here - above)
    return tuple(sizes)
