"""What is deleted although nobody asks: dependents of owners, namespaces, definitions; old Events.

Event driven: `note` remembers what a change may have made collectable, `sweep` acts on it until
nothing is left to do. The server calls `sweep` from its loop, so a write returns before it.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from queueing.apiserver.failures import ApiFailure
from queueing.apiserver.memory.history import WatchEvent, WatchEventType
from queueing.apiserver.memory.store import Store
from queueing.apiserver.memory.writes import (
    FOREGROUND,
    ORPHAN,
    Author,
    DeleteOptions,
    StoreWrites,
    wire_time,
)
from queueing.apiserver.resources.resource import Resource
from queueing.apiserver.rules.definitions import CLEANUP
from queueing.apiserver.tree import Object, metadata, name_of, namespace_of, uid_of, with_value

Place = tuple[str, str, str]
_AUTHOR = Author(name="")
EVENT_LIFE_S = 3_600.0
"""How long Events stay after their last write: the default of the option `--event-ttl`."""


@dataclass(slots=True)
class Collector:
    """Removes what its owner, namespace or definition left behind."""

    store: Store
    writes: StoreWrites
    _dependents: dict[str, dict[Place, None]] = field(default_factory=dict)
    _living: dict[str, Place] = field(default_factory=dict)
    _todo: deque[Place] = field(default_factory=deque)

    def note(self, resource: Resource, event: WatchEvent) -> bool:
        """Remember a change; tell whether there is something to sweep."""
        obj = event.after
        place = (resource.key, namespace_of(obj), name_of(obj))
        gone = event.change is WatchEventType.DELETED
        if gone:
            self._living.pop(uid_of(obj), None)
        else:
            self._living[uid_of(obj)] = place
        self._index(place, event.before, None if gone else obj)
        self._queue(place, obj, gone=gone)
        return bool(self._todo)

    def _index(self, place: Place, before: Object | None, after: Object | None) -> None:
        old, new = _owner_uids(before), _owner_uids(after)
        for uid in old - new:
            places = self._dependents.get(uid, {})
            places.pop(place, None)
            if not places:
                self._dependents.pop(uid, None)
        for uid in new - old:
            self._dependents.setdefault(uid, {})[place] = None

    def _queue(self, place: Place, obj: Object, *, gone: bool) -> None:
        meta = metadata(obj)
        if gone:
            self._todo.extend(self._dependents.get(uid_of(obj), ()))
            self._todo.extend(self._living[uid] for uid in _owner_uids(obj) if uid in self._living)
            if place[1]:
                self._todo.append(("namespaces", "", place[1]))
            self._todo.extend(self._definition_of(place[0]))
            return
        if meta.get("deletionTimestamp") or meta.get("ownerReferences"):
            self._todo.append(place)

    def _definition_of(self, key: str) -> list[Place]:
        resource = self.store.catalog.by_key(key)
        if resource is None or not resource.custom:
            return []
        return [("customresourcedefinitions.apiextensions.k8s.io", "", key)]

    def sweep(self, limit: int = 1_000) -> bool:
        """Act on at most `limit` places; tell whether more is left."""
        for _ in range(min(limit, len(self._todo))):
            key, namespace, name = self._todo.popleft()
            resource = self.store.catalog.by_key(key)
            obj = self.store.peek(resource, namespace, name) if resource else None
            if resource is None or obj is None:
                continue
            try:
                self._settle(resource, obj)
            except (
                ApiFailure
            ):  # somebody else wrote it meanwhile, and that change is noted by itself
                continue
        return bool(self._todo)

    def _settle(self, resource: Resource, obj: Object) -> None:
        if metadata(obj).get("deletionTimestamp"):
            self._finish(resource, obj)
            return
        owners = metadata(obj).get("ownerReferences") or []
        if not owners:
            return
        living = [owner for owner in owners if owner.get("uid") in self._living]
        if not living:
            self.writes.delete(
                resource, obj, DeleteOptions(uid=uid_of(obj), propagation=_kept_policy(obj))
            )
        elif len(living) < len(owners):
            self._write(resource, obj, with_value(obj, ("metadata", "ownerReferences"), living))
        elif all(self._leaving_foreground(owner) for owner in living):
            self.writes.delete(
                resource, obj, DeleteOptions(uid=uid_of(obj), propagation=_policy_below(self, obj))
            )

    def _leaving_foreground(self, owner: Object) -> bool:
        found = self._at(self._living.get(str(owner.get("uid"))))
        meta = metadata(found) if found else {}
        return bool(meta.get("deletionTimestamp")) and FOREGROUND in (meta.get("finalizers") or ())

    def _at(self, place: Place | None) -> Object | None:
        resource = self.store.catalog.by_key(place[0]) if place else None
        return self.store.peek(resource, place[1], place[2]) if resource and place else None

    def _finish(self, resource: Resource, obj: Object) -> None:
        """Bring a deletion that waits for this collector one step further."""
        finalizers = metadata(obj).get("finalizers") or []
        if ORPHAN in finalizers:
            self._orphan(obj)
            self._drop_finalizer(resource, obj, ORPHAN)
        elif FOREGROUND in finalizers:
            self._delete_dependents(resource, obj)
        if resource.key == "namespaces":
            self._empty(resource, obj)
        elif CLEANUP in finalizers:
            self._undefine(resource, obj)

    def _orphan(self, owner: Object) -> None:
        for place in tuple(self._dependents.get(uid_of(owner), ())):
            kind, dependent = self.store.catalog.by_key(place[0]), self._at(place)
            if kind is not None and dependent is not None:
                references = metadata(dependent).get("ownerReferences") or []
                kept = [
                    reference for reference in references if reference.get("uid") != uid_of(owner)
                ]
                self._write(
                    kind, dependent, with_value(dependent, ("metadata", "ownerReferences"), kept)
                )

    def _delete_dependents(self, resource: Resource, owner: Object) -> None:
        """Foreground: the owner goes when no dependent that blocks it is left."""
        blocking = False
        for place in tuple(self._dependents.get(uid_of(owner), ())):
            kind, dependent = self.store.catalog.by_key(place[0]), self._at(place)
            if kind is None or dependent is None:
                continue
            blocking = blocking or _blocks(dependent, uid_of(owner))
            if not metadata(dependent).get("deletionTimestamp"):
                self._todo.append(place)
        if not blocking:
            self._drop_finalizer(resource, owner, FOREGROUND)

    def _drop_finalizer(self, resource: Resource, obj: Object, name: str) -> None:
        kept = [
            finalizer for finalizer in metadata(obj).get("finalizers") or () if finalizer != name
        ]
        self._write(resource, obj, with_value(obj, ("metadata", "finalizers"), kept))

    def _write(self, resource: Resource, old: Object, new: Object) -> None:
        meta: dict[str, Any] = {name: value for name, value in metadata(new).items() if value != []}
        self.writes.commit_update(resource, old, {**new, "metadata": meta}, _AUTHOR)

    def _empty(self, resource: Resource, namespace: Object) -> None:
        """Delete what lives in the namespace; when nothing does, let it go."""
        left = False
        for kind in self.store.catalog.all():
            if not kind.namespaced:
                continue
            for obj in self.store.items(kind, name_of(namespace)):
                left = True
                if not metadata(obj).get("deletionTimestamp"):
                    self.writes.delete(kind, obj, DeleteOptions(propagation="Background"))
        current = self.store.peek(resource, "", name_of(namespace))
        if not left and current is not None and (current.get("spec") or {}).get("finalizers"):
            self._write(resource, current, with_value(current, ("spec", "finalizers"), []))

    def _undefine(self, resource: Resource, definition: Object) -> None:
        """Delete every object of a kind that is going away, then let the definition go."""
        kind = self.store.catalog.by_key(name_of(definition))
        objects = self.store.items(kind) if kind else []
        for obj in objects:
            if kind and not metadata(obj).get("deletionTimestamp"):
                self.writes.delete(kind, obj, DeleteOptions(propagation="Background"))
        if not kind or not self.store.items(kind):
            current = self.store.peek(resource, "", name_of(definition))
            if current is not None:
                self._drop_finalizer(resource, current, CLEANUP)


def _owner_uids(obj: Object | None) -> set[str]:
    owners = metadata(obj).get("ownerReferences") if obj else None
    return {str(owner.get("uid")) for owner in owners or ()}


def _blocks(dependent: Object, owner_uid: str) -> bool:
    owners = metadata(dependent).get("ownerReferences") or ()
    return any(
        owner.get("uid") == owner_uid and owner.get("blockOwnerDeletion") for owner in owners
    )


def _kept_policy(obj: Object) -> str:
    """Return how a dependent goes: as its own finalizers say, else in the background."""
    finalizers = metadata(obj).get("finalizers") or ()
    if ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in finalizers else "Background"


def _policy_below(collector: Collector, obj: Object) -> str:
    """Foreground deletion goes down the tree as long as there is somebody below."""
    return "Foreground" if collector._dependents.get(uid_of(obj)) else "Background"  # noqa: SLF001 - same module


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
