"""Devices that several pod sets or workloads use by the same ResourceClaim: they are charged once.

Pods of any workload may name a ResourceClaim that users created. It has the same devices however
many pods use it. So within one ClusterQueue and flavor-resource, all workloads that use a claim are
together charged for it as much as the largest of them alone (docs/decisions/0047).

The slices of an elastic job share all that they use in the same way, as if it was by one claim: a
slice that replaces another is charged beside it only for the difference, on the same flavors.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from queueing.core.facts import PodSet, PodSetAssignment
from queueing.core.names import FlavorName, FlavorResource, PodSetName, ResourceName, Uid
from queueing.core.topology.assignment import Occupancy

Amounts = Mapping[FlavorResource, int]
Flavors = Sequence[Mapping[ResourceName, FlavorName]]
"""The flavors of each pod set, in order."""


class ClaimCharge(NamedTuple):
    """What a workload is charged for one claim, if no other workload uses it."""

    claim: str
    """Uid of the claim, or the elastic job of which the workload is a slice."""
    resource: FlavorResource
    amount: int


@dataclass(frozen=True, slots=True)
class Commons:
    """Those claims of a pending workload that other workloads of its queue already use."""

    charged: Mapping[tuple[str, FlavorResource], int]
    """(Claim, flavor-resource) → what is charged for it."""
    users: frozenset[Uid] = field(default_factory=frozenset)
    """The workloads that use them."""
    pod_sets: Sequence[PodSetAssignment] = ()
    """What the slice has that a slice replaces: this one must get the same flavors. Else empty."""
    places: Sequence[Occupancy] = ()
    """What that slice uses of leaves."""

    @property
    def flavors(self) -> Flavors:
        return tuple(one.flavors for one in self.pod_sets)


class Use(NamedTuple):
    """What a workload requests or holds: its own usage, and its parts of shared claims."""

    own: Amounts
    parts: tuple[ClaimCharge, ...] = ()


def shared_by(pod_sets: Iterable[PodSet]) -> dict[tuple[PodSetName, ResourceName], str]:
    """Return, for each request of a pod set that is by such a claim, that claim."""
    return {
        (one.name, ask.resource): ask.claim for one in pod_sets for ask in one.devices if ask.claim
    }


def parts_of(
    claims: Mapping[tuple[PodSetName, ResourceName], str], assigned: Iterable[PodSetAssignment]
) -> tuple[ClaimCharge, ...]:
    """Return what assignments charge for claims: per claim, the largest amount of any pod set."""
    found: dict[tuple[str, FlavorResource], int] = {}
    for one in assigned:
        for resource, amount in one.usage.items():
            claim, flavor = claims.get((one.name, resource)), one.flavors.get(resource)
            if claim is not None and flavor is not None:
                key = claim, FlavorResource(flavor, resource)
                found[key] = max(found.get(key, 0), amount)
    return tuple(ClaimCharge(*key, amount) for key, amount in sorted(found.items()))


def beside_claims(
    claims: Mapping[tuple[PodSetName, ResourceName], str], assigned: Iterable[PodSetAssignment]
) -> tuple[PodSetAssignment, ...]:
    """Return assignments without what they charge for claims."""
    return tuple(
        replace(one, usage={r: n for r, n in one.usage.items() if (one.name, r) not in claims})
        for one in assigned
    )


def slice_parts(job: str, usage: Amounts) -> tuple[ClaimCharge, ...]:
    """Return the usage of a slice of an elastic job, all of which it shares with other slices."""
    return tuple(ClaimCharge(job, *one) for one in sorted(usage.items()))


def added(usage: Amounts, parts: Sequence[ClaimCharge]) -> dict[FlavorResource, int]:
    """Return a usage plus what is charged for claims."""
    total = dict(usage)
    for one in parts:
        if one.amount:
            total[one.resource] = total.get(one.resource, 0) + one.amount
    return total


def less(usage: Amounts, saved: Amounts) -> Amounts:
    """Return a usage minus `saved`; saved resources of which nothing is left are left out."""
    if not saved:
        return usage
    left = {one: amount - saved.get(one, 0) for one, amount in usage.items()}
    return {one: amount for one, amount in left.items() if amount or one not in saved}
