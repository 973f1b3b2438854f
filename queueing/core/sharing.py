"""Devices that several pod sets or workloads use by one claim: they are charged once.

A claim that users made is named by pods of whoever they like, and holds the same devices however
many use it. Its part of a charge belongs to the claim, in one queue and flavor-resource. There all
who use it are charged together what the largest of them would be alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from queueing.core.facts import PodSet, PodSetAssignment
from queueing.core.names import FlavorResource, PodSetName, ResourceName, Uid

Amounts = Mapping[FlavorResource, int]


class ClaimCharge(NamedTuple):
    """What a workload is charged for one claim, if nobody else is charged for it."""

    claim: str
    """Uid of the claim."""
    resource: FlavorResource
    amount: int


@dataclass(frozen=True, slots=True)
class Commons:
    """Claims that workloads of a queue hold already, as one sees them who uses them, too."""

    charged: Mapping[tuple[str, FlavorResource], int]
    """What is charged for a claim, by the claim and what it counts as."""
    users: frozenset[Uid] = field(default_factory=frozenset)


class Use(NamedTuple):
    """What one asks or holds: what is its own, and what claims are that others may use, too."""

    own: Amounts
    parts: tuple[ClaimCharge, ...] = ()


class Together:
    """What some hold together: what is the own of each, and each claim at its largest."""

    __slots__ = ("_claims", "total")

    def __init__(self) -> None:
        self.total: dict[FlavorResource, int] = {}
        self._claims: dict[tuple[str, FlavorResource], list[int]] = {}

    def add(self, use: Use) -> None:
        """Count one more in."""
        for resource, amount in self.added_by(use).items():
            self.total[resource] = self.total.get(resource, 0) + amount
        for one in use.parts:
            self._claims.setdefault((one.claim, one.resource), []).append(one.amount)

    def remove(self, use: Use) -> None:
        """Count one out that was counted in."""
        for one in use.parts:
            users = self._claims[one.claim, one.resource]
            users.remove(one.amount)
            if not users:
                del self._claims[one.claim, one.resource]
        for resource, amount in self.added_by(use).items():
            self.total[resource] -= amount

    def added_by(self, use: Use) -> dict[FlavorResource, int]:
        """Return by how much one more would make it more."""
        known = self._claims
        more = (
            one._replace(
                amount=max(0, one.amount - max(known.get((one.claim, one.resource), (0,))))
            )
            for one in use.parts
        )
        return added(use.own, tuple(more))


def claims_of(pod_sets: Iterable[PodSet]) -> frozenset[str]:
    """Return the claims that pod sets use and others may use, too."""
    return frozenset(ask.claim for one in pod_sets for ask in one.devices if ask.claim)


def shared_by(pod_sets: Iterable[PodSet]) -> dict[tuple[PodSetName, ResourceName], str]:
    """Return the claim that what a pod set asks of a resource stands for, where it is one."""
    return {
        (one.name, ask.resource): ask.claim for one in pod_sets for ask in one.devices if ask.claim
    }


def parts_of(
    claims: Mapping[tuple[PodSetName, ResourceName], str], assigned: Iterable[PodSetAssignment]
) -> tuple[ClaimCharge, ...]:
    """Return what assignments charge for claims: of several pod sets with one claim the most."""
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


def added(usage: Amounts, parts: Sequence[ClaimCharge]) -> dict[FlavorResource, int]:
    """Return a usage with what is charged for claims on top."""
    total = dict(usage)
    for one in parts:
        if one.amount:
            total[one.resource] = total.get(one.resource, 0) + one.amount
    return total


def less(usage: Amounts, saved: Amounts) -> Amounts:
    """Return a usage without what is saved of it; what is nothing then is left out."""
    if not saved:
        return usage
    left = {one: amount - saved.get(one, 0) for one, amount in usage.items()}
    return {one: amount for one, amount in left.items() if amount or one not in saved}
