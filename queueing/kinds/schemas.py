"""A description held against the schema of its kind, as an API server publishes it (OpenAPI v3).

A field that a description reads and that the schema does not have would be pruned from every
object: it is misspelled, or of another version.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from typing_extensions import override

from queueing.kinds.compiler import Kind
from queueing.kinds.paths import EACH, Names, spelled

Schema = Mapping[str, Any]
_KEPT = "x-kubernetes-preserve-unknown-fields"
_KIND = "x-kubernetes-group-version-kind"
_REFERENCE = "#/components/schemas/"


@dataclass(frozen=True, slots=True)
class Astray:
    """A path that leads nowhere: what reads it, how far it leads, and what may be meant."""

    read_by: str
    """Field of the description."""
    path: str
    meant: str
    """A field beside it with a name like it; empty without one."""

    @override
    def __str__(self) -> str:
        hint = f"; {self.meant} is meant, maybe" if self.meant else ""
        return f"{self.read_by}: {self.path} is no field of the kind{hint}"


def schema_of(document: Schema, kind: Kind) -> Schema | None:
    """Return the schema of a kind in the document of its group and version; None without one."""
    named = kind.spec.resource
    wanted = {"group": named.group, "version": named.version, "kind": named.kind}
    found = document.get("components", {}).get("schemas", {})
    return next((one for one in found.values() if wanted in one.get(_KIND, ())), None)


def astray(kind: Kind, schema: Schema, document: Schema) -> list[Astray]:
    """Return the paths of a description that lead nowhere, each place of the objects once."""
    found: dict[str, Astray] = {}
    for path, at in sorted(kind.reads.items()):
        for one in _end(path, schema, document):
            found.setdefault(one.path, Astray(spelled(at), one.path, one.meant))
    return list(found.values())


def _end(path: Names, schema: Schema, document: Schema) -> Iterator[Astray]:
    """Yield where a path ends that leads nowhere."""
    here = schema
    for depth, step in enumerate(path, start=1):
        here = _resolved(here, document)
        inner = _inner(here, step)
        if inner is None:
            beside = sorted(here.get("properties", ()))
            close = get_close_matches(step, beside, n=1)
            shown = ".".join(path[:depth]).replace(f".{EACH}", "[*]")
            yield Astray("", shown, close[0] if close else "")
            return
        if not inner:
            return
        here = inner


def _inner(here: Schema, step: str) -> Schema | None:
    """Return the schema one step further; empty where anything may be, None where nothing is."""
    if step == EACH and isinstance(here.get("items"), Mapping):
        return {"type": "any"} | dict(here["items"])
    if step != EACH and step in here.get("properties", ()):
        return {"type": "any"} | dict(here["properties"][step])
    more = here.get("additionalProperties")
    if isinstance(more, Mapping):
        return {"type": "any"} | dict(more)
    return {} if more is True or here.get(_KEPT) or _says_nothing(here) else None


def _says_nothing(here: Schema) -> bool:
    return bool(here.get("type", "any") == "any")


def _resolved(here: Schema, document: Schema) -> Schema:
    """Follow references to other schemas of the document; of several parts take the first."""
    while True:
        parts = here.get("allOf")
        target = here.get("$ref") or (parts[0].get("$ref") if parts else None)
        if not target:
            return here
        here = document["components"]["schemas"][target.removeprefix(_REFERENCE)]
