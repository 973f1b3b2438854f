"""Keys of objects by something that the objects name."""

from typing import Generic, TypeVar

from queueing.core.names import Key

G = TypeVar("G")


class Index(Generic[G]):
    """Keys by something that an object names; empty groups vanish."""

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
