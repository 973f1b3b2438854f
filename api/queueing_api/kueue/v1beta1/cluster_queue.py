"""ClusterQueue as v1beta1 spells it: `cohort`, plain admission checks, old fungibility words."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.kueue.v1beta2.cluster_queue import (
    AdmissionChecksStrategy,
    AdmissionScope,
    ClusterQueuePreemption,
    ClusterQueueStatus,
    ConcurrentAdmissionPolicy,
    FungibilityPreference,
    QueueingStrategy,
    StopPolicy,
)
from queueing_api.kueue.v1beta2.quota import CohortName, FairSharing, ResourceGroups
from queueing_api.marks import SET
from queueing_api.meta.v1 import AtomicLabelSelector, KubeObject
from queueing_api.wire import Wire

CheckName = Annotated[str, Field(max_length=316)]


class FlavorFungibility(Wire):
    """When the search for a flavor goes on although one was found."""

    when_can_borrow: Literal["Borrow", "MayStopSearch", "TryNextFlavor"] = "Borrow"
    """What to do with a flavor in which the workload fits only by borrowing: Borrow (the same as
    MayStopSearch) takes it, TryNextFlavor looks at the next flavors first."""
    when_can_preempt: Literal["Preempt", "MayStopSearch", "TryNextFlavor"] = "TryNextFlavor"
    """What to do with a flavor in which the workload fits only by preempting: Preempt (the same as
    MayStopSearch) takes it, TryNextFlavor looks at the next flavors first."""
    preference: FungibilityPreference | None = None
    """Which is better when no flavor fits without borrowing or preempting. Unset means
    BorrowingOverPreemption; may be set only when both fields above are TryNextFlavor."""


class ClusterQueueSpec(Wire):
    """What a ClusterQueue offers, and to whom."""

    resource_groups: ResourceGroups = Field(default_factory=list)
    """Sets of resources with their flavors and quotas. At most 256 resources and 256 flavors over
    all groups, and 512 combinations within a group."""
    cohort: CohortName | None = None
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
    admission_checks: Annotated[list[CheckName], Field(max_length=64), SET] = Field(
        default_factory=list
    )
    """Checks that every workload needs, whatever its flavors. Not together with
    admissionChecksStrategy."""
    admission_checks_strategy: AdmissionChecksStrategy | None = None
    """Checks that must be ready before a workload with reserved quota is admitted. Not together
    with admissionChecks."""
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


class ClusterQueue(KubeObject):
    """A pool of resources with quotas that workloads of many namespaces queue for."""

    api_version: Literal["kueue.x-k8s.io/v1beta1"] = "kueue.x-k8s.io/v1beta1"
    kind: Literal["ClusterQueue"] = "ClusterQueue"
    spec: ClusterQueueSpec = Field(default_factory=ClusterQueueSpec)
    """What the ClusterQueue offers, and to whom."""
    status: ClusterQueueStatus = Field(default_factory=ClusterQueueStatus)
    """How full it is."""
