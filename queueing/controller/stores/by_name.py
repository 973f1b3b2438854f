"""Stores of cluster-wide objects by name, kept up to date by watch events."""

from collections.abc import MutableMapping
from typing import TypeVar

from queueing.kube.objects import HasMetadata
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent

T = TypeVar("T", bound=HasMetadata)


def keep(event: WatchEvent[T], store: MutableMapping[str, T]) -> bool:
    """Apply an event to the store; False for `Synced`, which is about no object."""
    match event:
        case Added(object=found) | Modified(object=found):
            store[found.metadata.name] = found
        case Deleted(key=key):
            store.pop(key, None)
        case Synced():
            return False
    return True


def name_of(event: WatchEvent[T]) -> str:
    """Return the name of the object that an event is about; empty for `Synced`."""
    match event:
        case Added(object=found) | Modified(object=found):
            return found.metadata.name
        case Deleted(key=key):
            return key
        case _:
            return ""


def known(event: WatchEvent[T], store: MutableMapping[str, T]) -> T | None:
    """Return the stored object that an event is about; None when the store does not have it."""
    return store.get(name_of(event))
