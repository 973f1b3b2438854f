"""What may be done to a Workload besides giving it quota, and why: each step is one write."""

from dataclasses import dataclass
from enum import StrEnum


class EvictionReason(StrEnum):
    """Why a Workload is evicted: the wire's reasons of the `Evicted` condition."""

    PREEMPTED = "Preempted"
    PODS_READY_TIMEOUT = "PodsReadyTimeout"
    ADMISSION_CHECK = "AdmissionCheck"
    CLUSTER_QUEUE_STOPPED = "ClusterQueueStopped"
    LOCAL_QUEUE_STOPPED = "LocalQueueStopped"
    DEACTIVATED = "Deactivated"
    NODE_FAILURES = "NodeFailures"
    """A node that it runs on goes away, or does not answer."""
    GANG_INTERRUPTED = "GangInterrupted"
    """A member of a gang is gone, or cannot start: all of them stop."""
    DEVICES_CHANGED = "DevicesChanged"
    """Its devices are not those any more that quota was given for."""


class Cause(StrEnum):
    """Why a Workload is deactivated by its controller."""

    REQUEUING_LIMIT_EXCEEDED = "RequeuingLimitExceeded"
    MAXIMUM_EXECUTION_TIME_EXCEEDED = "MaximumExecutionTimeExceeded"
    IDLE = "Idle"
    """Its pods said that they do nothing, for longer than its policy lets them."""
    ADMISSION_CHECK = "AdmissionCheck"
    DEVICE_REQUEST_INVALID = "DeviceRequestInvalid"
    """The API server does not take the claims that an admission would be given."""
    UNSUPPORTED_DEVICE_REQUEST = "UnsupportedDeviceRequest"
    NAME_CONFLICT = "NameConflict"
    """A claim template of somebody else has the name that ours must have."""
    COMPUTE_DOMAINS_NOT_INSTALLED = "ComputeDomainsNotInstalled"
    """A flavor gives its devices within a ComputeDomain, and the server knows no such kind."""


class Return(StrEnum):
    """Why a Workload may queue again: the wire's reasons of `Requeued=True`."""

    REACTIVATED = "Reactivated"
    BACKOFF_FINISHED = "BackoffFinished"
    CLUSTER_QUEUE_RESTARTED = "ClusterQueueRestarted"
    LOCAL_QUEUE_RESTARTED = "LocalQueueRestarted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmAdmission:
    """All checks are ready: set Admitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evict:
    """Mark as Evicted; the job is stopped and quota released afterwards."""

    reason: EvictionReason
    message: str
    cause: str = ""
    requeue_at: float | None = None
    requeue_count: int | None = None
    """None leaves the count as it is."""

    @property
    def wire_reason(self) -> str:
        """The reason of the condition, with the cause of a deactivation."""
        return f"{self.reason}DueTo{self.cause}" if self.cause else str(self.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Condemn:
    """Set DeactivationTarget: the step before `spec.active` is switched off."""

    cause: Cause
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deactivate:
    """Set `spec.active` to false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requeue:
    """Set Requeued to True: the Workload may queue again."""

    reason: Return


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove:
    """Delete the object: its retention is over."""

    with_owner: bool = False
    """Its job goes too: left alone, it would be queued again."""


Step = ConfirmAdmission | Evict | Condemn | Deactivate | Requeue | Remove
