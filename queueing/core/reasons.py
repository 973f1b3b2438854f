"""What prevents a workload from being admitted (obstacles), and all messages that say so."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

from queueing.core.decisions import Reason
from queueing.core.names import FlavorName, FlavorResource, PodSetName, ResourceName
from queueing.core.quantities import quantity
from queueing.core.values import value

OVERLAPPING = "Workload has overlapping preemption targets with another workload"
DEFERRED = f"{OVERLAPPING}, but will fit after these preemptions complete"
NO_LONGER_FITS = "Workload no longer fits after processing another workload"
AWAITS_RELEASE = (
    "Workload fits only once the workloads preempted for another one have released their quota"
)
TOO_MANY_LEAVE = (
    "Workload requires preemption, and as many workloads as its cohort allows are leaving already"
)
GATED = "Workload requires preemption, but it's gated"
PODS_NOT_READY = "waiting for all admitted workloads to be in PodsReady condition"


class Severity(IntEnum):
    """How unlikely an obstacle is to go away by itself; of several groups the largest counts."""

    TOPOLOGY_PLACEMENT_FAILED = 0
    WAITING_FOR_QUOTA = 1
    EXCEEDS_MAX_QUOTA = 2
    NO_MATCHING_FLAVOR = 3

    @property
    def condition_reason(self) -> Reason:
        """The reason of `QuotaReserved=False`, which has the same name."""
        return Reason[self.name]


@dataclass(frozen=True, slots=True)
class Unsuitable:
    """A flavor that cannot be used at all."""

    text: str

    severity: ClassVar[Severity] = Severity.NO_MATCHING_FLAVOR


@dataclass(frozen=True, slots=True)
class NoLevel(Unsuitable):
    """A flavor whose topology lacks the level that the pods ask for."""

    levels: Sequence[str]


class NoPlace(Unsuitable):
    """Nodes of a flavor that have no place for the pods now, though there is quota."""

    __slots__ = ()
    severity: ClassVar[Severity] = Severity.TOPOLOGY_PLACEMENT_FAILED


@dataclass(frozen=True, slots=True)
class Uncovered:
    """A resource that no resource group of the queue covers."""

    resource: ResourceName

    severity: ClassVar[Severity] = Severity.NO_MATCHING_FLAVOR

    @property
    def text(self) -> str:
        """The message for the status."""
        return f"resource {self.resource} unavailable in ClusterQueue"


class Unreadable(Unsuitable):
    """The node affinity of the pods is invalid, so no further flavor is tried."""

    __slots__ = ()


@value(kw_only=False)
class Shortage:
    """A flavor-resource of which more is requested than is free now."""

    resource: FlavorResource
    asked: int
    missing: int

    severity = Severity.WAITING_FOR_QUOTA

    @property
    def text(self) -> str:
        """The message for the status."""
        flavor, name = self.resource
        more = quantity(name, self.missing)
        return f"insufficient unused quota for {name} in flavor {flavor}, {more} more needed"


@dataclass(frozen=True, slots=True)
class Excess:
    """A flavor-resource of which more is requested than can ever be free."""

    resource: FlavorResource
    earlier: int
    asked: int
    capacity: int

    severity = Severity.EXCEEDS_MAX_QUOTA

    @property
    def text(self) -> str:
        """The message for the status."""
        flavor, name = self.resource
        return (
            f"insufficient quota for {name} in flavor {flavor}, previously considered podsets "
            f"requests ({quantity(name, self.earlier)}) + current podset request "
            f"({quantity(name, self.asked)}) > maximum capacity ({quantity(name, self.capacity)})"
        )


Obstacle = Unsuitable | Uncovered | Shortage | Excess


def not_nominated(flavor: FlavorName, resource: ResourceName) -> Unsuitable:
    """Return the obstacle for a flavor that a head which is nominated anew did not have before."""
    return Unsuitable(
        f"skipping flavor {flavor} as it is not found in the nomination mapping"
        f" for resource {resource}"
    )


def not_allowed(flavor: FlavorName) -> Unsuitable:
    """Return the obstacle for a flavor that the annotation of a workload does not name."""
    return Unsuitable(
        f"skipping flavor {flavor} due to WorkloadAllowedResourceFlavorAnnotation annotation"
    )


def not_of_slice(flavor: FlavorName, kept: FlavorName) -> Unsuitable:
    """Return the obstacle for a flavor that the slice which a workload replaces does not have."""
    return Unsuitable(
        f"could not assign {flavor} flavor since the original workload is assigned: {kept}"
    )


def describe(troubles: Iterable[tuple[PodSetName, Sequence[Obstacle]]]) -> str:
    """Return the message with the obstacles of each pod set; an `Unreadable` one stands alone."""
    told = []
    for name, obstacles in troubles:
        for one in obstacles:
            if isinstance(one, Unreadable):
                return f"failed to assign flavors to pod set {name}: {one.text}"
        if obstacles:
            listed = ", ".join(sorted(obstacle.text for obstacle in obstacles))
            told.append(f"couldn't assign flavors to pod set {name}: {listed}")
    return "; ".join(told)


def pending_preemption(message: str, victims: int) -> str:
    """Return the message of a preemptor that waits for its victims."""
    return f"{message}. Pending the preemption of {victims} workload(s)"


def pending_move(message: str, victims: int) -> str:
    """Return the message of a gang for which others are moved to another place."""
    return f"{message}. Pending the move of {victims} workload(s) to another place"


def pending_migration(message: str, variants: int) -> str:
    """Return the message of a variant that waits for less favorable ones to leave."""
    told = f"Pending the migration of {variants} workload(s)"
    return f"{message}. {told}" if message else told


def passed_over(troubles: Iterable[tuple[PodSetName, Sequence[Obstacle]]]) -> str:
    """Return a text with the flavors that an assignment which fits considered and passed over."""
    parts = [
        f"{name}: {'; '.join(obstacle.text for obstacle in obstacles)}"
        for name, obstacles in troubles
        if obstacles
    ]
    return ", ".join(parts)
