"""The part of the configuration that decisions depend on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from queueing.core.names import ResourceName
from queueing.core.topology.requests import KUEUE_DEFAULTS, Profile


class Compatibility(StrEnum):
    """Whether deliberate differences from Kueue are in force."""

    KUEUE = "Kueue"
    QUEUEING = "Queueing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the engine does beyond Kueue; each field is one rule, and Kueue mode has none of them.

    See docs/concepts/waiting.md for what each of them means.
    """

    promises: bool = True
    """Heads are nominated on what will be held once victims have left; what they get of it before
    that is promised to them, and nobody is admitted into quota that is not free."""
    lends_last: bool = True
    """Who borrows waits for the others of its tree, unless it fits beside what these may still take
    of their own nominal quota. With fair sharing, where shares order them, who preempts waits."""
    waits_for_lacks: bool = True
    """Equal workloads wait as one, for what they lack, and not for any event of Kueue's list."""
    nominates_anew: bool = True
    """A head whose victims an earlier one of its round took may take other flavors."""
    keeps_pairs: bool = True
    """No pair of preemptor and victim is repeated until something changes from outside."""
    preempts_in_turn: bool = True
    """Behind one of its queue that waits for others to give back, nobody preempts by shares."""
    spares: bool = True
    """No victim is chosen that is not needed, or that would have the right to come back."""
    weighs_work: bool = True
    """Lost work decides between equal victims, minimum runtimes protect, and limits on preemptions
    in flight hold."""
    waits_for_own_tree: bool = True
    """Pods that are not ready block the admissions of their own tree of cohorts, once admitted."""
    drops_stale_checks: bool = True
    """States of checks that do not apply any more do not delay an admission."""
    evicts_late: bool = True
    """A victim is evicted two seconds after it was chosen, if what it would give back is still
    promised to anybody."""
    moves: bool = True
    """Workloads whose CheckpointPolicy allows it are moved, to open a domain for a larger gang."""
    reserves_beside: bool = True
    """A variant with open admission checks reserves beside the one that runs, which is moved only
    once they are Ready."""


KUEUE_RULES = Rules(**dict.fromkeys(Rules.__dataclass_fields__, False))
OWN_RULES = Rules()


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
    concurrent_admission: bool = False
    """Where ClusterQueues have a policy for it, workloads are admitted through variants."""
    placement: Profile = KUEUE_DEFAULTS
    """How pods are placed by topology."""
    overlapping_flavors: bool = True
    """What is placed through one flavor counts in others that select the same nodes."""
    recompute_placement: bool = True
    """Nominate a head anew if earlier ones of its round took its place in a topology."""
    evicts_unplaceable: bool = True
    """Evict a workload of which a node failed if there is no other node for its pods."""
    keeps_places_of_pods: bool = True
    """A workload that a single pod owns keeps its place though the node failed."""

    grows_in_place: bool = True
    """Pods of an elastic job that changes its size keep their places."""

    rules: Rules = field(init=False, compare=False, repr=False)
    """What the engine does beyond Kueue, by `compatibility`."""

    def __post_init__(self) -> None:
        rules = KUEUE_RULES if self.compatibility is Compatibility.KUEUE else OWN_RULES
        object.__setattr__(self, "rules", rules)

    def expects_pods(self, *, admitted: bool) -> bool:
        """Say whether admission may wait for the pods of a workload that holds quota.

        It does once the workload is admitted, since pods start only then. In Kueue mode it does
        from the reservation on.
        """
        return admitted or not self.rules.waits_for_own_tree
