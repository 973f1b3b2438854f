"""Pod templates: what quota, flavors and injection read of them."""
# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty default

from queueing.translate.wire.meta import Expression, Resources, Wire


class ClaimUse(Wire, frozen=True):
    """A claim of the pod that a container uses; without a request, all of it."""

    name: str = ""
    request: str = ""


class Requirements(Wire, frozen=True):
    """`resources` of a container or a pod."""

    requests: Resources = {}
    limits: Resources = {}
    claims: list[ClaimUse] = []


class Container(Wire, frozen=True):
    """A container; an init container with `restartPolicy: Always` is a sidecar."""

    name: str = ""
    image: str = ""
    restart_policy: str = ""
    resources: Requirements = Requirements()


class Toleration(Wire, frozen=True):
    """A toleration as the wire spells it."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class Taint(Wire, frozen=True):
    """A taint as the wire spells it."""

    key: str = ""
    value: str = ""
    effect: str = ""


class NodeSelectorTerm(Wire, frozen=True):
    """A conjunction of requirements on a node's labels and fields."""

    match_expressions: list[Expression] = []
    match_fields: list[Expression] = []


class NodeSelector(Wire, frozen=True):
    """A disjunction of terms."""

    node_selector_terms: list[NodeSelectorTerm] = []


class Preference(Wire, frozen=True):
    """A term of node affinity that nodes should meet, and how much that counts."""

    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Wire, frozen=True):
    """Node affinity; preferences concern placement by topology only."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: list[Preference] = []


class SchedulingGate(Wire, frozen=True):
    """A gate that keeps a pod from being scheduled."""

    name: str = ""


class Affinity(Wire, frozen=True):
    """Affinity of a pod."""

    node_affinity: NodeAffinity | None = None


class PodClaim(Wire, frozen=True):
    """A claim of a pod: a ResourceClaim by name, or one made from a template."""

    name: str = ""
    resource_claim_name: str = ""
    resource_claim_template_name: str = ""


class PodSpec(Wire, frozen=True):
    """What we read of a pod's spec."""

    containers: list[Container] = []
    init_containers: list[Container] = []
    resources: Requirements = Requirements()
    overhead: Resources = {}
    node_selector: dict[str, str] = {}
    affinity: Affinity | None = None
    tolerations: list[Toleration] = []
    scheduling_gates: list[SchedulingGate] = []
    resource_claims: list[PodClaim] = []
    priority_class_name: str = ""
    runtime_class_name: str = ""
    termination_grace_period_seconds: int | None = None


class TemplateMeta(Wire, frozen=True):
    """Metadata of a pod template."""

    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class PodTemplate(Wire, frozen=True):
    """A pod template."""

    metadata: TemplateMeta = TemplateMeta()
    spec: PodSpec = PodSpec()
