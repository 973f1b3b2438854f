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
