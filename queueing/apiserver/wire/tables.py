"""Server-side tables: what `kubectl get` prints."""

from collections.abc import Callable, Mapping
from typing import Any

from queueing.apiserver.resources.jsonpath import first_value
from queueing.apiserver.resources.resource import Column
from queueing.apiserver.tree import Object, metadata, name_of
from queueing.apiserver.wire.ages import age
from queueing.apiserver.wire.api import KindRequest
from queueing.apiserver.wire.rows import BUILTIN_COLUMNS, BUILTIN_ROWS, NAMELESS

META = "meta.k8s.io/v1"
_NAME = Column(
    name="Name",
    path=".metadata.name",
    format="name",
    description="Name must be unique within a namespace.",
)
_AGE = Column(name="Age", path=".metadata.creationTimestamp", type="date")


def table(asked: KindRequest, objects: list[Object], meta: Object) -> Object:
    """Return the objects as rows, by the kind's printer columns."""
    now = asked.api.clock()
    columns = _columns(asked)
    include = asked.call.query.get("includeObject", "Metadata")
    cells = _cells(asked, columns, now)
    rows = [_row(obj, cells(obj), include) for obj in objects]
    return {
        "kind": "Table",
        "apiVersion": META,
        "metadata": meta,
        "columnDefinitions": [_definition(column) for column in columns],
        "rows": rows,
    }


def _columns(asked: KindRequest) -> tuple[Column, ...]:
    if asked.resource.custom:
        return (_NAME, *asked.version.columns)
    columns = BUILTIN_COLUMNS.get(asked.resource.key, (_AGE,))
    return columns if asked.resource.key in NAMELESS else (_NAME, *columns)


def _cells(
    asked: KindRequest, columns: tuple[Column, ...], now: float
) -> Callable[[Object], list[Any]]:
    rows: Mapping[str, Callable[[Object, float], list[Any]]] = BUILTIN_ROWS
    special = None if asked.resource.custom else rows.get(asked.resource.key)
    if special is not None:
        if asked.resource.key in NAMELESS:
            return lambda obj: special(obj, now)
        return lambda obj: [name_of(obj), *special(obj, now)]
    return lambda obj: [name_of(obj), *(cell(column, obj, now) for column in columns[1:])]


def cell(column: Column, obj: Object, now: float) -> Any:
    """Return one cell of a column that is a JSONPath."""
    value = first_value(obj, column.path)
    if value is None:
        return None
    if column.type == "date":
        return age(str(value), now)
    if column.type == "integer":
        return int(value) if isinstance(value, (int, float)) else None
    if column.type == "string" and isinstance(value, bool):
        return "true" if value else "false"
    if column.type == "string" and not isinstance(value, str):
        return str(value)
    return value


def _definition(column: Column) -> Object:
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description
        or f"Custom resource definition column (in JSONPath format): {column.path}",
        "priority": column.priority,
    }


def _row(obj: Object, cells: list[Any], include: str) -> Object:
    made: Object = {"cells": cells}
    if include == "Object":
        made["object"] = obj
    elif include == "Metadata":
        made["object"] = partial(obj)
    return made


def partial(obj: Object) -> Object:
    """Return an object's metadata alone."""
    return {"kind": "PartialObjectMetadata", "apiVersion": META, "metadata": metadata(obj)}
