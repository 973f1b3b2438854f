"""Events do not stay for ever: they go an hour after their last write, as on any API server."""

from queueing.apiserver.memory.writes import DeleteOptions, StoreWrites, wire_time
from queueing.apiserver.tree import Object, metadata

EVENT_LIFE_S = 3_600.0
"""The default of the API server's option `--event-ttl`."""


def expire_events(writes: StoreWrites) -> None:
    """Delete the Events whose time is over."""
    events = writes.store.catalog.builtin("", "events")
    oldest = wire_time(writes.clock() - EVENT_LIFE_S)
    for event in [one for one in writes.store.items(events) if _written(one) < oldest]:
        writes.delete(events, event, DeleteOptions())


def _written(event: Object) -> str:
    """Return when an Event was written last; times of one spelling are ordered like their text."""
    meta = metadata(event)
    times = [str(entry.get("time") or "") for entry in meta.get("managedFields") or ()]
    return max(str(meta.get("creationTimestamp") or ""), *times)
