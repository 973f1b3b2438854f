"""What workloads request (demands) and what they hold (usage, in flavor-resources)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import PodSet, PodSetAssignment, WorkloadFact
from queueing.core.holders import Holder
from queueing.core.names import FlavorName, FlavorResource, ResourceName
from queueing.core.ordering import queue_timestamp
from queueing.core.settings import Settings
from queueing.core.sharing import (
    ClaimCharge,
    Use,
    added,
    beside_claims,
    parts_of,
    shared_by,
    slice_parts,
)
from queueing.core.topology.assignment import HOSTNAME, Occupancy
from queueing.core.topology.requests import in_order
from queueing.core.topology.usage import placed

NO_CLAIMS: frozenset[str] = frozenset()
"""One object, as each empty set takes up 216 bytes."""


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Shape:
    """Everything of a workload's pod sets that flavor assignment depends on.

    Equal shapes get equal answers from the same queue in the same state. They are one object, so
    that comparing them, or looking one up in a memo, costs nothing.
    """

    parts: tuple[object, ...]
    requests: Mapping[ResourceName, int]
    """What one workload requests of each resource, with all its pods."""


_shapes: WeakValueDictionary[tuple[object, ...], Shape] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class PodSetDemand:
    """A pod set and how many of its pods are still to run."""

    pod_set: PodSet
    count: int


@dataclass(frozen=True, slots=True)
class Demand:
    """What a pending workload requests now."""

    pod_sets: tuple[PodSetDemand, ...]
    shape: Shape
    full: Shape
    """The shape with all pods; it differs from `shape` if partial admission lowered a count."""
    claims: frozenset[str] = NO_CLAIMS
    """What it uses and other workloads may use, too: uids of ResourceClaims, or its elastic job."""
    slice_of: str = ""
    """The elastic job of which the workload is a slice; empty for all others."""
    flavors: frozenset[FlavorName] | None = None
    """The only flavors that it may get; None for any."""

    def reduced(self, counts: Sequence[int]) -> "Demand":
        """Return the same demand with other pod counts."""
        pod_sets = tuple(
            PodSetDemand(one.pod_set, count)
            for one, count in zip(self.pod_sets, counts, strict=True)
        )
        shape = _shape_of(pod_sets, self.slice_of, self.flavors)
        return replace(self, pod_sets=pod_sets, shape=shape)

    @property
    def may_shrink(self) -> bool:
        """Whether partial admission may lower a count: never that of a slice."""
        return not self.slice_of and any(
            one.pod_set.min_count is not None and one.pod_set.min_count < one.count
            for one in self.pod_sets
        )


def demand_of(workload: WorkloadFact) -> Demand:
    """Return what a workload requests, without its reclaimable pods."""
    reclaimable = workload.reclaimable
    pod_sets = tuple(
        PodSetDemand(
            one, max(0, one.count - reclaimable.get(one.name, 0)) if reclaimable else one.count
        )
        for one in workload.pod_sets
    )
    job, flavors = workload.slice_of, workload.flavors
    shape = _shape_of(pod_sets, job, flavors)
    asks = [ask.claim for one in workload.pod_sets for ask in one.devices if ask.claim]
    claims = frozenset([job] if job else asks) or NO_CLAIMS
    return Demand(pod_sets, shape, shape, claims, job, flavors)


def use_of(pod_sets: Iterable[PodSet], assigned: Sequence[PodSetAssignment], job: str) -> Use:
    """Return what assignments charge, with what other workloads may use kept apart.

    `job` is the elastic job of which the workload is a slice; empty for all others.
    """
    if job:
        return Use({}, slice_parts(job, assigned_usage(assigned)))
    claims = shared_by(pod_sets)
    return Use(assigned_usage(beside_claims(claims, assigned)), parts_of(claims, assigned))


def assigned_usage(pod_sets: Iterable[PodSetAssignment]) -> dict[FlavorResource, int]:
    """Sum what assignments charge, by flavor-resource."""
    total: dict[FlavorResource, int] = {}
    for one in pod_sets:
        for resource, amount in one.usage.items():
            flavor = one.flavors.get(resource)
            if flavor is not None:
                key = FlavorResource(flavor, resource)
                total[key] = total.get(key, 0) + amount
    return total


def occupancies(
    pod_sets: Iterable[tuple[PodSetAssignment, PodSet]],
) -> tuple[Occupancy, ...]:
    """Return what placed pods use of leaves: what their templates request, and a pod each.

    Reclaimable pods count as well: their place is free only when the workload has ended.
    """
    found = []
    for one, pod_set in pod_sets:
        if one.placement is not None:
            pod = pod_set.placeable
            requests = in_order(pod_set.requests) if pod is None else pod.requests
            usage = one.placement.usage(in_order(dict(requests), pods=1))
            hosts = one.placement.levels == (HOSTNAME,)
            flavors = tuple(sorted(set(one.flavors.values())))
            found.append(Occupancy(flavors, hosts=hosts, usage=usage))
    return tuple(found)


def held_places(
    workload: WorkloadFact, given: Sequence[PodSetAssignment] | None = None
) -> tuple[Occupancy, ...]:
    """Return what the placed pods of a workload that holds quota use of leaves.

    They have what was admitted, or `given`.
    """
    if workload.admission is None:
        return ()
    admitted = workload.admission.pod_sets if given is None else given
    with_places = [one for one in admitted if one.placement is not None]
    if not with_places:
        return ()
    asked = {one.name: one for one in workload.pod_sets}
    return occupancies((one, asked[one.name]) for one in with_places if one.name in asked)


def remaining_pod_sets(workload: WorkloadFact) -> tuple[PodSetAssignment, ...]:
    """Return what pod sets were admitted with, at the places where pods may be that are left.

    Which pods ended is not known: not even an index tells it, as new pods of a job that grew take
    places before those of older ones.
    """
    admitted = () if workload.admission is None else workload.admission.pod_sets
    counts = {one.name: one.count for one in workload.pod_sets}
    return tuple(
        one
        if one.placement is None or one.placement.count <= counts.get(one.name, 0)
        else replace(one, placement=one.placement.any_of(counts.get(one.name, 0)))
        for one in admitted
    )


def holder_of(workload: WorkloadFact, settings: Settings) -> Holder:
    """Return the holder of a workload whose status has an admission, else raise ValueError."""
    if workload.admission is None:
        msg = f"workload {workload.key} has no status.admission and so holds no quota"
        raise ValueError(msg)
    own, parts = held_parts(workload)
    usage = added(own, parts) if parts else own
    given = workload.admission.pod_sets
    if workload.slice_of and settings.grows_in_place:
        given = remaining_pod_sets(workload)
    places = held_places(workload, given)
    preempted = workload.conditions.get("Preempted") if workload.evicted else None
    told = preempted.reason if preempted is not None and preempted.status else ""
    return Holder(
        key=workload.key,
        uid=workload.uid,
        queue=workload.admission.cluster_queue,
        local_queue=workload.local_queue,
        priority=workload.priority,
        timestamp=queue_timestamp(workload, settings),
        reserved_at=workload.conditions["QuotaReserved"].changed,
        evicted=workload.evicted,
        usage=placed(usage, places) if places else usage,
        elsewhere=usage if told == PreemptionReason.MOVED else None,
        stake=workload.stake,
        parts=parts,
        own=own if parts else None,
        pod_sets=given if workload.slice_of else (),
        places=places if workload.slice_of and settings.grows_in_place else (),
    )


def held_usage(workload: WorkloadFact) -> dict[FlavorResource, int]:
    """Return what a workload's admission charges, without its reclaimable pods.

    Reclaimable pods are counted from the spec: an admission for fewer pods, because some were
    reclaimable already or because it is a partial one, is charged whole until fewer remain. Devices
    are charged as they were allocated, never more than was admitted. A Job that saves the
    workload's work at the moment is charged on top: it did not wait for quota, but nobody else may
    use what it takes. ResourceClaims that others use, too, are charged as if nobody did.
    """
    own, parts = held_parts(workload)
    return added(own, parts)


def held_parts(workload: WorkloadFact) -> tuple[dict[FlavorResource, int], tuple[ClaimCharge, ...]]:
    """Return `held_usage` as two parts: that without claims that others may use, and those claims.

    A claim is charged whole as long as any pod of the workload uses it. A slice has no other part.
    """
    if workload.admission is None:
        return {}, ()
    assigned = workload.admission.pod_sets
    if workload.slice_of:
        return {}, slice_parts(workload.slice_of, _held_alone(workload, assigned))
    devices = any(one.devices for one in workload.pod_sets)
    claims = shared_by(workload.pod_sets) if devices else {}
    if not claims:
        return _held_alone(workload, assigned), ()
    # a claim is in use while any pod that uses it is still to run
    done = workload.reclaimable
    alive = {one.name for one in workload.pod_sets if done.get(one.name, 0) < one.count}
    used = {claim for (name, _), claim in claims.items() if name in alive}
    parts = parts_of(
        {key: claim for key, claim in claims.items() if claim in used},
        (_lowered(one, workload.given.get(one.name, {})) for one in assigned),
    )
    return _held_alone(workload, beside_claims(claims, assigned)), parts


def _held_alone(
    workload: WorkloadFact, pod_sets: Sequence[PodSetAssignment]
) -> dict[FlavorResource, int]:
    """Return what assignments without such claims charge now."""
    reclaimable, given, may_shrink = workload.reclaimable, workload.given, bool(workload.slice_of)
    if reclaimable or may_shrink:
        asked = workload.pod_sets
        spec = {one.name: one for one in asked if may_shrink or one.name in reclaimable}
        pod_sets = tuple(
            _scaled(one, spec[one.name], reclaimable.get(one.name, 0)) if one.name in spec else one
            for one in pod_sets
        )
    if given:
        pod_sets = tuple(_lowered(one, given.get(one.name, {})) for one in pod_sets)
    usage = assigned_usage(pod_sets)
    for one, amount in workload.beside.items():
        usage[one] = usage.get(one, 0) + amount
    return usage


def _lowered(assignment: PodSetAssignment, to: Mapping[ResourceName, int]) -> PodSetAssignment:
    """Lower the usage of an assignment to what was allocated, where that is less."""
    usage = {
        resource: min(amount, to.get(resource, amount))
        for resource, amount in assignment.usage.items()
    }
    return replace(assignment, usage=usage)


def _scaled(assignment: PodSetAssignment, pod_set: PodSet, done: int) -> PodSetAssignment:
    """Reduce the usage of an assignment to the remaining pods; a pod's share is rounded up."""
    count, remaining = assignment.count, max(0, pod_set.count - done)
    if remaining >= count:
        return assignment
    whole = {ask.resource: ask.undivided for ask in pod_set.devices}
    usage = {
        resource: amount
        if remaining and assignment.flavors.get(resource) in whole.get(resource, ())
        else min(amount, -(-amount // count) * remaining)
        for resource, amount in assignment.usage.items()
    }
    return replace(assignment, count=remaining, usage=usage)


def _shape_of(
    pod_sets: Sequence[PodSetDemand], job: str, flavors: frozenset[FlavorName] | None
) -> Shape:
    parts: tuple[object, ...] = tuple(
        (
            one.pod_set.name,
            one.pod_set.shape,
            one.count,
            one.pod_set.min_count,
            one.pod_set.group,
            tuple(sorted(one.pod_set.requests.items())),
            tuple(sorted(one.pod_set.node_selector.items())),
            one.pod_set.node_affinity,
            one.pod_set.tolerations,
            one.pod_set.wants_topology,
            one.pod_set.placeable,
            one.pod_set.devices,
        )
        for one in pod_sets
    )
    if job:
        parts = (*parts, job)  # what it is charged depends on the slice that it replaces
    if flavors is not None:
        parts = (*parts, flavors)
    found = _shapes.get(parts)
    if found is None:
        requests: dict[ResourceName, int] = {}
        for one in pod_sets:
            for resource, amount in one.pod_set.requests.items():
                requests[resource] = requests.get(resource, 0) + amount * one.count
        found = _shapes[parts] = Shape(parts, requests)
    return found
