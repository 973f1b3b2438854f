"""Kinds whose objects are suspended by a field, as policies and webhooks know them.

The leader renders policies and webhooks for the kinds that are on. Those that change objects are
shared by all kinds with the same field, and those that refuse are a kind's own.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

from queueing.kinds.registry import frameworks_on
from queueing_api.queueing.v1alpha1.queueable_kind import FixedField, QueueableKindSpec

Wire = dict[str, Any]
SUSPEND: Final = "spec.suspend"
"""The field of most kinds; policies that are about it have no more in their names."""
_PLAIN: Final = re.compile(r"[a-z]+(\.[a-z]+)*")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED: Final = frozenset(
    [
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import"),
        *("in", "let", "loop", "namespace", "null", "package", "return", "true", "var", "void"),
        "while",
    ]
)
"""Words of the language, which no field can be named by."""
_DIGEST_BYTES: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspendedKind:
    """A kind whose objects are suspended by a field."""

    group: str
    version: str
    kind: str
    plural: str
    field: str = SUSPEND
    """The field that is true while an object is suspended."""
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


def of_description(spec: QueueableKindSpec) -> SuspendedKind | None:
    """Return a kind by its description; None for one that no field suspends."""
    named, field = spec.resource, spec.suspend.field
    if field is None:
        return None
    return SuspendedKind(
        group=named.group,
        version=named.version,
        kind=named.kind,
        plural=named.plural,
        field=field,
        fixed=tuple(spec.fixed),
    )


def kinds_on(frameworks: Iterable[str], gates: Mapping[str, bool]) -> tuple[SuspendedKind, ...]:
    """Return the built-in kinds that a Configuration turns on; batch/v1 Job always is."""
    return tuple(
        replace(found, prebuilt=one.prebuilt, elastic=one.elastic)
        for one in frameworks_on(frameworks, gates)
        if (found := of_description(one.spec)) is not None
    )


JOB: Final = kinds_on((), {})[0]


def by_field(kinds: Iterable[SuspendedKind]) -> Mapping[str, Sequence[SuspendedKind]]:
    """Return kinds by the field that suspends them, both in a fixed order."""
    found: dict[str, list[SuspendedKind]] = {}
    for one in sorted(kinds, key=lambda one: (one.group, one.plural)):
        found.setdefault(one.field, []).append(one)
    return {name: found[name] for name in sorted(found)}


def name_with(base: str, field: str) -> str:
    """Return the name of a policy about a field: two fields never have the same."""
    if field == SUSPEND:
        return base
    if _PLAIN.fullmatch(field):
        return f"{base}-{field}"
    digest = blake2b(field.encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{base}-{digest}"


def optional(thing: str, path: str) -> str:
    """Return in CEL the optional value at a path of something."""
    return thing + "".join(
        f".?{step}" if _IDENTIFIER.fullmatch(step) and step not in _RESERVED else f"[?'{step}']"
        for step in path.split(".")
    )


def is_suspended(field: str, thing: str = "object") -> str:
    """Say in CEL that an object is suspended."""
    return f"{optional(thing, field)}.orValue(false)"


def suspending(field: str) -> str:
    """Return in CEL the JSON patches that suspend an object, with the maps on the way."""
    steps = field.split(".")
    above = [steps[:end] for end in range(1, len(steps))]
    rooms = (
        _unless(f"{optional('object', '.'.join(one))}.hasValue()", _add(one, "{}")) for one in above
    )
    return " + ".join((*rooms, _add(steps, "true")))


def labelling(label: str, value: str) -> str:
    """Return in CEL the JSON patches that give an object a label."""
    room = _unless("has(object.metadata.labels)", _add(["metadata", "labels"], "{}"))
    return f"{room} + {_add(['metadata', 'labels', label], repr(value))}"


def _add(steps: Sequence[str], value: str) -> str:
    path = "/".join(one.replace("~", "~0").replace("/", "~1") for one in steps)
    return f"[JSONPatch{{op: 'add', path: '/{path}', value: {value}}}]"


def _unless(test: str, patches: str) -> str:
    return f"({test} ? [] : {patches})"
