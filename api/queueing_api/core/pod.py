"""`core/v1`: pods and their templates, as far as queueing reads them; the rest is carried along."""

from typing import Literal

from pydantic import Field

from queueing_api.meta.v1 import KubeObject, LabelSelector, ObjectMeta
from queueing_api.wire import Int32, Int64, ResourceList, Wire


class ResourceClaimUse(Wire):
    """A container's use of one of the pod's resource claims."""

    name: str
    """Name of the claim within the pod."""
    request: str = ""
    """Request within the claim; empty means all."""


class ResourceRequirements(Wire):
    """What a container asks for and may use at most."""

    requests: ResourceList = Field(default_factory=dict)
    """Amounts that must be free for it."""
    limits: ResourceList = Field(default_factory=dict)
    """Amounts that it may not exceed; also its requests where none are given."""
    claims: list[ResourceClaimUse] = Field(default_factory=list)
    """Resource claims of the pod that it uses."""


class Container(Wire):
    """One container of a pod."""

    name: str
    """Name, unique in the pod."""
    image: str = ""
    """Image to run."""
    resources: ResourceRequirements = Field(default_factory=ResourceRequirements)
    """What it asks for."""
    restart_policy: str = ""
    """Always makes an init container a sidecar that runs beside the others."""


class Toleration(Wire):
    """Taints that a pod does not mind."""

    key: str = ""
    """Taint key; empty with Exists matches every key."""
    operator: str = ""
    """Exists, or Equal (also when empty)."""
    value: str = ""
    """Taint value for Equal."""
    effect: str = ""
    """Taint effect; empty matches every effect."""
    toleration_seconds: Int64 | None = None
    """Seconds that a NoExecute taint is borne; unset means for ever."""


class Taint(Wire):
    """A mark on a node that keeps off pods which do not tolerate it."""

    key: str
    """Taint key."""
    value: str = ""
    """Taint value."""
    effect: str
    """What it does: NoSchedule, PreferNoSchedule or NoExecute."""
    time_added: str | None = None
    """When it was added."""


class NodeSelectorRequirement(Wire):
    """One demand on a label or field of a node."""

    key: str
    """Label or field that is looked at."""
    operator: str
    """How it is compared: In, NotIn, Exists, DoesNotExist, Gt or Lt."""
    values: list[str] = Field(default_factory=list)
    """Values to compare with."""


class NodeSelectorTerm(Wire):
    """Demands on a node, all of which must hold; an empty term matches no node."""

    match_expressions: list[NodeSelectorRequirement] = Field(default_factory=list)
    """Demands on labels."""
    match_fields: list[NodeSelectorRequirement] = Field(default_factory=list)
    """Demands on fields."""


class NodeSelector(Wire):
    """A choice of nodes: any of its terms."""

    node_selector_terms: list[NodeSelectorTerm] = Field(default_factory=list)
    """Terms, one of which must match."""


class PreferredSchedulingTerm(Wire):
    """A term that nodes should match, with its weight."""

    weight: Int32
    """How much it counts, 1 to 100."""
    preference: NodeSelectorTerm
    """The term."""


class NodeAffinity(Wire):
    """Which nodes a pod must or should run on."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    """Nodes that the pod needs."""
    preferred_during_scheduling_ignored_during_execution: list[PreferredSchedulingTerm] = Field(
        default_factory=list
    )
    """Nodes that the pod prefers."""


class Affinity(Wire):
    """Where a pod must or should run."""

    node_affinity: NodeAffinity | None = None
    """Demands on nodes; demands on other pods are carried along unread."""


class PodResourceClaim(Wire):
    """A resource claim of a pod: an existing one, or a template to make one from."""

    name: str
    """Name within the pod."""
    resource_claim_name: str | None = None
    """Existing claim to use."""
    resource_claim_template_name: str | None = None
    """Template from which each pod gets its own claim."""


class PodSchedulingGate(Wire):
    """Something that must happen before the pod is scheduled."""

    name: str
    """Name of the gate."""


class TopologySpreadConstraint(Wire):
    """How pods spread over a topology."""

    max_skew: Int32
    """Largest difference allowed."""
    topology_key: str
    """Node label that names the topology's domains."""
    when_unsatisfiable: str
    """DoNotSchedule or ScheduleAnyway."""
    label_selector: LabelSelector | None = None
    """Pods that are counted."""


class PodSpec(Wire):
    """What a pod should be."""

    containers: list[Container] = Field(default_factory=list)
    """Containers of the pod."""
    init_containers: list[Container] = Field(default_factory=list)
    """Containers that run first; those that always restart go on as sidecars."""
    node_selector: dict[str, str] = Field(default_factory=dict)
    """Labels that the node must have."""
    affinity: Affinity | None = None
    """Where the pod must or should run."""
    tolerations: list[Toleration] = Field(default_factory=list)
    """Taints that the pod does not mind."""
    scheduling_gates: list[PodSchedulingGate] = Field(default_factory=list)
    """What must happen before the pod is scheduled."""
    topology_spread_constraints: list[TopologySpreadConstraint] = Field(default_factory=list)
    """How pods spread over topologies."""
    resource_claims: list[PodResourceClaim] = Field(default_factory=list)
    """Resource claims of the pod."""
    resources: ResourceRequirements | None = None
    """What the pod as a whole asks for, in place of the sum of its containers."""
    overhead: ResourceList = Field(default_factory=dict)
    """What running a pod of its runtime class costs beside its containers."""
    runtime_class_name: str | None = None
    """Runtime class that runs the pod."""
    priority_class_name: str = ""
    """PriorityClass of the pod."""
    priority: Int32 | None = None
    """Priority, when already resolved."""
    scheduler_name: str = ""
    """Scheduler that places the pod."""
    node_name: str = ""
    """Node that the pod is placed on."""
    restart_policy: str = ""
    """Always, OnFailure or Never."""
    termination_grace_period_seconds: Int64 | None = None
    """Seconds between the polite signal and the hard one."""
    active_deadline_seconds: Int64 | None = None
    """Seconds after which the pod is failed."""


class PodTemplateSpec(Wire):
    """What each pod of a group is made from."""

    metadata: ObjectMeta = Field(default_factory=ObjectMeta)
    """Labels and annotations that each pod gets."""
    spec: PodSpec = Field(default_factory=PodSpec)
    """What each pod should be."""


class PodCondition(Wire):
    """One observation about a pod."""

    type: str
    """What is observed, for example Ready."""
    status: str
    """True, False or Unknown."""
    reason: str = ""
    """Why, as one word."""
    message: str = ""
    """Why, as a sentence."""
    last_transition_time: str | None = None
    """When the status changed last."""


class PodStatus(Wire):
    """What a pod is."""

    phase: str = ""
    """Pending, Running, Succeeded, Failed or Unknown."""
    conditions: list[PodCondition] = Field(default_factory=list)
    """Observations about the pod."""
    reason: str = ""
    """Why it is so, as one word."""
    message: str = ""
    """Why it is so, as a sentence."""
    start_time: str | None = None
    """When the kubelet took it over."""


class Pod(KubeObject):
    """A group of containers on one node."""

    api_version: Literal["v1"] = "v1"
    kind: Literal["Pod"] = "Pod"
    spec: PodSpec = Field(default_factory=PodSpec)
    """What the pod should be."""
    status: PodStatus = Field(default_factory=PodStatus)
    """What it is."""
