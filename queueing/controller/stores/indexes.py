"""An index: the keys of the objects that share a property, such as an owner or a queue."""

from typing import Generic, TypeVar

from queueing.core.names import Key

G = TypeVar("G")


class Index(Generic[G]):
    """Keys by group, in the order in which they were added; empty groups take no memory."""

    def __init__(self) -> None:
        self._keys: dict[G, dict[Key, None]] = {}

    def __getitem__(self, group: G) -> tuple[Key, ...]:
        return tuple(self._keys.get(group, ()))

    def add(self, group: G, key: Key) -> None:
        """Put a key into a group."""
        self._keys.setdefault(group, {})[key] = None

    def drop(self, group: G, key: Key) -> None:
        """Take a key out of a group."""
        keys = self._keys.get(group)
        if keys is not None:
            keys.pop(key, None)
            if not keys:
                del self._keys[group]
