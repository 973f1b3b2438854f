"""Watch: from a version on, forever or until the client's timeout, at one encoding per event."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from queueing.apiserver.failures import ApiFailure
from queueing.apiserver.memory.history import WatchEvent, WatchEventType
from queueing.apiserver.memory.selectors import Match, everything, field_match, label_match
from queueing.apiserver.tree import Object, namespace_of, with_value
from queueing.apiserver.wire.api import KindRequest
from queueing.apiserver.wire.bodies import encoded
from queueing.apiserver.wire.listing import forbidden_match
from queueing.apiserver.wire.presentation import Form, presented, shape_of

_BATCH = 256


@dataclass(slots=True)
class Watcher:
    """One open watch: what came and was not sent yet."""

    asked: KindRequest
    match: Match
    waiting: deque[WatchEvent] = field(default_factory=deque)
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    closed: bool = False

    def hear(self, event: WatchEvent) -> None:
        self.waiting.append(event)
        self.woken.set()

    def close(self) -> None:
        """End the watch as soon as what waits is sent."""
        self.closed = True
        self.woken.set()

    def seen(self, event: WatchEvent) -> WatchEventType | None:
        """Return how this watcher sees a change of an object: None when it does not."""
        if self.asked.namespace and namespace_of(event.after) != self.asked.namespace:
            return None
        after = event.change is not WatchEventType.DELETED and self.match(event.after)
        before = event.before is not None and self.match(event.before)
        if after:
            return WatchEventType.MODIFIED if before else WatchEventType.ADDED
        return WatchEventType.DELETED if before else None


def watcher_of(asked: KindRequest) -> Watcher:
    """Return the watcher that a call asks for; a bad selector is a 400 before anything is sent."""
    query = asked.call.query
    if query.get("sendInitialEvents") and query.get("resourceVersionMatch") != "NotOlderThan":
        raise forbidden_match(
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        )
    by_label = label_match(query.get("labelSelector", ""))
    by_field = field_match(query.get("fieldSelector", ""), asked.resource, asked.version)
    if by_label is everything and by_field is everything:
        return Watcher(asked, everything)
    return Watcher(asked, lambda obj: by_label(obj) and by_field(obj))


async def lines(watcher: Watcher) -> AsyncGenerator[bytes, None]:
    """Yield what goes over the wire, several events at a time."""
    asked = watcher.asked
    seconds = asked.call.number("timeoutSeconds") or 0
    end = asyncio.get_running_loop().time() + seconds if seconds else None
    stop = asked.api.store.listen(asked.resource, watcher.hear)
    try:
        try:
            yield await _beginning(watcher)
        except ApiFailure as failure:
            yield _line(WatchEventType.ERROR, encoded(failure.status()))
            return
        async for chunk in _following(watcher, end):
            yield chunk
    finally:
        stop()


async def _beginning(watcher: Watcher) -> bytes:
    """Return the state or the history from which the watch starts."""
    asked, store = watcher.asked, watcher.asked.api.store
    version = asked.call.number("resourceVersion")
    explicit = asked.call.query.get("sendInitialEvents")
    initial = explicit == "true" or (version == 0 and explicit != "false")
    if not initial:
        events = list(store.since(asked.resource, version)) if version else []
        return await _batch(watcher, events)
    if version > store.version:
        store.check_version(asked.resource, version)
    now = store.version
    objects = [obj for obj in store.items(asked.resource, asked.namespace) if watcher.match(obj)]
    shown = await asked.shown_all(objects)
    text = b"".join(_line(WatchEventType.ADDED, _content(watcher, obj)) for obj in shown)
    if explicit == "true" and asked.call.flag("allowWatchBookmarks"):
        text += _bookmark(watcher, now, initial=True)
    return text


async def _following(watcher: Watcher, end: float | None) -> AsyncGenerator[bytes, None]:
    """Yield later events, and a bookmark whenever nothing happened for a while."""
    asked = watcher.asked
    bookmarks = asked.call.flag("allowWatchBookmarks")
    time = asyncio.get_running_loop().time
    due = time() + asked.api.bookmark_seconds
    while not (watcher.closed and not watcher.waiting):
        now = time()
        if end is not None and now >= end:
            return
        if bookmarks and now >= due and not watcher.waiting:
            due = now + asked.api.bookmark_seconds
            yield _bookmark(watcher, asked.api.store.version)
        if not watcher.waiting:
            watcher.woken.clear()
            limits = [
                moment - now for moment in (end, due if bookmarks else None) if moment is not None
            ]
            try:
                async with asyncio.timeout(max(0.0, min(limits)) if limits else None):
                    await watcher.woken.wait()
            except TimeoutError:
                continue
        events = [watcher.waiting.popleft() for _ in range(min(_BATCH, len(watcher.waiting)))]
        text = await _batch(watcher, events)
        if text:
            yield text


async def _batch(watcher: Watcher, events: list[WatchEvent]) -> bytes:
    parts = [await _event(watcher, event) for event in events]
    return b"".join(parts)


async def _event(watcher: Watcher, event: WatchEvent) -> bytes:
    change = watcher.seen(event)
    if change is None:
        return b""
    asked = watcher.asked
    key = f"{change}/{asked.version.name}/{asked.call.accept}"
    cached = event.encoded.get(key)
    if cached is None:
        obj = event.after
        if (
            change is WatchEventType.DELETED
            and event.change is not WatchEventType.DELETED
            and event.before is not None
        ):
            obj = with_value(event.before, ("metadata", "resourceVersion"), str(event.version))
        cached = _line(change, _content(watcher, await asked.shown(obj)))
        event.encoded[key] = cached
    return cached


def _content(watcher: Watcher, obj: Object) -> bytes:
    content, _ = presented(watcher.asked, obj)
    return encoded(content)


def _line(change: WatchEventType, content: bytes) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (change.value.encode(), content)


def _bookmark(watcher: Watcher, version: int, *, initial: bool = False) -> bytes:
    asked = watcher.asked
    meta: Object = {"resourceVersion": str(version), "creationTimestamp": None}
    if initial:
        meta["annotations"] = {"k8s.io/initial-events-end": "true"}
    api_version = asked.resource.api_version(asked.version.name)
    obj: Object = {"kind": asked.resource.kind, "apiVersion": api_version, "metadata": meta}
    if shape_of(asked.call.accept).form is Form.TABLE:
        obj = {
            "kind": "Table",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": meta,
            "columnDefinitions": None,
            "rows": [],
        }
    return _line(WatchEventType.BOOKMARK, encoded(obj))
