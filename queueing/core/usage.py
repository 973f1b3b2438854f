"""What workloads request (demands) and what they hold (usage, in flavor-resources)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from typing_extensions import override

from queueing.core.facts import PodSet, PodSetAssignment, WorkloadFact
from queueing.core.names import FlavorName, FlavorResource, PodSetName, ResourceName
from queueing.core.sharing import ClaimCharge, added, beside_claims, claims_of, parts_of, shared_by


@dataclass(frozen=True, slots=True)
class Shape:
    """Everything of a workload's pod sets that flavor assignment depends on.

    Equal shapes get equal answers from the same queue in the same state. The hash is stored,
    because shapes are keys of memos on the hot path.
    """

    digest: int
    parts: tuple[object, ...]

    @override
    def __hash__(self) -> int:
        return self.digest


@dataclass(frozen=True, slots=True)
class PodSetDemand:
    """A pod set and how many of its pods are still to run."""

    pod_set: PodSet
    count: int


@dataclass(frozen=True, slots=True)
class Demand:
    """What a pending workload requests now. Workloads of equal shape share one object."""

    pod_sets: tuple[PodSetDemand, ...]
    shape: Shape
    full: Shape
    """The shape with all pods; it differs from `shape` if partial admission lowered a count."""
    claims: frozenset[str] = frozenset()
    """Uids of the ResourceClaims that it uses and other workloads may use, too."""

    def reduced(self, counts: Sequence[int]) -> "Demand":
        """Return the same demand with other pod counts."""
        pod_sets = tuple(
            PodSetDemand(one.pod_set, count)
            for one, count in zip(self.pod_sets, counts, strict=True)
        )
        return Demand(pod_sets, _shape_of(pod_sets), self.full, self.claims)

    @property
    def may_shrink(self) -> bool:
        """Whether partial admission may lower a count."""
        return any(
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
    shape = _shape_of(pod_sets)
    return Demand(pod_sets, shape, shape, claims_of(workload.pod_sets))


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

    A claim is charged whole as long as any pod of the workload uses it.
    """
    if workload.admission is None:
        return {}, ()
    claims = shared_by(workload.pod_sets)
    parts: tuple[ClaimCharge, ...] = ()
    if claims:
        parts = _held_claims(workload, claims)
        alone = beside_claims(claims, workload.admission.pod_sets)
        workload = replace(workload, admission=replace(workload.admission, pod_sets=alone))
    return _held_alone(workload), parts


def _held_alone(workload: WorkloadFact) -> dict[FlavorResource, int]:
    if workload.admission is None:
        return {}
    pod_sets, reclaimable, given = workload.admission.pod_sets, workload.reclaimable, workload.given
    if reclaimable:
        remaining = {
            one.name: max(0, one.count - reclaimable[one.name])
            for one in workload.pod_sets
            if one.name in reclaimable
        }
        whole = {
            (one.name, ask.resource): ask.undivided
            for one in workload.pod_sets
            for ask in one.devices
            if ask.undivided
        }
        pod_sets = tuple(
            _scaled(one, remaining.get(one.name, one.count), whole) for one in pod_sets
        )
    if given:
        pod_sets = tuple(_lowered(one, given.get(one.name, {})) for one in pod_sets)
    usage = assigned_usage(pod_sets)
    for one, amount in workload.beside.items():
        usage[one] = usage.get(one, 0) + amount
    return usage


def _held_claims(
    workload: WorkloadFact, claims: Mapping[tuple[PodSetName, ResourceName], str]
) -> tuple[ClaimCharge, ...]:
    """Return what is charged for claims that any pod which is still to run uses."""
    if workload.admission is None:
        return ()
    done, given = workload.reclaimable, workload.given
    alive = {one.name for one in workload.pod_sets if done.get(one.name, 0) < one.count}
    used = {claim for (name, _), claim in claims.items() if name in alive}
    kept = {key: claim for key, claim in claims.items() if claim in used}
    lowered = (_lowered(one, given.get(one.name, {})) for one in workload.admission.pod_sets)
    return parts_of(kept, lowered)


def _lowered(assignment: PodSetAssignment, to: Mapping[ResourceName, int]) -> PodSetAssignment:
    """Lower the usage of an assignment to what was allocated, where that is less."""
    usage = {
        resource: min(amount, to.get(resource, amount))
        for resource, amount in assignment.usage.items()
    }
    return replace(assignment, usage=usage)


Whole = Mapping[tuple[PodSetName, ResourceName], frozenset[FlavorName]]
"""(Pod set, resource) → flavors in which one claim of all its pods is charged for that."""


def _scaled(assignment: PodSetAssignment, remaining: int, whole: Whole) -> PodSetAssignment:
    """Reduce the usage of an assignment to the remaining pods; a pod's share is rounded up."""
    count, flavors = assignment.count, assignment.flavors
    if remaining >= count:
        return assignment
    return PodSetAssignment(
        name=assignment.name,
        count=remaining,
        flavors=assignment.flavors,
        usage={
            resource: amount
            if remaining and flavors.get(resource) in whole.get((assignment.name, resource), ())
            else min(amount, -(-amount // count) * remaining)
            for resource, amount in assignment.usage.items()
        },
    )


def _shape_of(pod_sets: Sequence[PodSetDemand]) -> Shape:
    parts = tuple(
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
            one.pod_set.devices,
        )
        for one in pod_sets
    )
    return Shape(hash(parts), parts)
