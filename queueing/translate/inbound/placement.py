"""What placement by topology reads: nodes, pods on them, requests of pod sets, assignments."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from queueing.core.facts import NodeUsageFact, PodSet
from queueing.core.names import ResourceName
from queueing.core.selectors import Taint, fault, label_fault
from queueing.core.topology.assignment import Assignment
from queueing.core.topology.encoding import decode
from queueing.core.topology.health import NodeHealth
from queueing.core.topology.requests import (
    NOTHING_ASKED,
    PODS,
    Layer,
    Placeable,
    Term,
    TopologyRequest,
    in_order,
)
from queueing.core.topology.tree import Node, Sums, add_at
from queueing.translate.jobs.injection import ConflictError, Injection
from queueing.translate.problems import Problems
from queueing.translate.requests import NOTHING_AROUND, Surroundings, pod_requests
from queueing.translate.selectors import requirement, toleration
from queueing.translate.times import seconds
from queueing.translate.wire import nodes, workloads
from queueing.translate.wire.pods import NodeSelectorTerm, PodSpec

NO_SLOTS: Mapping[str, int] = MappingProxyType({})


def node(found: nodes.Node) -> Node:
    """Translate a Node; an amount that cannot be read counts as 0."""
    amounts = Problems().amounts("status.allocatable", found.status.offers)
    return Node(
        name=found.metadata.name,
        labels=found.metadata.labels,
        capacity={ResourceName(name): amount for name, amount in amounts.items()},
        taints=_taints(found),
        schedulable=found.schedulable,
    )


def usage_by_node(pods: Iterable[nodes.BoundPod]) -> list[NodeUsageFact]:
    """Return what pods use of each node that no topology placed there, by name of the node."""
    sums: Sums = {}
    for pod in pods:
        if pod.runs and not pod.metadata.is_placed:
            add_at(sums, pod.spec.node_name, pod_usage(pod.spec))
    return [NodeUsageFact(name=name, usage=sums[name]) for name in sorted(sums)]


def pod_usage(spec: PodSpec) -> Mapping[ResourceName, int]:
    """Return what one pod takes of its node, among it one of `pods`."""
    return dict(in_order(_raw(spec, NOTHING_AROUND), pods=1))


def placeable(
    spec: PodSpec, around: Surroundings, slots: Mapping[str, int] = NO_SLOTS
) -> Placeable:
    """Return one pod of a template, as far as it matters which node it is put on.

    `slots` are devices that it asks for by claims which an admission fills in.
    """
    requests = _raw(spec, around)
    for name, count in slots.items():
        requests[ResourceName(name)] = requests.get(ResourceName(name), 0) + count
    affinity = spec.affinity and spec.affinity.node_affinity
    required = affinity and affinity.required_during_scheduling_ignored_during_execution
    preferred = affinity.preferred_during_scheduling_ignored_during_execution if affinity else []
    terms = tuple(map(_term, required.node_selector_terms)) if required else None
    return Placeable(
        requests=in_order(requests),
        tolerations=tuple(map(toleration, spec.tolerations)),
        node_selector=tuple(sorted(spec.node_selector.items())),
        affinity=terms,
        preferences=tuple((one.weight, _term(one.preference)) for one in preferred),
        unreadable_selector=_selector_fault(spec.node_selector),
        unreadable_affinity=_affinity_fault(terms or ()),
    )


def _selector_fault(selector: Mapping[str, str]) -> str:
    """Return why a node selector cannot be used, in Kueue's form; empty if it can."""
    for key, value in sorted(selector.items()):
        wrong = label_fault(key, value)
        if wrong:
            return f"invalid node selectors: {key}={value}, reason: {wrong}"
    return ""


def _affinity_fault(terms: Iterable[Term]) -> str:
    """Return why required node affinity cannot be used, in Kueue's form; empty if it can."""
    for number, term in enumerate(terms):
        for part, several in (("matchExpressions", term.labels), ("matchFields", term.fields)):
            for at, one in enumerate(several):
                wrong = fault(one)
                if wrong is not None:
                    asked = f"{one.key} {one.operator} [{', '.join(one.values)}]"
                    path = f"nodeSelectorTerms[{number}].{part}[{at}].{wrong[0]}"
                    told = f"invalid affinity node selectors: {asked}"
                    return f"{told}, reason: {path}: {wrong[1]}"
    return ""


def with_updates(pod_set: PodSet, checks: Iterable[workloads.CheckState]) -> PodSet:
    """Return a pod set with what Ready admission checks add to its pods, where it matters.

    If they contradict each other or the template, the pods have no place, for that reason.
    """
    pod = pod_set.placeable
    updates = list(ready_updates(checks, pod_set.name))
    if pod is None or not updates:
        return pod_set
    added = Injection(node_selector=dict(pod.node_selector))
    try:
        for one in updates:
            added = added.merged(one)
    except ConflictError as error:
        wrong = f"invalid podSetUpdate for PodSet {pod_set.name}, error: {error}"
        return replace(pod_set, placeable=replace(pod, unreadable_affinity=wrong))
    more = tuple(map(toleration, added.tolerations))
    selector = tuple(sorted(added.node_selector.items()))
    pod = replace(
        pod,
        node_selector=selector,
        tolerations=(*pod.tolerations, *more),
        unreadable_selector=_selector_fault(added.node_selector),
    )
    return replace(pod_set, placeable=pod)


def ready_updates(
    checks: Iterable[workloads.CheckState], pod_set: str
) -> Iterator[workloads.PodSetUpdate]:
    """Yield what Ready admission checks add to the pods of a pod set."""
    for check in checks:
        if check.state == "Ready":
            yield from (one for one in check.pod_set_updates if one.name == pod_set)


def health(found: nodes.Node) -> NodeHealth | None:
    """Translate whether a node is ready, and its taints; None if it does not say."""
    said = next((one for one in found.status.conditions if one.type == "Ready"), None)
    if said is None:
        return None
    return NodeHealth(
        ready=said.status == "True",
        since=seconds(said.last_transition_time) or 0.0,
        taints=_taints(found),
    )


def _taints(found: nodes.Node) -> tuple[Taint, ...]:
    taints = found.spec.taints
    return tuple(Taint(key=one.key, value=one.value, effect=one.effect) for one in taints)


def _raw(spec: PodSpec, around: Surroundings) -> dict[ResourceName, int]:
    """Return the requests of the template, whatever quota counts."""
    found = pod_requests(spec, around, path="", problems=Problems())
    return {ResourceName(name): amount for name, amount in found.items() if name != PODS}


def _term(found: NodeSelectorTerm) -> Term:
    return Term(
        labels=tuple(map(requirement, found.match_expressions)),
        fields=tuple(map(requirement, found.match_fields)),
    )


def topology_request(found: workloads.TopologyRequest | None) -> TopologyRequest:
    """Translate what a pod set asks of a topology."""
    if found is None:
        return NOTHING_ASKED
    layers = tuple(
        Layer(one.topology, one.size) for one in found.podset_slice_required_topology_constraints
    )
    if not layers and found.pod_set_slice_required_topology:
        layers = (Layer(found.pod_set_slice_required_topology, found.pod_set_slice_size or 0),)
    return TopologyRequest(
        required=found.required,
        preferred=found.preferred,
        unconstrained=found.unconstrained,
        slices=layers,
        group=found.pod_set_group_name,
    )


def wants_topology(found: workloads.TopologyRequest | None) -> bool:
    """Say whether a pod set asks for a topology, and so for a flavor that has one."""
    return found is not None and (
        any(one is not None for one in (found.required, found.preferred, found.unconstrained))
        or found.pod_set_slice_size is not None
        or bool(found.pod_set_slice_required_topology)
        or bool(found.podset_slice_required_topology_constraints)
    )


def placement(found: workloads.TopologyAssignment | None) -> Assignment | None:
    """Translate a pod set's assignment; one that contradicts itself counts as none."""
    if found is None:
        return None
    try:
        return decode(found.as_document())
    except (KeyError, TypeError, ValueError):
        return None
