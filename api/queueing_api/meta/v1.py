"""`meta/v1`: object metadata, owner references, conditions, label selectors."""

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import override

from queueing_api.marks import ATOMIC, MAP_ATOMIC, list_map
from queueing_api.wire import Int64, Time, Wire


class OwnerReference(Wire):
    """A pointer from an object to the one that it belongs to, in the same namespace."""

    api_version: str
    """API version of the owner."""
    kind: str
    """Kind of the owner."""
    name: str
    """Name of the owner."""
    uid: str
    """Unique identity of the owner; a later object of the same name has another."""
    controller: bool = False
    """Whether the owner is the one that manages this object."""
    block_owner_deletion: bool = False
    """Whether the owner's foreground deletion waits for this object."""


class ObjectMeta(Wire):
    """What every stored object carries."""

    name: str = ""
    """Name, unique among objects of the kind in the namespace."""
    generate_name: str = ""
    """Prefix from which the server makes a name when none is given."""
    namespace: str = ""
    """Namespace of the object; empty for kinds of the whole cluster."""
    uid: str = ""
    """Identity in time and space, given by the server."""
    resource_version: str = ""
    """Opaque version of the stored object; fences writes."""
    generation: Int64 = 0
    """Number of changes of the desired state."""
    creation_timestamp: Time | None = None
    """When the server stored the object first."""
    deletion_timestamp: Time | None = None
    """When deletion was asked for; the object goes once its finalizers are gone."""
    deletion_grace_period_seconds: Int64 | None = None
    """Seconds that the object has to end by itself."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Keys and values to select objects by."""
    annotations: dict[str, str] = Field(default_factory=dict)
    """Keys and values that tools keep on the object."""
    owner_references: list[OwnerReference] = Field(default_factory=list)
    """Objects that this one belongs to; it is collected when all are gone."""
    finalizers: list[str] = Field(default_factory=list)
    """Names of those that must clean up before the object goes."""


class KubeObject(Wire):
    """A stored object: type, metadata, and whatever its kind adds."""

    api_version: str
    """Group and version that this object is written in."""
    kind: str
    """Kind of the object."""
    metadata: ObjectMeta = Field(default_factory=ObjectMeta)
    """Name, labels and bookkeeping of the object."""

    @classmethod
    def gvk(cls) -> tuple[str, str, str]:
        """Return group, version and kind of the class."""
        group, _, version = str(cls.model_fields["api_version"].default).rpartition("/")
        return group, version, str(cls.model_fields["kind"].default)

    @override
    def to_wire(self) -> dict[str, Any]:
        """Return plain data; type first, so that it can be applied as it is."""
        return {"apiVersion": self.api_version, "kind": self.kind, **super().to_wire()}


class Condition(Wire):
    """One observation about an object: whether it holds, since when, and why."""

    type: Annotated[
        str,
        Field(
            max_length=316,
            pattern=r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
            r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
        ),
    ]
    """What is observed, in CamelCase, for example Active."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    observed_generation: Annotated[Int64, Field(ge=0)] | None = None
    """Generation of the object that the observation was made on."""
    last_transition_time: Time
    """When the status changed last."""
    reason: Annotated[
        str,
        Field(min_length=1, max_length=1024, pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"),
    ]
    """Why it changed last, as one word for programs."""
    message: Annotated[str, Field(max_length=32768)]
    """Why it changed last, as a sentence for people; may be empty."""


Conditions = Annotated[list[Condition], list_map("type")]
"""Conditions of an object, at most one of each type."""


class LabelSelectorRequirement(Wire):
    """One demand on a label."""

    key: str
    """Label that is looked at."""
    operator: str
    """How the label is compared: In, NotIn, Exists or DoesNotExist."""
    values: Annotated[list[str], ATOMIC] = Field(default_factory=list)
    """Values for In and NotIn; empty for the others."""


class LabelSelector(Wire):
    """A choice of objects by their labels; an empty selector chooses all."""

    match_labels: dict[str, str] = Field(default_factory=dict)
    """Labels that must have exactly these values."""
    match_expressions: Annotated[list[LabelSelectorRequirement], ATOMIC] = Field(
        default_factory=list
    )
    """Further demands, all of which must hold."""


AtomicLabelSelector = Annotated[LabelSelector, MAP_ATOMIC]
"""A label selector that is replaced as a whole."""
