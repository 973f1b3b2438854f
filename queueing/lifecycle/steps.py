"""The writes to a Workload besides those about quota, and their reasons: each step is one write."""

from dataclasses import dataclass
from enum import StrEnum

from queueing.core.devices import UNSUPPORTED


class EvictionReason(StrEnum):
    """Why a Workload is evicted: the reasons of the condition `Evicted`."""

    PREEMPTED = "Preempted"
    PODS_READY_TIMEOUT = "PodsReadyTimeout"
    ADMISSION_CHECK = "AdmissionCheck"
    CLUSTER_QUEUE_STOPPED = "ClusterQueueStopped"
    LOCAL_QUEUE_STOPPED = "LocalQueueStopped"
    DEACTIVATED = "Deactivated"
    FLAVOR_MIGRATION = "FlavorMigration"
    """It is a variant, and makes way for one of the same workload in a more favorable flavor."""
    VARIANT_EVICTED = "VariantEvicted"
    """The variant by whose admission it runs is evicted."""
    CONCURRENT_ADMISSION = "ConcurrentAdmission"
    """The variant by whose admission it ran does not hold it any more."""
    NODE_FAILURES = "NodeFailures"
    """A node that it runs on goes away, or does not respond."""
    GANG_INTERRUPTED = "GangInterrupted"
    """A Job of a gang was deleted, or cannot start, so all of them stop."""
    UNREADABLE = "Unreadable"
    """Its job asks for pods in a way that can no longer be read, while pods of it were admitted."""
    DEVICES_CHANGED = "DevicesChanged"
    """Its devices no longer match those that quota was reserved for."""


class Cause(StrEnum):
    """Why a Workload is deactivated by its controller."""

    REQUEUING_LIMIT_EXCEEDED = "RequeuingLimitExceeded"
    MAXIMUM_EXECUTION_TIME_EXCEEDED = "MaximumExecutionTimeExceeded"
    IDLE = "Idle"
    """Its pods were idle for longer than its CheckpointPolicy allows."""
    ADMISSION_CHECK = "AdmissionCheck"
    DEVICE_REQUEST_INVALID = "DeviceRequestInvalid"
    """The API server refuses the ResourceClaims that its admission needs."""
    UNSUPPORTED_DEVICE_REQUEST = UNSUPPORTED
    NAME_CONFLICT = "NameConflict"
    """The name of its claim template is taken by an object that is not ours."""
    COMPUTE_DOMAINS_NOT_INSTALLED = "ComputeDomainsNotInstalled"
    """Its flavor uses a ComputeDomain, and the API server has no such kind."""


class PodsUnready(StrEnum):
    """Why `PodsReady` is False; the underlying cause of an eviction for `PodsReadyTimeout`."""

    WAIT_FOR_START = "WaitForStart"
    """Not all pods have been ready since the admission."""
    WAIT_FOR_RECOVERY = "WaitForRecovery"
    """All pods were ready, and some no longer are."""


class Return(StrEnum):
    """Why a Workload may be queued again: the reasons of the condition `Requeued=True`."""

    REACTIVATED = "Reactivated"
    BACKOFF_FINISHED = "BackoffFinished"
    CLUSTER_QUEUE_RESTARTED = "ClusterQueueRestarted"
    LOCAL_QUEUE_RESTARTED = "LocalQueueRestarted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmAdmission:
    """Set `Admitted`: all admission checks are ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evict:
    """Set `Evicted`; the job is stopped and quota released afterwards."""

    reason: EvictionReason
    message: str
    cause: str = ""
    """The underlying cause, as `schedulingStats` and metrics tell it; empty if there is none."""
    requeue_at: float | None = None
    requeue_count: int | None = None
    """None leaves the count unchanged."""

    @property
    def wire_reason(self) -> str:
        """The reason of the condition, with the cause of a deactivation."""
        deactivated = self.reason is EvictionReason.DEACTIVATED
        return f"{self.reason}DueTo{self.cause}" if deactivated and self.cause else self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Condemn:
    """Set `DeactivationTarget`: the step before `spec.active` is set to false."""

    cause: Cause
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deactivate:
    """Set `spec.active` to false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requeue:
    """Set `Requeued` to True: the Workload may be queued again."""

    reason: Return


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """Set `QuotaReserved` and `Requeued` to False: the cluster has too few devices for it.

    Without a message it has enough now, and both conditions are removed.
    """

    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove:
    """Delete the object: its retention is over."""

    with_owner: bool = False
    """Whether its job is deleted, too; otherwise that would be queued again."""


Step = ConfirmAdmission | Evict | Condemn | Deactivate | Requeue | SetAside | Remove
