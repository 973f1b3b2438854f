"""Fields of an object by the names that lead to them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from typing_extensions import override

Step = str | int
Steps = tuple[Step, ...]
Names = tuple[str, ...]
EACH = "*"
"""The step to each entry of a list or map."""
Document = dict[str, Any]
"""An object as plain values, as far as its kind reads it."""


class _Absent:
    """The type of `ABSENT`."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    @override
    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()
"""What is where no value is. A null counts as absent, as in Kubernetes."""


@lru_cache(maxsize=4096)  # paths of AppWrappers are their users'
def steps(path: str) -> Names:
    """Take a path apart; an empty one leads to the object itself."""
    return tuple(path.split(".")) if path else ()


def spelled(path: Sequence[Step]) -> str:
    """Write a path as Kubernetes does: `spec.podSets[0].count`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


@lru_cache(maxsize=1024)  # a QueueableKind has new structs whenever it is compiled
def attributes(kind: type) -> Mapping[Step, str]:
    """Return the attributes of a struct by the names that the wire has for them."""
    if not issubclass(kind, msgspec.Struct):
        return {}
    return dict(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))


def child(value: Any, step: Step) -> Any:
    """Return a field of a struct or map, or an item of a list; ABSENT where there is none."""
    return value_at(value, (step,))


def value_at(value: Any, path: Sequence[Step]) -> Any:
    """Return what is at a path of structs, maps and lists; ABSENT where nothing is."""
    for step in path:
        kind: Any = type(value)
        if kind is dict:
            value = value.get(step)
        elif name := attributes(kind).get(step):
            value = getattr(value, name)
        elif kind is list and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
        if value is None or value is msgspec.UNSET:
            return ABSENT
    return value


def detach(value: Any, places: Iterable[Names]) -> None:
    """Copy what is kept as it was sent, at these places of a struct that was just made.

    Else each would keep the whole message in memory that it came in, such as a list of objects. A
    place is a path of attributes, and of `EACH` for all entries of a list or map.
    """
    for *above, last in places:
        around = [value]
        for step in above:
            within: list[Any] = []
            for one in around:
                if step == EACH:
                    within += one.values() if isinstance(one, dict) else one
                elif (inner := getattr(one, step)) is not msgspec.UNSET:
                    within.append(inner)
            around = within
        for one in around:
            if (sent := getattr(one, last)) is not msgspec.UNSET:
                msgspec.structs.force_setattr(one, last, sent.copy())


def map_at(document: Document, path: Sequence[Step]) -> dict[str, Any]:
    """Return the map at a path, made with those on the way where none is."""
    *above, last = path
    place: Any = document
    for step in above:
        if isinstance(place, dict) and place.get(step) is None:
            place[step] = {}
        place = place[step]
    if not isinstance(place.get(last), dict):
        place[last] = {}
    found: dict[str, Any] = place[last]
    return found


def put(document: Any, path: Sequence[Step], value: Any) -> None:
    """Write a value into a document of dicts and lists, and the maps on the way that it lacks.

    ABSENT removes the field, but not what is around it. Lists must have the items on the way.
    """
    *above, last = path
    for step in above:
        if isinstance(document, dict) and document.get(str(step)) is None:
            if value is ABSENT:
                return
            document[str(step)] = {}
        document = document[step]
    if value is not ABSENT:
        document[last] = value
    elif isinstance(document, dict):
        document.pop(str(last), None)


def clear(document: Any, path: Steps) -> None:
    """Remove a field from a document, and the maps around it that are empty then."""
    put(document, path, ABSENT)
    while len(path) > 1 and value_at(document, path[:-1]) == {}:
        path = path[:-1]
        put(document, path, ABSENT)
