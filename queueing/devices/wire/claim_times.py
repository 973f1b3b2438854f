"""When the claims of pods were made, and when they were allocated."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from queueing.devices.wire.delays import Pod
from queueing.translate.wire.meta import Meta, Wire


class _Allocation(Wire, frozen=True):
    allocation_timestamp: datetime | None = None


class _ClaimStatus(Wire, frozen=True):
    allocation: _Allocation | None = None


class TimedClaim(Wire, frozen=True):
    """A ResourceClaim, read for its times."""

    metadata: Meta
    status: _ClaimStatus = _ClaimStatus()


@dataclass(frozen=True, slots=True)
class ClaimTimes:
    """The times of one claim, epoch seconds; None while it is not allocated."""

    name: str
    made: float
    allocated: float | None


def uses_claims(pods: Iterable[Pod]) -> bool:
    """Say whether any of the pods is to have devices by a claim."""
    return any(pod.spec.resource_claims for pod in pods)


def claim_times(pods: Iterable[Pod], claims: Iterable[TimedClaim]) -> Iterator[ClaimTimes]:
    """Yield the times of the claims that pods own or share, in the order of the claims.

    Where the API server does not say when a claim was allocated, that is when the first pod that
    uses it got its node: the scheduler does both together.
    """
    users: dict[str, list[Pod]] = {}
    for pod in pods:
        named = (one.resource_claim_name for one in pod.spec.resource_claims)
        made = (one.resource_claim_name for one in pod.status.resource_claim_statuses)
        for name in filter(None, (*named, *made)):
            users.setdefault(name, []).append(pod)
    for claim in claims:
        name = claim.metadata.name
        if name in users:
            yield ClaimTimes(name, claim.metadata.created, _allocated(claim, users[name]))


def _allocated(claim: TimedClaim, users: Iterable[Pod]) -> float | None:
    found = claim.status.allocation
    if found is not None and found.allocation_timestamp is not None:
        return found.allocation_timestamp.timestamp()
    return min(filter(None, map(scheduled, users)), default=None)


def scheduled(pod: Pod) -> float | None:
    """Return when a pod got its node; None if it has none."""
    return true_since(pod, "PodScheduled")


def true_since(pod: Pod, kind: str) -> float | None:
    """Return since when a condition of a pod is True; None if it is not, or not any more."""
    found = next((one for one in pod.status.conditions if one.type == kind), None)
    return found.changed if found is not None and found.status == "True" else None
