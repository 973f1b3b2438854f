"""What the cluster says, in our own words: the only input of the engine.

`translate` makes these from wire objects, `sim` and the tests make them directly. All amounts are
ints (cpu in milli-units, everything else in base units); all times are seconds since the epoch.
A fact is complete: it replaces what was known of the object before.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from queueing.core.devices import DeviceAsk, DeviceOffer
from queueing.core.names import (
    CheckName,
    CohortName,
    FlavorName,
    FlavorResource,
    Key,
    PodSetName,
    QueueName,
    ResourceName,
    Uid,
)
from queueing.core.selectors import Requirement, Selector, Taint, Toleration
from queueing.core.stakes import Stake
from queueing.core.values import value

EMPTY: Mapping[str, str] = MappingProxyType({})
_NONE: Mapping[Any, Any] = MappingProxyType({})
"""What nearly every Workload says of many things: one object for all, where each is remembered."""


class StopPolicy(StrEnum):
    """What a stopped queue does with its workloads."""

    NONE = "None"
    HOLD = "Hold"
    HOLD_AND_DRAIN = "HoldAndDrain"


class Strategy(StrEnum):
    """Whether a head that cannot be admitted blocks those behind it."""

    STRICT_FIFO = "StrictFIFO"
    BEST_EFFORT_FIFO = "BestEffortFIFO"


class FlavorPolicy(StrEnum):
    """What to do at a flavor that fits only by borrowing or preempting."""

    MAY_STOP_SEARCH = "MayStopSearch"
    TRY_NEXT_FLAVOR = "TryNextFlavor"


class FlavorPreference(StrEnum):
    """Ranking of flavors when both policies say TryNextFlavor."""

    BORROWING_OVER_PREEMPTION = "BorrowingOverPreemption"
    PREEMPTION_OVER_BORROWING = "PreemptionOverBorrowing"


class PreemptionPolicy(StrEnum):
    """Which workloads may be victims."""

    NEVER = "Never"
    LOWER_PRIORITY = "LowerPriority"
    LOWER_OR_NEWER_EQUAL_PRIORITY = "LowerOrNewerEqualPriority"
    ANY = "Any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """Quota of one resource in one flavor; a limit of None does not bind."""

    nominal: int
    borrowing_limit: int | None = None
    lending_limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorQuotas:
    """One flavor of a resource group and its quota per covered resource."""

    flavor: FlavorName
    quotas: tuple[tuple[ResourceName, Quota], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceGroup:
    """Resources that get their flavor together, and the flavors in order of preference."""

    covered: tuple[ResourceName, ...]
    flavors: tuple[FlavorQuotas, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fungibility:
    """When the search over flavors stops."""

    when_can_borrow: FlavorPolicy = FlavorPolicy.MAY_STOP_SEARCH
    when_can_preempt: FlavorPolicy = FlavorPolicy.TRY_NEXT_FLAVOR
    preference: FlavorPreference = FlavorPreference.BORROWING_OVER_PREEMPTION


@dataclass(frozen=True, slots=True, kw_only=True)
class Preemption:
    """Whom a queue may preempt."""

    within_cluster_queue: PreemptionPolicy = PreemptionPolicy.NEVER
    reclaim_within_cohort: PreemptionPolicy = PreemptionPolicy.NEVER
    borrow_within_cohort: PreemptionPolicy = PreemptionPolicy.NEVER
    max_priority_threshold: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRule:
    """An admission check of a queue; with no flavors named it applies to all."""

    name: CheckName
    on_flavors: tuple[FlavorName, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterQueueFact:
    """A ClusterQueue as its spec says. A namespace selector of None matches nothing."""

    name: QueueName
    cohort: CohortName | None = None
    groups: tuple[ResourceGroup, ...] = ()
    strategy: Strategy = Strategy.BEST_EFFORT_FIFO
    namespace_selector: Selector | None = None
    fungibility: Fungibility = Fungibility()
    preemption: Preemption = Preemption()
    checks: tuple[CheckRule, ...] = ()
    stop_policy: StopPolicy = StopPolicy.NONE
    fair_weight: Fraction = Fraction(1)
    fair_divisor: float | None = None
    """What a share is divided by: the weight as Kueue rounds it. None for the nearest float."""
    admission_fair_sharing: bool = False
    deleting: bool = False
    preemptions_max: int | None = None
    """How many of its workloads may be on their way out when one more is preempted."""
    misconfigured: str = ""
    """Why the object cannot be used although the API server let it in; empty when it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortFact:
    """A Cohort object; cohorts also exist by being named."""

    name: CohortName
    parent: CohortName | None = None
    groups: tuple[ResourceGroup, ...] = ()
    fair_weight: Fraction = Fraction(1)
    fair_divisor: float | None = None
    """As of a ClusterQueue."""
    preemptions_max: int | None = None
    """The same of all workloads below it."""
    misconfigured: str = ""
    """What of the object cannot be read, and so does not count; its queues admit all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalQueueFact:
    """A LocalQueue: the door of a namespace to a ClusterQueue."""

    key: Key
    cluster_queue: QueueName
    stop_policy: StopPolicy = StopPolicy.NONE
    fair_weight: Fraction = Fraction(1)
    fair_divisor: float | None = None
    """What usage is divided by: the weight as Kueue rounds it. None for the nearest float."""
    deleting: bool = False
    consumed: tuple[tuple[ResourceName, float], ...] = field(default=(), compare=False)
    """Usage history that its status stores, in whole units; read once, when it is first seen."""
    sampled_at: float | None = field(default=None, compare=False)
    """Up to when that history goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorFact:
    """A ResourceFlavor."""

    name: FlavorName
    node_labels: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology: str | None = None
    devices: Mapping[str, DeviceOffer] = field(default_factory=dict)
    """What its devices offer, by shape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFact:
    """An AdmissionCheck and whether its controller says it is Active."""

    name: CheckName
    controller: str
    active: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyFact:
    """A Topology object: its levels from the widest to the narrowest node label."""

    name: str
    levels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceFact:
    """A namespace and its labels."""

    name: str
    labels: Mapping[str, str] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSet:
    """Pods of one shape. `requests` is what one pod asks for, already adjusted by `translate`."""

    name: PodSetName
    count: int
    requests: Mapping[ResourceName, int]
    min_count: int | None = None
    node_selector: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    node_affinity: tuple[tuple[Requirement, ...], ...] | None = None
    """Required node affinity: a disjunction of conjunctions; None asks for nothing."""
    tolerations: tuple[Toleration, ...] = ()
    group: str | None = None
    """Pod sets of one group get the same flavors."""
    wants_topology: bool = False
    """Whether it asks for nodes that are close together, so that only such flavors will do."""
    shape: str = ""
    """Digest of all that a decision may depend on in the template; equal means equivalent."""
    devices: tuple[DeviceAsk, ...] = ()
    """At most one per resource."""


@value()
class PodSetAssignment:
    """Flavors and usage of one admitted pod set; `usage` is for all `count` pods."""

    name: PodSetName
    count: int
    flavors: Mapping[ResourceName, FlavorName]
    usage: Mapping[ResourceName, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Quota that a Workload's status says it holds."""

    cluster_queue: QueueName
    pod_sets: tuple[PodSetAssignment, ...]
    unusable: str = ""
    """What of it cannot be used; what the pods ask for is charged instead."""


class CheckPhase(StrEnum):
    """State of one admission check of one workload."""

    PENDING = "Pending"
    READY = "Ready"
    RETRY = "Retry"
    REJECTED = "Rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckState:
    """One entry of a Workload's `status.admissionChecks`."""

    name: CheckName
    state: CheckPhase
    changed: float = 0.0
    message: str = ""
    requeue_after_s: int | None = None
    retry_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition of a Workload's status."""

    type: str
    status: bool
    reason: str = ""
    message: str = ""
    changed: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadFact:
    """A Workload: what it asks, and what its status says was decided.

    It holds quota exactly when `admission` is set, `QuotaReserved` is True and it is not Finished,
    also while Evicted (its pods may still run).
    """

    key: Key
    uid: Uid
    local_queue: Key | None
    pod_sets: tuple[PodSet, ...]
    created: float
    priority: int = 0
    """Effective: `spec.priority` plus the boost annotation."""
    active: bool = True
    admission: Admission | None = None
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    checks: tuple[CheckState, ...] = ()
    admission_gates: tuple[str, ...] = ()
    preemption_gated: bool = False
    reclaimable: Mapping[PodSetName, int] = field(default_factory=lambda: _NONE)
    given: Mapping[PodSetName, Mapping[ResourceName, int]] = field(default_factory=lambda: _NONE)
    """What its devices count as in the end; charged where the admission says more."""
    beside: Mapping[FlavorResource, int] = field(default_factory=lambda: _NONE)
    """What a Job uses that saves for it, charged like its own as long as it holds quota."""
    requeue_count: int = 0
    requeue_at: float | None = None
    max_execution_s: int | None = None
    past_execution_s: int = 0
    deleting: bool = False
    stake: Stake | None = None
    """What stopping it would cost; None where no policy speaks of its checkpoints."""
    misconfigured: str = ""
    """Why it can never be judged as it stands (LimitRange, …); empty when it can."""
    user: str = ""
    """Who is named by the label `queueing.dev/user`; reports tell users apart by it."""

    def is_true(self, condition: str) -> bool:
        """Say whether a condition is present and True."""
        found = self.conditions.get(condition)
        return found is not None and found.status

    @property
    def holds_quota(self) -> bool:
        """Whether the status charges quota to its queue."""
        if self.admission is None:
            return False
        reserved = self.conditions.get("QuotaReserved")
        finished = self.conditions.get("Finished")
        return (
            reserved is not None
            and reserved.status
            and not (finished is not None and finished.status)
        )


class Kind(StrEnum):
    """Kinds of objects that facts speak of."""

    CLUSTER_QUEUE = "ClusterQueue"
    COHORT = "Cohort"
    LOCAL_QUEUE = "LocalQueue"
    FLAVOR = "ResourceFlavor"
    CHECK = "AdmissionCheck"
    TOPOLOGY = "Topology"
    NAMESPACE = "Namespace"
    WORKLOAD = "Workload"


@dataclass(frozen=True, slots=True)
class Gone:
    """The object is no more. `name` is its key when namespaced, else its name."""

    kind: Kind
    name: str


Fact = (
    ClusterQueueFact
    | CohortFact
    | LocalQueueFact
    | FlavorFact
    | CheckFact
    | TopologyFact
    | NamespaceFact
    | WorkloadFact
    | Gone
)
