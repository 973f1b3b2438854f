"""Hypothesis strategies for objects of a kind, made from the schema of its model."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import strategies as st

from queueing_api.crd.generate import object_schema
from queueing_api.kueue.convert.placement import to_slices
from queueing_api.meta.v1 import KubeObject

TIME = "2026-01-31T08:00:00Z"
names = st.sampled_from(["a", "b-c", "d1", "e.f"])
short_names = st.sampled_from(["a", "bc", "d1"])
unknown = st.dictionaries(
    st.sampled_from(["xNew", "xOther"]),
    st.one_of(st.integers(0, 3), names, st.lists(names)),
    max_size=1,
)
containers = st.fixed_dictionaries(
    {"name": names}, optional={"resources": st.just({"requests": {"cpu": "1", "memory": "1Gi"}})}
)
templates = st.fixed_dictionaries(
    {"spec": st.fixed_dictionaries({"containers": st.lists(containers, max_size=2)})}
)


@st.composite
def domains(draw: st.DrawFn) -> dict[str, Any]:
    """An assignment as v1beta1 spells it."""
    levels = draw(st.lists(names, min_size=1, max_size=3))
    value = st.sampled_from(["n", "node-1", "node-12", "x-1.local", "x-22.local"])
    values = st.tuples(*[value] * len(levels)).map(list)
    entry = st.fixed_dictionaries({"values": values, "count": st.integers(1, 3)})
    return {"levels": levels, "domains": draw(st.lists(entry, min_size=1, max_size=4))}


@st.composite
def slices(draw: st.DrawFn) -> dict[str, Any]:
    """An assignment as v1beta2 spells it, also in ways that we would not write it."""
    made: dict[str, Any] = to_slices(draw(domains()))
    if draw(st.booleans()):
        count, levels = draw(st.integers(1, 2)), len(made["levels"])
        roots = st.lists(st.sampled_from(["", "1", "a"]), min_size=count, max_size=count)
        individual = st.fixed_dictionaries({"roots": roots}, optional={"prefix": names})
        cells = st.lists(
            st.one_of(
                st.fixed_dictionaries({"universal": names}),
                st.fixed_dictionaries({"individual": individual}),
            ),
            min_size=levels,
            max_size=levels,
        )
        pods = [1] * count
        cell = {
            "domainCount": count,
            "valuesPerLevel": draw(cells),
            "podCounts": {"individual": pods},
        }
        made["slices"].append(cell)
    return made


def objects_of(model: type[KubeObject]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects of a kind with any of its fields, and fields that nobody knows."""
    group, version, kind = model.gvk()
    labels = st.dictionaries(names, names, min_size=1, max_size=2)
    metadata = st.fixed_dictionaries(
        {"name": names}, optional={"labels": labels, "annotations": labels}
    )
    body = _body(model)
    return st.tuples(metadata, body).map(
        lambda parts: {
            "apiVersion": f"{group}/{version}",
            "kind": kind,
            "metadata": parts[0],
            **parts[1],
        }
    )


@pytest.fixture(scope="session")
def objects() -> Callable[[type[KubeObject]], st.SearchStrategy[dict[str, Any]]]:
    """Return the function that makes the strategy of a kind's objects."""
    return objects_of


@cache
def _body(model: type[KubeObject]) -> st.SearchStrategy[dict[str, Any]]:
    schema = object_schema(model, ())
    properties = {
        name: item
        for name, item in schema["properties"].items()
        if name not in ("apiVersion", "kind", "metadata")
    }
    return _of_properties({**schema, "properties": properties})


def _values(schema: dict[str, Any], name: str) -> st.SearchStrategy[Any]:
    if name == "template":
        return templates
    if name == "topologyAssignment":
        return slices() if "slices" in schema["properties"] else domains()
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema.get("x-kubernetes-int-or-string"):
        return st.sampled_from(["1", "2Gi", "500m", "0"])
    match schema["type"]:
        case "string":
            return st.just(TIME) if schema.get("format") == "date-time" else short_names
        case "integer":
            return st.integers(max(schema.get("minimum", 0), 0), 5)
        case "boolean":
            return st.booleans()
        case "array":
            return _lists(schema, name)
        case _:
            pass
    if "additionalProperties" in schema:
        return st.dictionaries(names, _values(schema["additionalProperties"], ""), max_size=2)
    return _of_properties(schema)


def _lists(schema: dict[str, Any], name: str) -> st.SearchStrategy[Any]:
    keys = schema.get("x-kubernetes-list-map-keys")
    unique_by = None
    if keys:
        unique_by = lambda item: tuple(item.get(key) for key in keys)  # noqa: E731
    elif schema.get("x-kubernetes-list-type") == "set":
        unique_by = lambda item: item  # noqa: E731
    items = _values(schema["items"], name)
    return st.lists(items, min_size=schema.get("minItems", 0), max_size=2, unique_by=unique_by)


def _of_properties(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    made = {name: _values(item, name) for name, item in schema["properties"].items()}
    if schema.get("maxProperties") == 1:
        return st.one_of(*[st.fixed_dictionaries({name: item}) for name, item in made.items()])
    required = {name: made.pop(name) for name in schema.get("required", ())}
    known = st.fixed_dictionaries(required, optional=made)
    return st.tuples(known, unknown).map(lambda parts: {**parts[1], **parts[0]})
