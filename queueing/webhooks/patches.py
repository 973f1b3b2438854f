"""The difference of two objects as a JSON patch (RFC 6902), as short as dicts allow."""

from collections.abc import Iterator
from typing import Any


def difference(before: Any, after: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """Yield the operations that turn `before` into `after`; lists are replaced whole."""
    if before == after:
        return
    if not isinstance(before, dict) or not isinstance(after, dict):
        yield {"op": "replace", "path": path, "value": after}
        return
    for key in sorted(before.keys() - after.keys()):
        yield {"op": "remove", "path": f"{path}/{escaped(key)}"}
    for key, value in after.items():
        where = f"{path}/{escaped(key)}"
        if key not in before:
            yield {"op": "add", "path": where, "value": value}
        else:
            yield from difference(before[key], value, where)


def escaped(key: str) -> str:
    """Spell a key as one step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
