"""JSON merge patch (RFC 7396)."""

from typing import Any

from queueing.apiserver.tree import copied


def merged(target: Any, patch: Any) -> Any:
    """Return `target` with `patch` merged in: null deletes, objects merge, all else replaces."""
    if not isinstance(patch, dict):
        return copied(patch)
    base = target if isinstance(target, dict) else {}
    made = {**base}
    for name, value in patch.items():
        if value is None:
            made.pop(name, None)
        elif isinstance(value, dict):
            made[name] = merged(base.get(name), value)
        else:
            made[name] = copied(value)
    return made
