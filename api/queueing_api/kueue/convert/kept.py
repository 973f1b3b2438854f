"""What a version cannot say, as places and values beside the object, and back into it."""

from collections.abc import Iterator
from typing import Any

Place = list[Any]
"""Steps from the outside in: a field's name, or {"name": …} for the item of a list."""
Kept = tuple[Place, Any]


class _Missing:
    """The value of a field that is not there."""


MISSING = _Missing()


def differences(want: Any, have: Any, place: Place | None = None) -> Iterator[Kept]:
    """Yield the places where `have` must change to become `want`, in a defined order.

    A field that is to be absent yields MISSING. Lists of named items are compared item by item;
    other lists are values: a part of one means nothing without the rest.
    """
    place = place or []
    if want is have:  # what a conversion did not touch is shared, not copied
        return
    if isinstance(want, dict) and isinstance(have, dict):
        for key in sorted(want.keys() | have.keys()):
            if key not in want:
                yield [*place, key], MISSING
            elif key not in have:
                yield [*place, key], want[key]
            else:
                yield from differences(want[key], have[key], [*place, key])
    elif (names := _names(want)) and names == _names(have):
        for name, new, old in zip(names, want, have, strict=True):
            yield from differences(new, old, [*place, {"name": name}])
    elif want != have:
        yield place, want


def _names(items: Any) -> list[str]:
    """Return the names that tell a list's items apart; none if they do not."""
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return []
    names = [item.get("name") for item in items]
    told_apart = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    return [str(name) for name in names] if told_apart else []


def placed(document: Any, place: Place, value: Any) -> Any:
    """Return the document with a value at a place.

    Raises LookupError or ValueError if the place is no longer there.
    """
    step, *rest = place
    if isinstance(step, dict):
        index = _names(document).index(step["name"])
        inner = placed(document[index], rest, value)
        return [*document[:index], inner, *document[index + 1 :]]
    if not isinstance(document, dict):
        raise ValueError(step)  # noqa: TRY004 - the document changed, no caller is wrong
    if rest:
        return {**document, step: placed(document[step], rest, value)}
    if value is MISSING:
        return {key: item for key, item in document.items() if key != step}
    return {**document, step: value}
