"""Small changes to nested plain data that leave the original alone and share what stays."""

from collections.abc import Callable
from typing import Any

Document = dict[str, Any]
Change = Callable[[Any], Any]

ABSENT: Any = object()
"""What a change returns to take the field away."""


def changed(document: Any, field: str, change: Change) -> Any:
    """Return the object with a field changed; one without the field is returned as it is."""
    if not isinstance(document, dict) or field not in document:
        return document
    value = change(document[field])
    if value is ABSENT:
        return {key: item for key, item in document.items() if key != field}
    return document if value is document[field] else {**document, field: value}


def renamed(document: Any, field: str, name: str) -> Any:
    """Return the object with a field under another name, in the same place."""
    if not isinstance(document, dict) or field not in document or name in document:
        return document
    return {name if key == field else key: value for key, value in document.items()}


def each(change: Change) -> Change:
    """Make a change of an item into a change of every item of a list."""

    def change_all(items: Any) -> Any:
        if not isinstance(items, list):
            return items
        made = [change(item) for item in items]
        same = all(new is old for new, old in zip(made, items, strict=True))
        return items if same else made

    return change_all


def inside(*steps: str, change: Change) -> Change:
    """Make a change of a nested field into a change of the object around it."""
    for step in reversed(steps):
        change = _within(step, change)
    return change


def _within(field: str, change: Change) -> Change:
    return lambda document: changed(document, field, change)


def gone(_value: Any) -> Any:
    """Take the field away."""
    return ABSENT
