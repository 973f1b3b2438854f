"""Objects by kind and name, under one growing version."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sortedcontainers import SortedDict

from queueing.apiserver.failures import already_exists, conflict, expired, not_found, version_ahead
from queueing.apiserver.memory.history import History, Listener, WatchEvent, WatchEventType
from queueing.apiserver.resources.catalog import ServedKinds
from queueing.apiserver.resources.resource import Resource
from queueing.apiserver.tree import Object, metadata, name_of, namespace_of, version_of

Place = tuple[str, str]
Journal = Callable[[str, Place, Object | None], None]


@dataclass(slots=True)
class Shelf:
    """All objects of one kind, ordered by namespace and name."""

    objects: Any
    history: History


class Store:
    """The memory of the server. Stored objects are never changed in place."""

    def __init__(self, catalog: ServedKinds | None = None, *, history: int = 20_000) -> None:
        self.catalog = catalog or ServedKinds()
        self.version = 1
        self._history = history
        self._shelves: dict[str, Shelf] = {}
        self._listeners: list[Callable[[Resource, WatchEvent], None]] = []
        self._journals: list[Journal] = []

    def on_change(self, listener: Callable[[Resource, WatchEvent], None]) -> None:
        """Call `listener` after every change of any kind."""
        self._listeners.append(listener)

    def keep_in(self, journal: Journal) -> None:
        """Tell `journal` (kind, place, object or None) before anybody else hears of it."""
        self._journals.append(journal)

    def read(self, resource: Resource, namespace: str, name: str) -> Object:
        """Return the object; 404 when it does not exist."""
        found = self.peek(resource, namespace, name)
        if found is None:
            raise not_found(resource.group, resource.plural, name)
        return found

    def peek(self, resource: Resource, namespace: str, name: str) -> Object | None:
        """Return the object, or None."""
        found: Object | None = self._shelf(resource).objects.get((namespace, name))
        return found

    def items(self, resource: Resource, namespace: str = "") -> list[Object]:
        """Return the objects of a kind (of one namespace), ordered by namespace and name."""
        objects = self._shelf(resource).objects
        if not namespace:
            return list(objects.values())
        last = (namespace + "\x00", "")
        return [
            objects[place]
            for place in objects.irange((namespace, ""), last, inclusive=(True, False))
        ]

    def items_at(self, resource: Resource, version: int, namespace: str = "") -> list[Object]:
        """Return the objects as they were at `version`; 410 when that is forgotten."""
        self.check_version(resource, version)
        shelf = self._shelf(resource)
        undone: dict[Place, Object | None] = {}
        for event in shelf.history.since(version):
            undone.setdefault(_place(event.after), event.before)
        if not undone:
            return self.items(resource, namespace)
        then = {_place(obj): obj for obj in self.items(resource, namespace)}
        for place, before in undone.items():
            if before is None:
                then.pop(place, None)
            elif not namespace or place[0] == namespace:
                then[place] = before
        return [then[place] for place in sorted(then)]

    def check_version(self, resource: Resource, version: int) -> None:
        """Refuse a version that is forgotten (410) or not reached yet (504)."""
        if version > self.version:
            raise version_ahead(version, self.version)
        oldest = self._shelf(resource).history.forgotten
        if version < oldest:
            raise expired(f"too old resource version: {version} ({oldest})")

    def insert(self, resource: Resource, obj: Object) -> Object:
        """Store a new object under the next version and return it."""
        shelf = self._shelf(resource)
        place = _place(obj)
        if place in shelf.objects:
            raise already_exists(resource.group, resource.plural, place[1])
        stored = self._stamped(obj)
        shelf.objects[place] = stored
        self._publish(resource, shelf, WatchEvent(self.version, WatchEventType.ADDED, None, stored))
        return stored

    def replace(self, resource: Resource, old: Object, obj: Object) -> Object:
        """Store `obj` in place of `old`; 409 when `old` is not what is stored now."""
        shelf = self._shelf(resource)
        place = _place(old)
        if shelf.objects.get(place) is not old:
            raise conflict(resource.group, resource.plural, place[1])
        stored = self._stamped(obj)
        shelf.objects[place] = stored
        self._publish(
            resource, shelf, WatchEvent(self.version, WatchEventType.MODIFIED, old, stored)
        )
        return stored

    def remove(self, resource: Resource, old: Object) -> Object:
        """Forget `old`; 409 when it is not what is stored now. Returns its last state."""
        shelf = self._shelf(resource)
        place = _place(old)
        if shelf.objects.get(place) is not old:
            raise conflict(resource.group, resource.plural, place[1])
        del shelf.objects[place]
        last = self._stamped(old)
        self._publish(resource, shelf, WatchEvent(self.version, WatchEventType.DELETED, old, last))
        return last

    def listen(self, resource: Resource, listener: Listener) -> Callable[[], None]:
        """Call `listener` for each later change of a kind; the result ends that."""
        return self._shelf(resource).history.listen(listener)

    def since(self, resource: Resource, version: int) -> Iterator[WatchEvent]:
        """Yield the changes of a kind after `version`; 410 when they are forgotten."""
        oldest = self._shelf(resource).history.forgotten
        if version < oldest:
            raise expired(f"too old resource version: {version} ({oldest})")
        return self._shelf(resource).history.since(version)

    def compact(self) -> None:
        """Forget all history: an older resourceVersion is answered by 410 from now on."""
        self.version += 1
        for shelf in self._shelves.values():
            shelf.history.compact(self.version)

    def restore(self, resource: Resource, obj: Object) -> None:
        """Put back an object as it was stored in an earlier life of the server."""
        self._shelf(resource).objects[_place(obj)] = obj
        self.version = max(self.version, version_of(obj))

    def _shelf(self, resource: Resource) -> Shelf:
        shelf = self._shelves.get(resource.key)
        if shelf is None:
            shelf = Shelf(SortedDict(), History(self._history))
            self._shelves[resource.key] = shelf
        return shelf

    def _stamped(self, obj: Object) -> Object:
        self.version += 1
        return {**obj, "metadata": {**metadata(obj), "resourceVersion": str(self.version)}}

    def _publish(self, resource: Resource, shelf: Shelf, event: WatchEvent) -> None:
        gone = event.change is WatchEventType.DELETED
        for journal in self._journals:
            journal(resource.key, _place(event.after), None if gone else event.after)
        shelf.history.append(event)
        for listener in self._listeners:
            listener(resource, event)


def _place(obj: Object) -> Place:
    return namespace_of(obj), name_of(obj)
