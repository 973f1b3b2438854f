"""The part of the configuration that decisions depend on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from queueing.core.names import ResourceName


class Compatibility(StrEnum):
    """Whether deliberate differences from Kueue are in force."""

    KUEUE = "Kueue"
    QUEUEING = "Queueing"


class QuotaCheck(StrEnum):
    """What happens to a resource that the ClusterQueue does not cover."""

    BLOCK_UNDECLARED = "BlockUndeclared"
    IGNORE_UNDECLARED = "IgnoreUndeclared"


class RequeuingTimestamp(StrEnum):
    """By which time a workload is queued again after its pods were not ready in time."""

    EVICTION = "Eviction"
    CREATION = "Creation"


@dataclass(frozen=True, slots=True, kw_only=True)
class FairSharing:
    """Share-based order and preemption; `strategies` in the order in which they are tried."""

    strategies: tuple[str, ...]
    prioritize_non_borrowing: bool = True
    preempt_within_nominal: bool = True


GRAINS = 1_000_000_000
"""Grains per whole unit: entry penalties are whole numbers of grains, so that sums are exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionFairSharing:
    """Settings of the usage history that orders the LocalQueues of one ClusterQueue."""

    half_life_s: float
    sampling_interval_s: float = 300.0
    weights: Mapping[ResourceName, float] = field(default_factory=dict)
    grains: int = GRAINS
    """Parts of a whole unit in which entry penalties are counted, a multiple of 1000."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of decisions. They are read once at start and passed to whoever needs them."""

    compatibility: Compatibility = Compatibility.QUEUEING
    fair_sharing: FairSharing | None = None
    admission_fair_sharing: AdmissionFairSharing | None = None
    quota_check: QuotaCheck = QuotaCheck.BLOCK_UNDECLARED
    requeuing_timestamp: RequeuingTimestamp = RequeuingTimestamp.EVICTION
    partial_admission: bool = True
    priority_sorting_within_cohort: bool = True
    flavor_fungibility: bool = True
    equivalence_hashing: bool = True
    recompute_overlapping: bool = True
    """Nominate a head anew if some of its victims are victims of an earlier head."""
    preserve_scan_progress: bool = True
    """A workload that changes goes on with the flavors left to try, if its demand is the same. In
    Kueue mode, so does one that lost its quota to others of the round, and the next attempt goes on
    whatever has changed since."""
    prioritize_preemptors: bool = False
    """Workloads whose preemptions are in progress come first among the heads of a round."""
    explicit_reasons: bool = True
    """Use the specific reason of `QuotaReserved=False` instead of `Pending`."""
    block_admission_until_pods_ready: bool = False

    def expects_pods(self, *, admitted: bool) -> bool:
        """Say whether admission may wait for the pods of a workload that holds quota.

        It does once the workload is admitted, since pods start only then. In Kueue mode it does
        from the reservation on.
        """
        return admitted or self.compatibility is Compatibility.KUEUE
