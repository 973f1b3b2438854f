"""Stores of cluster-wide objects by name, kept up to date by watch events."""

from collections.abc import MutableMapping
from typing import TypeVar

from queueing.kube.objects import HasMetadata
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent

T = TypeVar("T", bound=HasMetadata)


def keep(event: WatchEvent[T], store: MutableMapping[str, T]) -> bool:
    """Bring the store up to date; False for an event without an object."""
    match event:
        case Added(object=found) | Modified(object=found):
            store[found.metadata.name] = found
        case Deleted(key=key):
            store.pop(key, None)
        case Synced():
            return False
    return True


def name_of(event: WatchEvent[T]) -> str:
    """Return whom an event is about."""
    match event:
        case Added(object=found) | Modified(object=found):
            return found.metadata.name
        case Deleted(key=key):
            return key
        case _:
            return ""


def known(event: WatchEvent[T], store: MutableMapping[str, T]) -> T | None:
    """Return what the store has of whom an event is about."""
    return store.get(name_of(event))
