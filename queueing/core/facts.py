"""Facts: the objects of the cluster as immutable values, the only input of the engine.

`translate` makes these from wire objects, `sim` and the tests make them directly. All amounts are
ints (cpu in milli-units, everything else in base units); all times are seconds since the epoch.
A fact is complete: it replaces the earlier fact of the same object.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from queueing.core.devices import DeviceAsk, DeviceOffer
from queueing.core.flavor_quotas import CheckRule, Fungibility, ResourceGroup
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
from queueing.core.topology.assignment import Assignment as Placement
from queueing.core.topology.requests import NOTHING_ASKED, Placeable, TopologyRequest
from queueing.core.topology.tree import NONE, Amounts, Node
from queueing.core.values import value
from queueing.core.variants import Migration, Variant

EMPTY: Mapping[str, str] = MappingProxyType({})
NOTHING: Mapping[Any, Any] = MappingProxyType({})
"""The default of mappings that are empty in nearly every Workload: one shared object."""


class StopPolicy(StrEnum):
    """What a stopped queue does with its workloads."""

    NONE = "None"
    HOLD = "Hold"
    HOLD_AND_DRAIN = "HoldAndDrain"


class Strategy(StrEnum):
    """Whether a head that cannot be admitted blocks those behind it."""

    STRICT_FIFO = "StrictFIFO"
    BEST_EFFORT_FIFO = "BestEffortFIFO"


class PreemptionPolicy(StrEnum):
    """Which workloads may be victims."""

    NEVER = "Never"
    LOWER_PRIORITY = "LowerPriority"
    LOWER_OR_NEWER_EQUAL_PRIORITY = "LowerOrNewerEqualPriority"
    ANY = "Any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preemption:
    """Which workloads those of a ClusterQueue may preempt (`spec.preemption`)."""

    within_cluster_queue: PreemptionPolicy = PreemptionPolicy.NEVER
    reclaim_within_cohort: PreemptionPolicy = PreemptionPolicy.NEVER
    borrow_within_cohort: PreemptionPolicy = PreemptionPolicy.NEVER
    max_priority_threshold: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterQueueFact:
    """A ClusterQueue, by its spec. A namespace selector of None matches nothing."""

    name: QueueName
    cohort: CohortName | None = None
    groups: tuple[ResourceGroup, ...] = ()
    strategy: Strategy = Strategy.BEST_EFFORT_FIFO
    namespace_selector: Selector | None = None
    fungibility: Fungibility = field(default_factory=Fungibility)
    preemption: Preemption = Preemption()
    checks: tuple[CheckRule, ...] = ()
    stop_policy: StopPolicy = StopPolicy.NONE
    fair_weight: Fraction = Fraction(1)
    fair_divisor: float | None = None
    """What a share is divided by: the weight as Kueue rounds it. None for the nearest float."""
    admission_fair_sharing: bool = False
    deleting: bool = False
    preemptions_max: int | None = None
    """How many victims of this queue may be leaving at the same time; None for any number."""
    migration: Migration | None = None
    """Its policy of concurrent admission: workloads wait in all flavors at once; None for none."""
    misconfigured: str = ""
    """Why the object cannot be used although the API server accepted it; empty if it can."""

    @property
    def preferred(self) -> Sequence[FlavorName]:
        """The flavors of variants in order of preference: those of the first group, as in Kueue."""
        return [one.flavor for one in self.groups[0].flavors] if self.groups else ()


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
    """As of a ClusterQueue, for all victims below the cohort."""
    misconfigured: str = ""
    """Which part of the object cannot be read and so is ignored; its queues still admit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalQueueFact:
    """A LocalQueue: how workloads of a namespace get to a ClusterQueue."""

    key: Key
    cluster_queue: QueueName
    stop_policy: StopPolicy = StopPolicy.NONE
    fair_weight: Fraction = Fraction(1)
    fair_divisor: float | None = None
    """What usage is divided by: the weight as Kueue rounds it. None for the nearest float."""
    deleting: bool = False
    consumed: tuple[tuple[ResourceName, float], ...] = field(default=(), compare=False)
    """The usage history in its status, in whole units; read once, when it is first observed."""
    sampled_at: float | None = field(default=None, compare=False)
    """The time up to which that history goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorFact:
    """A ResourceFlavor."""

    name: FlavorName
    node_labels: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology: str | None = None
    levels: tuple[str, ...] | None = None
    """The levels of its topologies, as the engine knows them; None while its own does not exist."""
    spreads: bool = False
    """Whether its topology spreads pods, instead of packing them into few domains."""
    nearer: tuple[str, ...] = ()
    """Further topologies, in the order in which pods prefer them."""
    fixed: bool = False
    """Whether no node of it is made on demand, so that pods have those that are there or none."""
    devices: Mapping[str, DeviceOffer] = field(default_factory=dict)
    """What its devices offer, by shape of the request."""
    on_nodes: Amounts = field(default_factory=lambda: NONE)
    """Resources that are devices, so that nodes offer what their `NodeDevicesFact` says. The amount
    is of devices that are of no single node: each node offers them beside its own."""


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
class NodeUsageFact:
    """What pods on a node use that no topology placed, among it a number of `pods`."""

    name: str
    usage: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDevicesFact:
    """How many devices of a node's own are free for each flavor, as claims of others leave them."""

    name: str
    free: Mapping[FlavorName, Amounts]


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
    """Required node affinity: alternatives of requirements that must all hold; None for none."""
    tolerations: tuple[Toleration, ...] = ()
    group: str | None = None
    """Pod sets of one group get the same flavors."""
    wants_topology: bool = False
    """Whether it requests topology-aware placement, so that only flavors with a topology serve it.
    """
    topology: TopologyRequest = NOTHING_ASKED
    placeable: Placeable | None = None
    """One pod as its template says, whatever quota counts; None where no flavor has a topology."""
    shape: str = ""
    """Digest of all in the pod template that a decision may depend on."""
    devices: tuple[DeviceAsk, ...] = ()
    """At most one per resource."""


@value()
class PodSetAssignment:
    """Flavors and usage of one admitted pod set; `usage` is for all `count` pods."""

    name: PodSetName
    count: int
    flavors: Mapping[ResourceName, FlavorName]
    usage: Mapping[ResourceName, int]
    placement: Placement | None = None
    """Where the pods are to run; None where no topology places them."""
    delayed: bool = False
    """Whether their places are found only when the admission checks are Ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The quota that a Workload holds by its `status.admission`."""

    cluster_queue: QueueName
    pod_sets: tuple[PodSetAssignment, ...]
    unusable: str = ""
    """Which part of it cannot be used, so that the requests of the pods are charged instead."""


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


_ASKED = (
    ("finished", "Finished"),
    ("evicted", "Evicted"),
    ("admitted", "Admitted"),
    ("reserved", "QuotaReserved"),
    ("pods_ready", "PodsReady"),
    ("condemned", "DeactivationTarget"),
)
"""Fields of a `WorkloadFact`, and the conditions of which they tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadFact:
    """A Workload: what it requests, and what its status says was decided.

    It holds quota exactly if `admission` is set, `QuotaReserved` is True and it is not Finished,
    also while it is Evicted (its pods may still run).
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
    reclaimable: Mapping[PodSetName, int] = field(default_factory=lambda: NOTHING)
    given: Mapping[PodSetName, Mapping[ResourceName, int]] = field(default_factory=lambda: NOTHING)
    """Pod set → what its allocated devices count as; charged if the admission has more."""
    beside: Mapping[FlavorResource, int] = field(default_factory=lambda: NOTHING)
    """What a Job that saves its work uses, charged to it as long as it holds quota."""
    requeue_count: int = 0
    requeue_at: float | None = None
    max_execution_s: int | None = None
    past_execution_s: int = 0
    deleting: bool = False
    stake: Stake | None = None
    """What stopping it would cost; None if no CheckpointPolicy applies to it."""
    misconfigured: str = ""
    """Why it can never be judged as it is (LimitRange, …); empty if it can."""
    unserved: str = ""
    """Why no flavor can serve it: the devices of the whole cluster are too few; empty otherwise."""
    slice_of: str = ""
    """The elastic job of which it is a slice; empty for all others. Of two slices of a job, only
    the difference is charged (`core.sharing`)."""
    unhealthy: tuple[str, ...] = ()
    """Nodes of its admission that failed."""
    is_one_pod: bool = False
    """Whether its only owner is a pod, which cannot go to another node."""
    flavors: frozenset[FlavorName] | None = None
    """The only flavors that it may get; None for any."""
    variant: Variant | None = None
    """Of which workload it is a variant; None for all others."""
    has_variants: bool = False
    """Whether it is admitted through variants, which are charged in its place."""
    user: str = ""
    """The label `queueing.dev/user`, by which reports tell users apart."""
    finished: bool = field(init=False, repr=False, compare=False)
    """Whether the condition of that name is True; so for the next four."""
    evicted: bool = field(init=False, repr=False, compare=False)
    admitted: bool = field(init=False, repr=False, compare=False)
    reserved: bool = field(init=False, repr=False, compare=False)
    pods_ready: bool = field(init=False, repr=False, compare=False)
    condemned: bool = field(init=False, repr=False, compare=False)
    """Whether it is about to be deactivated: `DeactivationTarget` is True."""
    holds_quota: bool = field(init=False, repr=False, compare=False)
    """Whether it holds quota of a ClusterQueue, by its status."""

    def __post_init__(self) -> None:
        """Read from the status, once, what many rules ask."""
        note, conditions = object.__setattr__, self.conditions
        for name, condition in _ASKED:
            found = conditions.get(condition)
            note(self, name, found is not None and found.status)
        holds = self.admission is not None and self.reserved and not self.finished
        note(self, "holds_quota", holds)

    def is_true(self, condition: str) -> bool:
        found = self.conditions.get(condition)
        return found is not None and found.status


class Kind(StrEnum):
    """The kinds of objects that facts are about."""

    CLUSTER_QUEUE = "ClusterQueue"
    COHORT = "Cohort"
    LOCAL_QUEUE = "LocalQueue"
    FLAVOR = "ResourceFlavor"
    CHECK = "AdmissionCheck"
    TOPOLOGY = "Topology"
    NODE = "Node"
    NODE_USAGE = "NodeUsage"
    NODE_DEVICES = "NodeDevices"
    NAMESPACE = "Namespace"
    WORKLOAD = "Workload"


@dataclass(frozen=True, slots=True)
class Gone:
    """An object was deleted. `name` is its key if it is namespaced, else its name."""

    kind: Kind
    name: str


Fact = (
    ClusterQueueFact
    | CohortFact
    | LocalQueueFact
    | FlavorFact
    | CheckFact
    | TopologyFact
    | Node
    | NodeUsageFact
    | NodeDevicesFact
    | NamespaceFact
    | WorkloadFact
    | Gone
)
