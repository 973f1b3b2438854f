"""Which pod of a placed pod set goes to which domain, and the patch that lets it go there.

A pod's rank is its number among the pods of the set, by the labels that its kind gives it. Ranks
follow the order of the domains, so that neighbours in rank are neighbours on the network. Without
numbers that make sense, pods go to the domains in the order in which they are listed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from queueing.core.topology.assignment import HOSTNAME, Assignment, Domain
from queueing.translate import labels
from queueing.translate.jobs.gated_pods import GatedPod, left_of
from queueing.translate.jobs.patches import MergePatch
from queueing.translate.wire.workloads import PodSet, TopologyRequest, Workload

LWS_INDEX = "leaderworkerset.sigs.k8s.io/worker-index"
"""Label of the pods of a LeaderWorkerSet: their number in their group."""


class PlacedPod(GatedPod, frozen=True):
    """A pod whose node a topology chooses."""

    gate: ClassVar[str] = labels.TOPOLOGY_GATE


class UnrankedError(ValueError):
    """The numbers of pods that make no ranks."""


Way = Mapping[str, str]
"""The node selector that sends a pod to a domain."""


def ways(
    workload: Workload, pod_set: PodSet, assignment: Assignment, pods: Sequence[PlacedPod]
) -> list[tuple[PlacedPod, Way]]:
    """Return the gated pods of a pod set that have a place, each with the way to it.

    Those whose node failed wait until there is another one for them.
    """
    mine = [one for one in pods if one.metadata.labels.get(labels.POD_SET) == pod_set.name]
    alive = sorted((one for one in mine if not one.has_ended), key=lambda one: one.metadata.name)
    try:
        found = list(_by_rank(workload, pod_set, assignment, alive))
    except UnrankedError:
        found = list(_as_listed(assignment, alive))
    failed = {one.name for one in workload.status.unhealthy_nodes}
    return [(pod, way) for pod, way in found if pod.is_gated and way.get(HOSTNAME) not in failed]


def letting_go(pod: PlacedPod, way: Way) -> MergePatch:
    """Return the patch that sends a pod on its way."""
    gates = left_of(pod.spec.gates, (pod.gate,))
    return MergePatch(body={"spec": {"schedulingGates": gates, "nodeSelector": dict(way)}})


def _by_rank(
    workload: Workload, pod_set: PodSet, assignment: Assignment, pods: Sequence[PlacedPod]
) -> Iterator[tuple[PlacedPod, Way]]:
    """Yield pods with their domains by rank. Raises UnrankedError."""
    request = pod_set.topology_request or TopologyRequest()
    places = [one for one in assignment.domains for _ in range(one.count)]
    offset, beside = _offset(workload, pod_set, pods)
    seen: set[int] = set()
    for pod in pods:
        rank = _rank(pod, request, pod_set.count, offset=offset, limit=pod_set.count + beside)
        if rank in seen or rank >= len(places):
            raise UnrankedError(pod.metadata.name)
        seen.add(rank)
        way = _way(assignment, places[rank])
        selector = pod.spec.node_selector
        if not pod.is_gated and any(selector.get(key) != value for key, value in way.items()):
            raise UnrankedError(pod.metadata.name)
        yield pod, way


def _rank(pod: PlacedPod, request: TopologyRequest, count: int, *, offset: int, limit: int) -> int:
    """Return a pod's number in its set, from 0. Raises UnrankedError."""
    told = pod.metadata.labels
    index = _number(told.get(request.pod_index_label))
    if index >= limit:
        raise UnrankedError(pod.metadata.name)
    rank = index - offset
    if request.sub_group_index_label:
        groups = request.sub_group_count or 0
        size = count // groups if groups > 0 else 0
        group = _number(told.get(request.sub_group_index_label))
        if group >= groups or index >= size:
            raise UnrankedError(pod.metadata.name)
        rank += group * size
    if not 0 <= rank < count:
        raise UnrankedError(pod.metadata.name)
    return rank


def _number(text: str | None) -> int:
    if text is None or not text.isdecimal():
        raise UnrankedError(text)
    return int(text)


def _offset(workload: Workload, pod_set: PodSet, pods: Sequence[PlacedPod]) -> tuple[int, int]:
    """Return the number of a set's first pod, and how many numbers others of its group use.

    Of two sets in a group the smaller, or the first, comes first. Raises UnrankedError.
    """
    usual = str(int(_begins_after_a_leader(workload, pod_set)))
    own = _number(pods[0].metadata.annotations.get(labels.INDEX_OFFSET, usual) if pods else usual)
    group = pod_set.topology_request.pod_set_group_name if pod_set.topology_request else ""
    if not group:
        return own, own
    together = [
        one
        for one in workload.spec.pod_sets
        if one.topology_request and one.topology_request.pod_set_group_name == group
    ]
    first = min(together, key=lambda one: one.count)
    others = sum(one.count for one in together if one.name != pod_set.name)
    return (own if pod_set.name == first.name else own + first.count), others + own


def _begins_after_a_leader(workload: Workload, pod_set: PodSet) -> bool:
    """Say whether number 0 of a LeaderWorkerSet's group is the leader, in a set of its own."""
    request = pod_set.topology_request
    counts = request is not None and request.pod_index_label == LWS_INDEX
    return counts and len(workload.spec.pod_sets) > 1


def _as_listed(
    assignment: Assignment, pods: Sequence[PlacedPod]
) -> Iterator[tuple[PlacedPod, Way]]:
    """Yield gated pods, as many for each domain as it has room beside those that went there."""
    waiting = iter([one for one in pods if one.is_gated])
    gone = [one.spec.node_selector for one in pods if not one.is_gated]
    taken = Counter(
        at
        for selector in gone
        for at, domain in enumerate(assignment.domains)
        if _way(assignment, domain).items() <= selector.items()
    )
    for at, domain in enumerate(assignment.domains):
        for _ in range(domain.count - taken[at]):
            pod = next(waiting, None)
            if pod is None:
                return
            yield pod, _way(assignment, domain)


def _way(assignment: Assignment, domain: Domain) -> Way:
    return dict(zip(assignment.levels, domain.values, strict=True))


def is_bound_for(pod: PlacedPod) -> str:
    """Return the hostname that a pod waits for; empty if it waits for none, or not any more."""
    waits = not (pod.is_gated or pod.spec.node_name or pod.metadata.deleting or pod.has_ended)
    return pod.spec.node_selector.get(HOSTNAME, "") if waits else ""
