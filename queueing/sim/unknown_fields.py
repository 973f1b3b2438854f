"""Fields of a document that its kind does not have, most often misspelled.

The API server would prune them. A plan ignores them too, but warns with file and line.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from queueing.sim.documents import LIVE, Document, Step, spell
from queueing_api.core.pod import PodTemplateSpec

_TEMPLATE = "PodTemplateSpec"
_EMBEDDED_METADATA = frozenset(
    {"annotations", "creationTimestamp", "finalizers", "labels", "name", "namespace"}
)
_NOT_MODELLED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "Device": frozenset(
            {
                "bindingConditions",
                "bindingFailureConditions",
                "bindsToNode",
                "nodeAllocatableResourceMappings",
            }
        ),
        "DeviceCapacity": frozenset({"requestPolicy"}),
        "DeviceClaim": frozenset({"config"}),
        "DeviceClassSpec": frozenset({"config"}),
        "JobSpec": frozenset(
            {
                "backoffLimitPerIndex",
                "manualSelector",
                "maxFailedIndexes",
                "podFailurePolicy",
                "podReplacementPolicy",
                "successPolicy",
            }
        ),
        "JobStatus": frozenset({"uncountedTerminatedPods"}),
        "Namespace": frozenset({"spec", "status"}),
        "NodeSpec": frozenset({"configSource", "externalID", "podCIDR", "podCIDRs", "providerID"}),
        "ObjectMeta": frozenset({"managedFields", "selfLink"}),
        "PodCondition": frozenset({"lastProbeTime", "observedGeneration"}),
        "PriorityClass": frozenset({"description", "globalDefault", "preemptionPolicy"}),
        "RuntimeClass": frozenset({"scheduling"}),
    }
)
"""Fields of Kubernetes that our models leave out, by the name of the model."""

_WITH_STATUS = frozenset({"kueue.x-k8s.io", "queueing.dev"})
"""Groups whose statuses our models have whole."""

Unknown = tuple[tuple[Step, ...], Iterable[str]]
"""Where an unknown field is, and the names that would have been known there."""


def unknown_field_warnings(
    document: Document, model: BaseModel, other_versions: Mapping[str, type[BaseModel]]
) -> list[str]:
    """Return a sentence for every field of a document that the model of its kind does not have.

    Those that only another version of the kind has are told as such; `other_versions` has a model
    for each. What a cluster holds has no such field: its server would have left it out. And nobody
    writes statuses of Kubernetes' own kinds, of which our models have the part that matters here.
    """
    if document.file == LIVE:
        return []
    ours = document.group in _WITH_STATUS
    return [
        f"{document.file}:{document.line_at(path)}: {document.title}: {spell(path)}:"
        f" {_what(path, other_versions)}, left out{did_you_mean(str(path[-1]), known)}"
        for path, known in _in_model(model, document.value, ())
        if ours or path[0] != "status"
    ]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question that names the closest of the known names; empty where none is close."""
    close = get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""


def names_at(model: type[BaseModel], path: Sequence[Step]) -> frozenset[str]:
    """Return the names of the fields that a model has at a path; none where it has no such path."""
    models = [model]
    for step in path:
        if isinstance(step, str):
            models = [part for one in models for part in _parts(_fields(one).get(step))]
    return frozenset(name for one in models for name in _fields(one))


def _what(path: Sequence[Step], other_versions: Mapping[str, type[BaseModel]]) -> str:
    *above, name = path
    has = (version for version, other in other_versions.items() if name in names_at(other, above))
    version = next(has, None)
    return f"a field of {version} only" if version else "unknown field"


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _parts(field: FieldInfo | None) -> Iterator[type[BaseModel]]:
    """Yield the models that a field, or an item of it, may be."""
    todo: list[Any] = [] if field is None else [field.annotation]
    while todo:
        kind = todo.pop()
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield kind
        todo += get_args(kind)


def _in_model(model: BaseModel, raw: Any, path: tuple[Step, ...]) -> Iterator[Unknown]:
    """Walk a model beside the value from which it was made."""
    if not isinstance(raw, dict):
        return
    if isinstance(model, PodTemplateSpec):
        yield from _in_template(_TEMPLATE, raw, path)
        return
    kind = type(model)
    fields = {field.alias or name: name for name, field in kind.model_fields.items()}
    carried = _NOT_MODELLED.get(kind.__name__, frozenset())
    for key, value in raw.items():
        if key in fields:
            yield from _in_value(getattr(model, fields[key]), value, (*path, key))
        elif key not in carried:
            yield (*path, key), fields


def _in_value(made: Any, raw: Any, path: tuple[Step, ...]) -> Iterator[Unknown]:
    if isinstance(made, BaseModel):
        yield from _in_model(made, raw, path)
    elif isinstance(made, list) and isinstance(raw, list):
        for index, (item, written) in enumerate(zip(made, raw, strict=False)):
            yield from _in_value(item, written, (*path, index))
    elif isinstance(made, dict) and isinstance(raw, dict):
        for key, written in raw.items():
            yield from _in_value(made.get(key), written, (*path, key))


def _in_template(definition: str, raw: dict[str, Any], path: tuple[Step, ...]) -> Iterator[Unknown]:
    """Walk a part of a pod template beside Kubernetes' own definition of it."""
    properties = _definitions()[definition]["properties"]
    for key, value in raw.items():
        if key in properties:
            yield from _by_schema(properties[key], value, (*path, key))
        else:
            yield (*path, key), properties


def _by_schema(schema: Mapping[str, Any], raw: Any, path: tuple[Step, ...]) -> Iterator[Unknown]:
    if isinstance(raw, list):
        for index, item in enumerate(raw):
            yield from _by_schema(schema.get("items", {}), item, (*path, index))
    elif isinstance(raw, dict) and "$ref" in schema:
        yield from _in_template(str(schema["$ref"]), raw, path)
    elif isinstance(raw, dict) and schema.get("$special") == "EmbeddedMetadata":
        for key in raw:
            if key not in _EMBEDDED_METADATA:
                yield (*path, key), _EMBEDDED_METADATA


@cache
def _definitions() -> Mapping[str, Any]:
    text = files("queueing_api.crd").joinpath("kubernetes.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return MappingProxyType(found)
