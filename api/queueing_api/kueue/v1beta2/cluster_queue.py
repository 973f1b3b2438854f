"""ClusterQueue: a pool of resources with quotas, and how workloads queue for it."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.kueue.v1beta2.quota import (
    CohortName,
    FairSharing,
    FairSharingStatus,
    FlavorName,
    FlavorUsages,
    ResourceGroups,
)
from queueing_api.marks import SET, list_map
from queueing_api.meta.v1 import AtomicLabelSelector, Conditions, KubeObject
from queueing_api.wire import Count, Int32, Wire

QueueingStrategy = Literal["StrictFIFO", "BestEffortFIFO"]
StopPolicy = Literal["None", "Hold", "HoldAndDrain"]
FungibilityPolicy = Literal["MayStopSearch", "TryNextFlavor"]
FungibilityPreference = Literal["BorrowingOverPreemption", "PreemptionOverBorrowing"]
WithinClusterQueuePolicy = Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"]
ReclaimPolicy = Literal["Never", "LowerPriority", "Any"]
BorrowWithinCohortPolicy = Literal["Never", "LowerPriority"]
AdmissionMode = Literal["UsageBasedAdmissionFairSharing", "NoAdmissionFairSharing"]
MigrationMode = Literal["TryPreferredFlavors", "RetainFirstAdmission"]


class FlavorFungibility(Wire):
    """When the search for a flavor goes on although one was found."""

    when_can_borrow: FungibilityPolicy = "MayStopSearch"
    """What to do with a flavor in which the workload fits only by borrowing: MayStopSearch takes
    it, TryNextFlavor looks at the next flavors first."""
    when_can_preempt: FungibilityPolicy = "TryNextFlavor"
    """What to do with a flavor in which the workload fits only by preempting: MayStopSearch takes
    it, TryNextFlavor looks at the next flavors first."""
    preference: FungibilityPreference | None = None
    """Which is better when no flavor fits without borrowing or preempting. Unset means
    BorrowingOverPreemption; may be set only when both fields above are TryNextFlavor."""


class BorrowWithinCohort(Wire):
    """Whether workloads may preempt in other ClusterQueues while they borrow themselves."""

    policy: BorrowWithinCohortPolicy = "Never"
    """Never, or LowerPriority: workloads of lower priority in other ClusterQueues of the cohort
    may be preempted even when the preemptor then borrows. Not used with fair sharing."""
    max_priority_threshold: Int32 | None = None
    """Highest priority that a victim may have. Unset means that only the preemptor's priority
    counts."""


class ClusterQueuePreemption(Wire):
    """Which workloads may be evicted so that a pending one fits."""

    reclaim_within_cohort: ReclaimPolicy = "Never"
    """Victims in other ClusterQueues that borrow, when a pending workload fits its own nominal
    quota: Never, LowerPriority than the preemptor, or Any."""
    borrow_within_cohort: BorrowWithinCohort = BorrowWithinCohort()
    """Whether workloads may preempt in the cohort while they borrow."""
    within_cluster_queue: WithinClusterQueuePolicy = "Never"
    """Victims in the same ClusterQueue: Never, LowerPriority, or LowerOrNewerEqualPriority, which
    adds those of equal priority that are newer than the preemptor."""


class AdmissionCheckStrategyRule(Wire):
    """An admission check, and the flavors for which it is needed."""

    name: Annotated[str, Field(max_length=316)]
    """AdmissionCheck that must be ready."""
    on_flavors: Annotated[list[FlavorName], Field(max_length=64), SET] = Field(default_factory=list)
    """Flavors for which the check is needed. Empty means all flavors."""


class AdmissionChecksStrategy(Wire):
    """Checks that stand between reserved quota and admission."""

    admission_checks: Annotated[
        list[AdmissionCheckStrategyRule], Field(min_length=1, max_length=64), list_map("name")
    ]
    """The checks, at most one rule for each."""


class AdmissionScope(Wire):
    """What admission fair sharing looks at in this ClusterQueue."""

    admission_mode: AdmissionMode
    """UsageBasedAdmissionFairSharing orders workloads by the past usage of their LocalQueues;
    NoAdmissionFairSharing does not."""


class MigrationConstraints(Wire):
    """Bounds of a migration to another flavor."""

    last_acceptable_flavor_name: FlavorName | None = None
    """Last flavor, in the order of the resource group, that a running workload may be moved to.
    Unset means that all are acceptable."""


class ConcurrentAdmissionMigration(Wire):
    """What happens when a better flavor becomes free for a running workload."""

    mode: MigrationMode
    """TryPreferredFlavors moves the workload to a better flavor; RetainFirstAdmission leaves it
    where it was admitted first."""
    constraints: MigrationConstraints | None = None
    """Bounds of the migration."""


class ConcurrentAdmissionPolicy(Wire):
    """How workloads wait in several flavors at once."""

    migration: ConcurrentAdmissionMigration
    """What happens after the first admission."""


class ClusterQueueSpec(Wire):
    """What a ClusterQueue offers, and to whom."""

    resource_groups: ResourceGroups = Field(default_factory=list)
    """Sets of resources with their flavors and quotas. At most 256 resources and 256 flavors over
    all groups, and 512 combinations within a group."""
    cohort_name: CohortName | None = None
    """Cohort below which this ClusterQueue stands; those of one cohort lend each other what is
    idle. The Cohort object need not exist."""
    queueing_strategy: QueueingStrategy = "BestEffortFIFO"
    """How workloads wait, always by priority and then by age: with StrictFIFO the first blocks
    those behind it until it fits; with BestEffortFIFO later ones that fit may pass it."""
    namespace_selector: AtomicLabelSelector | None = None
    """Namespaces whose workloads may use this ClusterQueue. Unset means none, an empty selector
    means all."""
    flavor_fungibility: FlavorFungibility = FlavorFungibility()
    """When the search for a flavor goes on although one was found."""
    preemption: ClusterQueuePreemption = ClusterQueuePreemption()
    """Which workloads may be evicted so that a pending one fits."""
    admission_checks_strategy: AdmissionChecksStrategy | None = None
    """Checks that must be ready before a workload with reserved quota is admitted."""
    stop_policy: StopPolicy = "None"
    """Hold stops new admissions and cancels reservations that are not yet admitted;
    HoldAndDrain also evicts what is admitted; None lets work go on."""
    fair_sharing: FairSharing | None = None
    """How much this ClusterQueue counts when the cohort's idle resources are shared out. Used
    only while fair sharing is switched on."""
    admission_scope: AdmissionScope | None = None
    """What admission fair sharing looks at. Unset means that it is off here."""
    concurrent_admission_policy: ConcurrentAdmissionPolicy | None = None
    """How workloads wait in several flavors at once. Immutable; needs exactly one resource group
    of at most 16 flavors, and not StrictFIFO."""


class ClusterQueueStatus(Wire):
    """How full a ClusterQueue is."""

    conditions: Conditions = Field(default_factory=list)
    """Observations: Active says whether workloads can be admitted, and what is missing."""
    flavors_reservation: FlavorUsages = Field(default_factory=list)
    """Quota reserved by workloads, admitted or still in their checks, by flavor and resource."""
    flavors_usage: FlavorUsages = Field(default_factory=list)
    """Quota used by admitted workloads, by flavor and resource."""
    pending_workloads: Count = Field(default_factory=int)
    """Workloads that wait for quota."""
    reserving_workloads: Count = Field(default_factory=int)
    """Workloads that hold quota, admitted or still in their checks."""
    admitted_workloads: Count = Field(default_factory=int)
    """Workloads that are admitted and not finished."""
    fair_sharing: FairSharingStatus | None = None
    """Where this ClusterQueue stands in fair sharing."""


class ClusterQueue(KubeObject):
    """A pool of resources with quotas that workloads of many namespaces queue for."""

    api_version: Literal["kueue.x-k8s.io/v1beta2"] = "kueue.x-k8s.io/v1beta2"
    kind: Literal["ClusterQueue"] = "ClusterQueue"
    spec: ClusterQueueSpec = Field(default_factory=ClusterQueueSpec)
    """What the ClusterQueue offers, and to whom."""
    status: ClusterQueueStatus = Field(default_factory=ClusterQueueStatus)
    """How full it is."""
