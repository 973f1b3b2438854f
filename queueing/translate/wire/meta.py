"""Metadata, conditions and selectors: what all kinds share."""

from datetime import datetime

import msgspec

from queueing.core.names import Key, Uid
from queueing.translate.labels import TOPOLOGY_MARKS, TRACE_PARENT

Quantity = str | int | float
"""A Kubernetes quantity; manifests written by hand may spell it as a number."""

Resources = dict[str, Quantity]


class Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """An object or a part of one; immutable and without reference cycles."""


class OwnerReference(Wire, frozen=True):
    """Who an object belongs to."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False
    block_owner_deletion: bool = False

    @property
    def group_kind(self) -> tuple[str, str]:
        """The group and the kind of the owner."""
        return self.api_version.rpartition("/")[0], self.kind


class Meta(Wire, frozen=True):
    """The part of `metadata` that we read."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: list[OwnerReference] = []
    finalizers: list[str] = []

    @property
    def key(self) -> Key:
        """`namespace/name`; a namespaced object without a namespace lives in `default`."""
        return Key(f"{self.namespace or 'default'}/{self.name}")

    @property
    def life(self) -> Uid:
        """The uid, or the key where none was given (manifests that were never stored)."""
        return Uid(self.uid or self.key)

    @property
    def controller(self) -> OwnerReference | None:
        """The controlling owner, managed or not; None without one."""
        return next((one for one in self.owner_references if one.controller), None)

    def is_newer_than(self, known: "Meta") -> bool:
        """Say whether this tells something new: a later version, or another life of its name."""
        if self.uid != known.uid:
            return True
        return int(self.resource_version or 0) > int(known.resource_version or 0)

    @property
    def created(self) -> float:
        """Creation time; 0 for an object that was never stored."""
        return self.creation_timestamp.timestamp() if self.creation_timestamp else 0.0

    @property
    def traceparent(self) -> str:
        """The traceparent that the submitter of a job gave it; empty without one."""
        return self.annotations.get(TRACE_PARENT, "")

    @property
    def is_placed(self) -> bool:
        """Whether a topology chose the node of this pod, so that its workload counts for it."""
        return any(one in self.annotations for one in TOPOLOGY_MARKS)

    @property
    def deleting(self) -> bool:
        """Whether deletion has begun."""
        return self.deletion_timestamp is not None


class Identified(Wire, frozen=True):
    """An object of any kind, of which only the metadata is read."""

    metadata: Meta


class Condition(Wire, frozen=True):
    """One entry of `status.conditions`."""

    type: str
    status: str = "Unknown"
    reason: str = ""
    message: str = ""
    observed_generation: int = 0
    last_transition_time: datetime | None = None

    @property
    def changed(self) -> float:
        """Time of the last change of status; 0 when the server did not say."""
        return self.last_transition_time.timestamp() if self.last_transition_time else 0.0


class Expression(Wire, frozen=True):
    """One term of a label selector or of node affinity."""

    key: str = ""
    operator: str = "In"
    values: list[str] = []


class LabelSelector(Wire, frozen=True):
    """A label selector; empty matches everything."""

    match_labels: dict[str, str] = {}
    match_expressions: list[Expression] = []
