"""Kinds of jobs as policies and webhooks know them: suspended by a field, or through their pods.

The leader renders policies and webhooks for the kinds that are on. Those that suspend objects are
shared by all kinds with the same field; those that mark pod templates, and those that refuse, are a
kind's own.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

from typing_extensions import override

from queueing.kinds.external import external_kind
from queueing.kinds.registry import frameworks_on
from queueing.translate.jobs.composition import JobKind
from queueing.webhooks.patches import added, optional, room
from queueing_api.config.v1beta2 import Configuration
from queueing_api.queueing.v1alpha1.queueable_kind import (
    FixedField,
    QueueableKindSpec,
    ThroughPods,
)

Wire = dict[str, Any]
SUSPEND: Final = "spec.suspend"
"""The field of most kinds; policies that are about it have no more in their names."""
_PLAIN: Final = re.compile(r"[a-z]+(\.[a-z]+)*")
_OBJECT: Final = re.compile(r"\bobject\b")
_DIGEST_BYTES: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedKind(ABC):
    """A kind whose objects, or their pods, are queued."""

    group: str
    version: str
    kind: str
    plural: str
    prebuilt: bool = True
    """Whether its objects may name a prebuilt Workload."""
    elastic: bool = False
    """Whether its objects may be elastic."""
    fixed: Sequence[FixedField] = ()
    """Fields that must not be changed."""

    @property
    def api_version(self) -> str:
        """Group and version, as objects spell them."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def rule(self) -> Wire:
        """Return the part of a policy's or webhook's rule that names the resource."""
        return {
            "apiGroups": [self.group],
            "apiVersions": [self.version],
            "resources": [self.plural],
        }

    @property
    @abstractmethod
    def free(self) -> str:
        """Say in CEL that nothing runs after a write, so that the queue may be another."""

    @property
    @abstractmethod
    def was_free(self) -> str:
        """Say in CEL that nothing ran before an update."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspendedKind(QueuedKind):
    """A kind whose objects are suspended by a field."""

    field: str = SUSPEND
    """The field that is true while an object is suspended."""

    @property
    @override
    def free(self) -> str:
        return is_suspended(self.field)

    @property
    @override
    def was_free(self) -> str:
        return is_suspended(self.field, "oldObject")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedKind(QueuedKind):
    """A kind whose pods are queued: marks in its pod templates have them gated."""

    through: ThroughPods

    @property
    @override
    def free(self) -> str:
        return self.was_free

    @property
    @override
    def was_free(self) -> str:
        return _OBJECT.sub("oldObject", f"({self.through.stopped})")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerKind(QueuedKind):
    """A kind that another controller queues: nothing is asked of its objects."""

    @property
    @override
    def free(self) -> str:
        return "true"

    @property
    @override
    def was_free(self) -> str:
        return "true"


def of_description(spec: QueueableKindSpec) -> QueuedKind | None:
    """Return a kind by its description; None for pods, which are gated themselves."""
    named, suspend, fixed = spec.resource, spec.suspend, tuple(spec.fixed)
    if suspend.field is not None:
        return SuspendedKind(
            group=named.group,
            version=named.version,
            kind=named.kind,
            plural=named.plural,
            fixed=fixed,
            field=suspend.field,
        )
    if suspend.through_pods is not None:
        return MarkedKind(
            group=named.group,
            version=named.version,
            kind=named.kind,
            plural=named.plural,
            fixed=fixed,
            through=suspend.through_pods,
        )
    return None


def kinds_on(frameworks: Iterable[str], gates: Mapping[str, bool]) -> tuple[QueuedKind, ...]:
    """Return the built-in kinds that a Configuration turns on; batch/v1 Job always is."""
    return tuple(
        replace(found, prebuilt=one.prebuilt, elastic=one.elastic)
        for one in frameworks_on(frameworks, gates)
        if (found := of_description(one.spec)) is not None
    )


def kinds_of(configuration: Configuration) -> tuple[QueuedKind, ...]:
    """Return the kinds that a Configuration turns on, and those that other controllers queue."""
    found = configuration.integrations
    elsewhere = (_elsewhere(external_kind(name)) for name in found.external_frameworks)
    return (*kinds_on(found.frameworks, configuration.feature_gates), *elsewhere)


def _elsewhere(kind: JobKind) -> OwnerKind:
    version = kind.api_version.rpartition("/")[2]
    return OwnerKind(group=kind.group, version=version, kind=kind.kind, plural=kind.plural)


JOB: Final = next(one for one in kinds_on((), {}) if isinstance(one, SuspendedKind))
POD: Final = SuspendedKind(group="", version="v1", kind="Pod", plural="pods", field="")
"""Pods, which no field suspends, where policies are about them as well."""


def by_field(kinds: Iterable[QueuedKind]) -> Mapping[str, Sequence[SuspendedKind]]:
    """Return kinds by the field that suspends them, both in a fixed order."""
    found: dict[str, list[SuspendedKind]] = {}
    for one in in_order(kinds):
        if isinstance(one, SuspendedKind):
            found.setdefault(one.field, []).append(one)
    return {name: found[name] for name in sorted(found)}


def marked(kinds: Iterable[QueuedKind]) -> list[MarkedKind]:
    """Return those kinds whose pod templates are marked, in a fixed order."""
    return [one for one in in_order(kinds) if isinstance(one, MarkedKind)]


def in_order(kinds: Iterable[QueuedKind]) -> list[QueuedKind]:
    """Return kinds in a fixed order."""
    return sorted(kinds, key=lambda one: (one.group, one.plural))


def name_with(base: str, field: str) -> str:
    """Return the name of a policy about a field: two fields never have the same."""
    if field == SUSPEND:
        return base
    if _PLAIN.fullmatch(field):
        return f"{base}-{field}"
    digest = blake2b(field.encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{base}-{digest}"


def is_suspended(field: str, thing: str = "object") -> str:
    """Say in CEL that an object is suspended."""
    return f"{optional(thing, field)}.orValue(false)"


def suspending(field: str) -> str:
    """Return in CEL the JSON patches that suspend an object, with the maps on the way."""
    steps = field.split(".")
    rooms = (room(steps[:end]) for end in range(1, len(steps)))
    return " + ".join((*rooms, added(steps, "true")))
