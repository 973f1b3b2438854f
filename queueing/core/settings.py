"""What the operator chose, as far as a decision depends on it."""

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
    """Where a workload evicted for its pods not being ready queues again."""

    EVICTION = "Eviction"
    CREATION = "Creation"


@dataclass(frozen=True, slots=True, kw_only=True)
class FairSharing:
    """Share-based order and preemption; `strategies` in the order in which they are tried."""

    strategies: tuple[str, ...]
    prioritize_non_borrowing: bool = True
    preempt_within_nominal: bool = True


GRAINS = 1_000_000_000
"""Fine enough that no penalty is lost, and whole, so that sums do not drift."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionFairSharing:
    """Usage history that orders the LocalQueues of one ClusterQueue."""

    half_life_s: float
    sampling_interval_s: float = 300.0
    weights: Mapping[ResourceName, float] = field(default_factory=dict)
    grains: int = GRAINS
    """Parts of a whole unit in which penalties are counted, a multiple of 1000."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Read once, at composition; the core never looks anything up."""

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
    """Judge a head anew when victims of an earlier one are among its own."""
    preserve_scan_progress: bool = True
    """A workload that changes goes on with the flavors left to try, if it still asks the same."""
    prioritize_preemptors: bool = False
    """Those whose preemptions are in flight come first among the heads of a round."""
    explicit_reasons: bool = True
    """Give the granular reason of `QuotaReserved=False` instead of `Pending`."""
    block_admission_until_pods_ready: bool = False

    def expects_pods(self, *, admitted: bool) -> bool:
        """Say whether others wait for the pods of one that holds quota to be ready.

        Pods come only after its checks, and until then nobody waits; in Kueue everybody does.
        """
        return admitted or self.compatibility is Compatibility.KUEUE
