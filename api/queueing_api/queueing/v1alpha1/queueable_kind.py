"""QueueableKind: how objects of one kind are queued, said as data, so that a kind needs no code."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from queueing_api.marks import ATOMIC, OPAQUE, SET, Mark, list_map
from queueing_api.meta.v1 import Condition, KubeObject
from queueing_api.wire import DNS_SUBDOMAIN_PATTERN, DnsLabel, Wire

PATH_PATTERN = r"^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*$"
FieldPath = Annotated[str, Field(max_length=512, pattern=PATH_PATTERN)]
"""Names of fields from the outermost inwards, such as `spec.template`; never into a list."""
CelExpression = Annotated[str, Field(min_length=1, max_length=4096)]
"""An expression in CEL."""
Text = Annotated[str, Field(min_length=1, max_length=316)]
TextMap = Annotated[dict[str, str], Mark(maxProperties=16)]
POD_SETS_MAX = 18


def _exactly_one(model: Wire, *names: str) -> None:
    fields = type(model).model_fields
    given = [name for name in names if getattr(model, name) is not None]
    if len(given) != 1:
        spelled = [str(fields[name].alias or name) for name in names]
        told = " and ".join(", ".join(spelled).rsplit(", ", 1))
        raise ValueError(f"exactly one of {told} must be set")


class KindResource(Wire):
    """The kind, as its definition names it."""

    group: Annotated[str, Field(max_length=253, pattern=rf"^$|{DNS_SUBDOMAIN_PATTERN}")] = ""
    """API group; empty for the core group."""
    version: DnsLabel
    """Version in which objects are read and written."""
    kind: Annotated[str, Field(max_length=63, pattern=r"^[A-Z][A-Za-z0-9]*$")]
    """Kind, in CamelCase."""
    plural: DnsLabel
    """Name of the resource, in lower case, as URLs have it."""

    @property
    def api_version(self) -> str:
        """Group and version, as objects spell them."""
        return f"{self.group}/{self.version}" if self.group else self.version


class ThroughPods(Wire):
    """Pods that are queued one by one or in groups, in place of the object that makes them."""

    templates: Annotated[list[FieldPath], Field(min_length=1, max_length=8), ATOMIC]
    """Pod templates that are marked, so that their pods are gated when they are created."""
    labels: TextMap = Field(default_factory=dict)
    """Labels that each of the templates gets."""
    annotations: TextMap = Field(default_factory=dict)
    """Annotations that each of the templates gets."""
    copied_labels: Annotated[list[Text], Field(max_length=16), SET] = Field(default_factory=list)
    """Labels of the object that each of the templates gets as well, where the object has them."""
    stopped: CelExpression
    """True while no pod of the object runs, so that its queue may still be changed."""


class Suspension(Wire):
    """What keeps pods from running until they are admitted. Exactly one of its fields is set."""

    field: FieldPath | None = None
    """Field that is true while the object is suspended; absent means false."""
    gate: Text | None = None
    """Scheduling gate of the object, which is a pod itself."""
    through_pods: ThroughPods | None = None
    """The pods of the object are gated; it is never suspended itself."""
    additions: Literal["WithStart", "BeforeStart"] = "WithStart"
    """When the additions to pods are written. BeforeStart: while the object is still suspended, for
    kinds that take them only then."""
    restoration: Literal["WithStop", "AfterStop"] = "WithStop"
    """When templates are restored. AfterStop: when the object is no longer active, for kinds that
    take another template only then."""
    reset: Annotated[list[FieldPath], Field(max_length=4), SET] = Field(default_factory=list)
    """Fields of the status that are removed before templates are restored."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        _exactly_one(self, "field", "gate", "through_pods")
        return self


class PodPlaces(Wire):
    """Where a start adds to the pods of a set, if not in its template."""

    labels: FieldPath
    """Map of labels."""
    annotations: FieldPath
    """Map of annotations."""
    node_selector: FieldPath
    """Map of node labels that a node must have."""
    tolerations: FieldPath
    """List of tolerations."""
    scheduling_gates: FieldPath
    """List of scheduling gates."""


class CountField(Wire):
    """A field that is set to the count with which a pod set was admitted."""

    path: FieldPath
    """The field, in the object."""
    when: CelExpression | None = None
    """Whether it is set, by `object`. Unset: always."""


class PodIndexes(Wire):
    """How pods of a set are numbered, for their placement by topology."""

    pod_index_label: Text | None = None
    """Label of each pod that holds its number in the set."""
    first_index: CelExpression | None = None
    """Number of the first pod of the set, where the template has no annotation about it. Unset: 0,
    or as is usual for the label."""
    sub_group_index_label: Text | None = None
    """Label of each pod that holds the number of its group."""
    sub_group_count: CelExpression | None = None
    """How many groups the set has."""


class PodSetRule(Wire):
    """How one pod set, or one for each entry of a list or map, is read from an object.

    Expressions have the variables `object` and, with forEach, `item` and `key`.
    """

    name: (
        Annotated[str, Field(max_length=63, pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")] | None
    ) = None
    """Name of the pod set."""
    name_from: CelExpression | None = None
    """Expression for the name; capitals become small letters."""
    for_each: FieldPath | None = None
    """List of which each entry, as `item`, is a pod set. With keys it is a map. Where it is absent
    there is none."""
    keys: Annotated[list[Text], Field(max_length=18), ATOMIC] = Field(default_factory=list)
    """Keys of the map that are pod sets, in this order, where the map has them."""
    when: CelExpression | None = None
    """Whether there is such a pod set. Unset: always."""
    count: CelExpression = "1"
    """Number of pods. An optional value that is absent counts as 1."""
    min_count: CelExpression | None = None
    """Fewest pods with which it may be admitted. Unset or absent: all of them."""
    template: FieldPath | None = None
    """Pod template: in `item` with forEach, else in the object. Unset: the object is a pod, and its
    spec is that of the template."""
    spec_only: bool = False
    """Whether only the spec of the template, without its metadata, is a part of the pod set."""
    places: PodPlaces | None = None
    """Where a start adds to the pods, as template. Unset: in the template."""
    controller_labels: Annotated[list[Text], Field(max_length=16), SET] = Field(
        default_factory=list
    )
    """Labels that the kind's own controller writes into the template: they are neither a part of
    the pod set nor touched when the template is restored."""
    count_fields: Annotated[list[CountField], Field(max_length=4), ATOMIC] = Field(
        default_factory=list
    )
    """Fields that are set to the count of the admission where minCount is set, and restored."""
    reclaimable: CelExpression | None = None
    """Pods that will never be needed again, also by `count`. Unset: none."""
    topology: PodIndexes | None = None
    """How its pods are numbered."""

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        _exactly_one(self, "name", "name_from")
        if self.keys and self.for_each is None:
            raise ValueError("keys needs forEach")
        return self


class StateRule(Wire):
    """Something that is true of an object or not. Exactly one of its fields is set."""

    condition: Text | None = None
    """Type of a condition in `status.conditions` that must be True."""
    expression: CelExpression | None = None
    """Expression with the variables `object` and `podSets`, which have `name` and `count`."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        _exactly_one(self, "condition", "expression")
        return self


class EndRule(StateRule):
    """A way in which an object ends."""

    outcome: Literal["Succeeded", "Failed"] | None = None
    """How it ended. Unset: as `succeeded` says."""
    succeeded: CelExpression | None = None
    """Whether it ended well, by `object`, where outcome is unset."""
    message: CelExpression | None = None
    """What is told of the end, by `object`. Unset: the message of the condition."""

    @model_validator(mode="after")
    def _one_outcome(self) -> Self:
        _exactly_one(self, "outcome", "succeeded")
        return self


class ManagedByRule(Wire):
    """The field that says which controller runs an object, for dispatch to other clusters."""

    field: FieldPath
    """The field."""
    controller: Text
    """Value that stands for the kind's own controller, as an unset field does."""


class FixedField(Wire):
    """A field that must not be changed."""

    path: FieldPath
    """The field; with it all that is inside."""
    entries: Annotated[list[FieldPath], Field(max_length=8), ATOMIC] = Field(default_factory=list)
    """Of a list, only these fields of its entries, and how many entries there are."""
    when: Literal["Queued", "Running"] = "Running"
    """Queued: as long as the object is queued. Running: while it is not suspended."""


class QueueableKindSpec(Wire):
    """How objects of one kind are queued."""

    resource: KindResource
    """The kind."""
    suspend: Suspension
    """What keeps pods from running until they are admitted."""
    pod_sets: Annotated[list[PodSetRule], Field(max_length=POD_SETS_MAX), ATOMIC] = Field(
        default_factory=list
    )
    """The pods of an object, in the order of its Workload."""
    active: StateRule
    """Whether pods run or end: quota is kept until that is over."""
    ready: StateRule | None = None
    """Whether all pods are ready or have succeeded. Unset: that is never known."""
    finished: Annotated[list[EndRule], Field(max_length=8), ATOMIC] = Field(default_factory=list)
    """Ways in which an object ends; the first that holds counts. Empty: it serves for ever."""
    ignored: CelExpression | None = None
    """Objects that are not queued at all, by `object`. Unset: none."""
    on_hold: CelExpression | None = None
    """Objects that keep no quota although they have not ended, by `object`. Unset: none."""
    groups: CelExpression | None = None
    """Number of Workloads that an object has, each with all of its pod sets. Unset: one."""
    priority_class: FieldPath | None = None
    """Field with the name of a PriorityClass. Where it is empty, and unset: that of the first pod
    template that names one."""
    managed_by: ManagedByRule | None = None
    """The field that says which controller runs an object. Unset: it stays in its cluster."""
    fixed: Annotated[list[FixedField], Field(max_length=32), ATOMIC] = Field(default_factory=list)
    """Fields that must not be changed. All others may while the object is suspended; a change of
    pod sets while it runs stops it."""


class QueueableKindStatus(Wire):
    """Whether objects of the kind are queued."""

    conditions: Annotated[list[Condition], list_map("type")] = Field(default_factory=list)
    """Observations. Active is False while the kind is not served, may not be read or written, or
    is not described so that it can be used."""
    in_use: Annotated[dict[str, Any], OPAQUE] | None = None
    """The description that objects are read by: the last one that could be used."""


class QueueableKind(KubeObject):
    """How objects of one kind are queued, said as data."""

    api_version: Literal["queueing.dev/v1alpha1"] = "queueing.dev/v1alpha1"
    kind: Literal["QueueableKind"] = "QueueableKind"
    spec: QueueableKindSpec
    """How objects of the kind are queued."""
    status: QueueableKindStatus = Field(default_factory=QueueableKindStatus)
    """Whether objects of the kind are queued."""
