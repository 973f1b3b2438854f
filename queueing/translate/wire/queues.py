"""The admin's objects: queues, cohorts, flavors, checks, topologies and priority classes."""
# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty default

from datetime import datetime

from queueing.translate.wire.meta import Condition, LabelSelector, Meta, Quantity, Wire
from queueing.translate.wire.pods import Taint, Toleration


class ResourceQuota(Wire, frozen=True):
    """Quota of one resource in one flavor."""

    name: str
    nominal_quota: Quantity = 0
    borrowing_limit: Quantity | None = None
    lending_limit: Quantity | None = None


class FlavorQuotas(Wire, frozen=True):
    """Quotas of one flavor."""

    name: str
    resources: list[ResourceQuota] = []


class ResourceGroup(Wire, frozen=True):
    """Resources that get their flavor together."""

    covered_resources: list[str] = []
    flavors: list[FlavorQuotas] = []


class Fungibility(Wire, frozen=True):
    """`flavorFungibility` with its defaults."""

    when_can_borrow: str = "MayStopSearch"
    when_can_preempt: str = "TryNextFlavor"
    preference: str = "BorrowingOverPreemption"


class BorrowWithinCohort(Wire, frozen=True):
    """Preemption while borrowing."""

    policy: str = "Never"
    max_priority_threshold: int | None = None


class Preemption(Wire, frozen=True):
    """`preemption` with its defaults."""

    within_cluster_queue: str = "Never"
    reclaim_within_cohort: str = "Never"
    borrow_within_cohort: BorrowWithinCohort = BorrowWithinCohort()


class CheckRule(Wire, frozen=True):
    """An admission check of a queue."""

    name: str
    on_flavors: list[str] = []


class ChecksStrategy(Wire, frozen=True):
    """`admissionChecksStrategy`."""

    admission_checks: list[CheckRule] = []


class FairSharing(Wire, frozen=True):
    """`fairSharing` of a spec."""

    weight: Quantity = 1


class AdmissionScope(Wire, frozen=True):
    """`admissionScope`: whether usage history orders the LocalQueues."""

    admission_mode: str = ""


class MigrationConstraints(Wire, frozen=True):
    """`concurrentAdmissionPolicy.migration.constraints`."""

    last_acceptable_flavor_name: str = ""


class Migration(Wire, frozen=True):
    """`concurrentAdmissionPolicy.migration`."""

    mode: str = ""
    constraints: MigrationConstraints = MigrationConstraints()


class ConcurrentAdmission(Wire, frozen=True):
    """`concurrentAdmissionPolicy`: workloads wait in all flavors at once."""

    migration: Migration = Migration()


class ClusterQueueSpec(Wire, frozen=True):
    """Spec of a ClusterQueue."""

    resource_groups: list[ResourceGroup] = []
    cohort_name: str = ""
    queueing_strategy: str = "BestEffortFIFO"
    namespace_selector: LabelSelector | None = None
    flavor_fungibility: Fungibility = Fungibility()
    preemption: Preemption = Preemption()
    admission_checks_strategy: ChecksStrategy = ChecksStrategy()
    stop_policy: str = "None"
    fair_sharing: FairSharing = FairSharing()
    admission_scope: AdmissionScope = AdmissionScope()
    concurrent_admission_policy: ConcurrentAdmission | None = None


class ResourceUsage(Wire, frozen=True):
    """Usage of one resource in a queue's status."""

    name: str
    total: Quantity = 0
    borrowed: Quantity = 0


class FlavorUsage(Wire, frozen=True):
    """Usage of one flavor in a queue's status."""

    name: str
    resources: list[ResourceUsage] = []


class UsageHistory(Wire, frozen=True):
    """`status.fairSharing.admissionFairSharingStatus` of a LocalQueue."""

    consumed_resources: dict[str, Quantity | None] = {}
    """A null is a resource that a patch of ours takes away."""
    last_update: datetime | None = None


class ShareStatus(Wire, frozen=True):
    """`status.fairSharing`."""

    weighted_share: int = 0
    admission_fair_sharing_status: UsageHistory | None = None


class QueueStatus(Wire, frozen=True):
    """Status of a ClusterQueue or a LocalQueue, as last written."""

    conditions: list[Condition] = []
    pending_workloads: int = 0
    reserving_workloads: int = 0
    admitted_workloads: int = 0
    flavors_reservation: list[FlavorUsage] = []
    flavors_usage: list[FlavorUsage] = []
    fair_sharing: ShareStatus | None = None


class ClusterQueue(Wire, frozen=True):
    """A ClusterQueue."""

    metadata: Meta
    spec: ClusterQueueSpec = ClusterQueueSpec()
    status: QueueStatus = QueueStatus()


class CohortSpec(Wire, frozen=True):
    """Spec of a Cohort."""

    parent_name: str = ""
    resource_groups: list[ResourceGroup] = []
    fair_sharing: FairSharing = FairSharing()


class CohortStatus(Wire, frozen=True):
    """Status of a Cohort."""

    fair_sharing: ShareStatus | None = None


class Cohort(Wire, frozen=True):
    """A Cohort."""

    metadata: Meta
    spec: CohortSpec = CohortSpec()
    status: CohortStatus = CohortStatus()


class LocalQueueSpec(Wire, frozen=True):
    """Spec of a LocalQueue."""

    cluster_queue: str = ""
    stop_policy: str = "None"
    fair_sharing: FairSharing = FairSharing()


class LocalQueue(Wire, frozen=True):
    """A LocalQueue."""

    metadata: Meta
    spec: LocalQueueSpec = LocalQueueSpec()
    status: QueueStatus = QueueStatus()


class ResourceFlavorSpec(Wire, frozen=True):
    """Spec of a ResourceFlavor."""

    node_labels: dict[str, str] = {}
    node_taints: list[Taint] = []
    tolerations: list[Toleration] = []
    topology_name: str = ""


class ResourceFlavor(Wire, frozen=True):
    """A ResourceFlavor."""

    metadata: Meta
    spec: ResourceFlavorSpec = ResourceFlavorSpec()


class AdmissionCheckSpec(Wire, frozen=True):
    """Spec of an AdmissionCheck."""

    controller_name: str = ""


class AdmissionCheckStatus(Wire, frozen=True):
    """Status of an AdmissionCheck."""

    conditions: list[Condition] = []


class AdmissionCheck(Wire, frozen=True):
    """An AdmissionCheck."""

    metadata: Meta
    spec: AdmissionCheckSpec = AdmissionCheckSpec()
    status: AdmissionCheckStatus = AdmissionCheckStatus()


class TopologyLevel(Wire, frozen=True):
    """One level of a Topology."""

    node_label: str = ""


class TopologySpec(Wire, frozen=True):
    """Spec of a Topology."""

    levels: list[TopologyLevel] = []


class Topology(Wire, frozen=True):
    """A Topology."""

    metadata: Meta
    spec: TopologySpec = TopologySpec()


class WorkloadPriorityClass(Wire, frozen=True):
    """A priority for queueing that does not touch the pods."""

    metadata: Meta
    value: int = 0
