"""Indexes: the keys of the objects that share a property, such as an owner or a queue."""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from queueing.core.names import Key

G = TypeVar("G")


class Index(Generic[G]):
    """Keys by group, in the order in which they were added; empty groups take no memory."""

    __slots__ = ("groups",)

    def __init__(self) -> None:
        self.groups: dict[G, dict[Key, None]] = {}
        """To be read only, and not across changes; `[group]` returns a copy."""

    def __getitem__(self, group: G) -> tuple[Key, ...]:
        return tuple(self.groups.get(group, ()))

    def add(self, group: G, key: Key) -> None:
        """Put a key into a group."""
        self.groups.setdefault(group, {})[key] = None

    def drop(self, group: G, key: Key) -> None:
        """Take a key out of a group."""
        keys = self.groups.get(group)
        if keys is not None:
            keys.pop(key, None)
            if not keys:
                del self.groups[group]


Entry = tuple[Index[Any], str]
"""A group of an index that an object is in."""


class Entries:
    """The entries of each object. A version with the same entries as the last changes nothing."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Key, Sequence[Entry]] = {}

    def put(self, key: Key, entries: Sequence[Entry]) -> None:
        """Enter a new version of an object, in place of the last one."""
        before = self._known.get(key, ())
        if entries == before:
            return
        for one in before:
            if one not in entries:
                one[0].drop(one[1], key)
        for one in entries:
            if one not in before:
                one[0].add(one[1], key)
        self._known[key] = entries

    def drop(self, key: Key) -> None:
        """Take an object that is gone out of all indexes."""
        for index, group in self._known.pop(key, ()):
            index.drop(group, key)
