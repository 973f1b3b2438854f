"""Keep a caller informed of every object of one resource: list, then watch, for ever.

Run by `controller.session` and `controller.standby`, one for each kind, and by `serving` for what
webhooks look up; it calls back at each event.

Invariants. The caller hears of each object in the order of its versions, and never the same version
twice. Whatever happens to the connection, `Deleted` is told of every object that is gone. A list is
a quorum read. Nothing here ends but by cancellation or by a mistake in the caller's own callback.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, NoReturn, TypeVar

import msgspec

from queueing.kube.backoff import Backoff, Draw, draw
from queueing.kube.client import Client, ListQuery, WatchQuery
from queueing.kube.errors import (
    GoneError,
    KubeError,
    LostError,
    NotPermittedError,
    RefusedError,
    Status,
    error_of_status,
)
from queueing.kube.listing import PageMeta, decode_page
from queueing.kube.objects import HasMetadata, Identified, key_of
from queueing.kube.resources import Target

logger = logging.getLogger(__name__)

T = TypeVar("T", bound=HasMetadata)


@dataclass(frozen=True, slots=True)
class Added(Generic[T]):
    """An object that the caller did not know."""

    object: T


@dataclass(frozen=True, slots=True)
class Modified(Generic[T]):
    """A later version of an object that the caller knows."""

    object: T


@dataclass(frozen=True, slots=True)
class Deleted(Generic[T]):
    """A known object is gone; its last version is told only when the server sent it."""

    key: str
    uid: str
    object: T | None


@dataclass(frozen=True, slots=True)
class Synced:
    """The caller now knows all `count` objects as of `resource_version`: after each list."""

    resource_version: str
    count: int


WatchEvent = Added[T] | Modified[T] | Deleted[T] | Synced
_Place = tuple[str, str]
"""Namespace, empty for what is cluster-wide, and name."""
Read = Callable[[bytes | msgspec.Raw], T]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectorSettings:
    """What to watch and how patiently; times in seconds.

    `watch_s` is the span from which each watch's length is drawn, so that the watches of a process
    do not all end together. A watch that ends within `short_s` without an event counts as a
    failure. The event loop is let go after `slice_s` of decoding. That we may not follow is
    believed when it was said for `roles_s`.
    """

    label_selector: str = ""
    field_selector: str = ""
    page_size: int = 500
    watch_s: tuple[int, int] = (300, 600)
    short_s: float = 1.0
    backoff: Backoff = field(default=Backoff(0.8, 30.0))
    slice_s: float = 0.002
    roles_s: float = 10.0
    draw: Draw = draw


class _Bookmark(msgspec.Struct):
    metadata: PageMeta


class _Frame(msgspec.Struct):
    type: str
    object: msgspec.Raw


_FRAMES = msgspec.json.Decoder(_Frame)
_OF_THE_WATCH = frozenset({"BOOKMARK", "ERROR"})
"""Types of events that are about no object."""
_EXPIRIES_MAX = 2
_LOOK_S = 0.02
"""Seconds between looks at whether a list was refused."""


class Reflector(Generic[T]):
    """Tells `on_event`, a plain function, what happens to the objects of a collection.

    `kind` is a msgspec struct with `metadata` and the fields the caller needs; nothing else is
    decoded. Or it is a function that reads an object, and raises msgspec.ValidationError.

    `synced` is set once the first list is through. `error` is the failure that keeps it from
    working now, if any.
    """

    def __init__(
        self,
        client: Client,
        target: Target,
        kind: "type[T] | Read[T]",
        on_event: Callable[[WatchEvent[T]], None],
        settings: ReflectorSettings | None = None,
    ) -> None:
        self.synced = asyncio.Event()
        self.error: KubeError | None = None
        self._client = client
        self._target = target
        is_struct = isinstance(kind, type)
        self._read_object: Read[T] = msgspec.json.Decoder(kind).decode if is_struct else kind
        self._tell = on_event
        self._settings = settings or ReflectorSettings()
        self._known: dict[_Place, tuple[int, str]] = {}
        """Version and uid of each object."""
        self._version = ""
        self._failures = 0
        self._expiries = 0
        self._away_since = 0.0
        self._not_permitted_since = 0.0
        self._slice_ends = 0.0

    @property
    def is_refused(self) -> bool:
        """Whether there is nothing to follow: no such kind, or none that we may list.

        An API server that has just started says the latter of all kinds, until it knows our roles.
        """
        if isinstance(self.error, NotPermittedError):
            for_s = asyncio.get_running_loop().time() - self._not_permitted_since
            return for_s >= self._settings.roles_s
        return isinstance(self.error, RefusedError)

    async def until_known(self) -> None:
        """Wait until all objects are listed, or the server refuses to list them."""
        while not self.is_refused:
            with contextlib.suppress(TimeoutError):
                # Not wait_for: in Python 3.11 it may take a cancellation for its own timeout.
                async with asyncio.timeout(_LOOK_S):
                    await self.synced.wait()
                    return

    async def run(self) -> NoReturn:
        """List and watch until cancelled."""
        while True:
            pause = 0.0
            try:
                if not self._version:
                    await self._list()
                if await self._watch():
                    self._failures = 0
                else:
                    pause = self._next_pause()
            except GoneError:
                # Too old to go on from: what was missed shows in a new list, at once the first
                # time.
                self._version = ""
                pause = self._next_pause() if self._failures else 0.0
                self._failures += 1
            except KubeError as error:
                self._note_away(error)
                pause = max(self._next_pause(), error.retry_after)
            await asyncio.sleep(pause)

    async def _list(self) -> None:
        """Read the whole collection and tell the differences to what is known."""
        limit = self._settings.page_size if self._expiries < _EXPIRIES_MAX else 0
        seen: set[_Place] = set()
        token = ""
        while True:
            query = ListQuery(
                label_selector=self._settings.label_selector,
                field_selector=self._settings.field_selector,
                limit=limit,
                continue_token=token,
            )
            try:
                page = decode_page(await self._client.list_page(self._target, query))
            except GoneError:
                self._expiries += 1
                raise
            except msgspec.DecodeError as error:
                raise self._garbled(error) from error
            for raw in page.items or ():
                seen.add(self._take(raw))
                if time.perf_counter() >= self._slice_ends:
                    await self._breathe()
            token = page.metadata.continue_token
            if not token:
                break
        self._expiries = 0
        self._forget(place for place in tuple(self._known) if place not in seen)
        self._version = page.metadata.resource_version
        self._note_back()
        self.synced.set()
        self._tell(Synced(self._version, len(self._known)))

    async def _watch(self) -> bool:
        """Follow one watch to its end; False if it ended so soon that the next must wait."""
        settings = self._settings
        shortest, longest = settings.watch_s
        query = WatchQuery(
            resource_version=self._version,
            label_selector=settings.label_selector,
            field_selector=settings.field_selector,
            timeout_s=int(shortest + settings.draw() * (longest - shortest)),
        )
        loop = asyncio.get_running_loop()
        began = loop.time()
        before = self._version
        rest = b""
        async with self._client.watch(self._target, query) as chunks:
            self._note_back()
            async for chunk in chunks:
                # All that had come by then: for more the loop goes on anyway.
                self._slice_ends = time.perf_counter() + settings.slice_s
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    if line:
                        self._read(line)
                        if time.perf_counter() >= self._slice_ends:
                            await self._breathe()
        return self._version != before or loop.time() - began >= settings.short_s

    def _read(self, line: bytes) -> None:
        try:
            frame = _FRAMES.decode(line)
            is_of_the_watch = frame.type in _OF_THE_WATCH
            if is_of_the_watch:
                self._heed(frame)
        except msgspec.DecodeError as error:
            raise self._garbled(error) from error
        if not is_of_the_watch:
            self._take(frame.object, gone=frame.type == "DELETED", follow=True)
        self._failures = 0

    def _heed(self, frame: _Frame) -> None:
        """Move the version to that of a bookmark, or raise an error that the server tells."""
        if frame.type == "ERROR":
            said = msgspec.json.decode(frame.object, type=Status)
            raise error_of_status(said, said.code)
        bookmark = msgspec.json.decode(frame.object, type=_Bookmark)
        self._version = bookmark.metadata.resource_version

    def _take(self, raw: msgspec.Raw, *, gone: bool = False, follow: bool = False) -> _Place:
        """Tell of one object if it is news; returns where it is."""
        try:
            found = self._read_object(raw)
        except msgspec.ValidationError as error:
            return self._skip(raw, error, follow=follow)
        metadata = found.metadata
        place = metadata.namespace, metadata.name
        version = int(metadata.resource_version)
        known = self._known.get(place)
        if follow:
            self._version = metadata.resource_version
        # The server deletes with a new version; one that does not is believed all the same.
        if known is not None and known[1] == metadata.uid and version < known[0] + (not gone):
            return place
        if gone:
            if known is not None and known[1] == metadata.uid:
                del self._known[place]
                self._tell(Deleted(key_of(metadata), metadata.uid, found))
            return place
        if known is not None and known[1] != metadata.uid:
            self._forget((place,))
            known = None
        self._known[place] = (version, metadata.uid)
        self._tell(Added(found) if known is None else Modified(found))
        return place

    def _skip(self, raw: msgspec.Raw, error: msgspec.ValidationError, *, follow: bool) -> _Place:
        """Pass over an object that cannot be read; what was last known of it stays in force.

        To call it deleted would release what it holds.
        """
        try:
            metadata = msgspec.json.decode(raw, type=Identified).metadata
        except msgspec.DecodeError:
            raise self._garbled(error) from error
        kind = self._target.resource.kind
        logger.error("%s %s cannot be read: %s", kind, key_of(metadata), error)
        if follow:
            self._version = metadata.resource_version
        return metadata.namespace, metadata.name

    def _garbled(self, error: msgspec.DecodeError) -> LostError:
        """Trust nothing more of a stream that is not what was asked for: list again."""
        self._version = ""
        return LostError(f"{self._target.path}: the server's answer cannot be read: {error}")

    def _forget(self, places: Iterable[_Place]) -> None:
        for place in places:
            _, uid = self._known.pop(place)
            self._tell(Deleted("/".join(filter(None, place)), uid, None))

    async def _breathe(self) -> None:
        """Let the loop go on, since a slice of decoding is spent: a burst of events is pure CPU."""
        await asyncio.sleep(0)
        self._slice_ends = time.perf_counter() + self._settings.slice_s

    def _next_pause(self) -> float:
        pause = self._settings.backoff.delay(self._failures, self._settings.draw)
        self._failures += 1
        return pause

    def _note_away(self, error: KubeError) -> None:
        """Log once that the server is away, not at every attempt."""
        self._expiries = 0  # a list in one piece may be too much for a server in trouble
        now = asyncio.get_running_loop().time()
        if not isinstance(self.error, NotPermittedError):
            self._not_permitted_since = now
        if self.error is None:
            self._away_since = now
            # A server that is away concerns all reflectors; whoever owns the client says it once.
            level = logging.WARNING if isinstance(error, RefusedError) else logging.DEBUG
            logger.log(level, "%s cannot be followed: %s", self._target.resource.plural, error)
        self.error = error

    def _note_back(self) -> None:
        if self.error is not None:
            away = asyncio.get_running_loop().time() - self._away_since
            logger.debug("%s are followed again after %.1f s", self._target.resource.plural, away)
            self.error = None
