"""Records Kubernetes Events (`events.k8s.io/v1`): after all other writes, and dropped under load.

The same Event again within six minutes is counted in its series instead of created anew. An object
with too many Events gets no more until its allowance has grown back, as with client-go. All memory
is bounded; what was least recently used is forgotten first.

While the server does not answer, or an API server that has just started does not know our roles
yet, Events are held back: one is tried now and then, and when it is accepted the others follow.
"""

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec

from queueing.clock import Clock
from queueing.kube.backoff import Backoff
from queueing.kube.client import Client
from queueing.kube.errors import AlreadyExistsError, KubeError, may_pass
from queueing.kube.resources import EVENTS
from queueing.kube.writer import WriteClass, Writer
from queueing_api.meta.time import micro_time_text

logger = logging.getLogger(__name__)

_SERIES_LIFE_S = 360.0
_AGAIN = Backoff(1.0, 15.0)
_NOTE_LIMIT = 1024
"""Bytes of UTF-8: the API server refuses an Event whose note is longer."""
_NAME_LIMIT = 230
_NANO = 1_000_000_000
_API_VERSION = EVENTS.api_version


class EventType(StrEnum):
    """The two types that Kubernetes knows."""

    NORMAL = "Normal"
    WARNING = "Warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Regarding:
    """The object an event is about; `namespace` is empty for a cluster-wide one."""

    api_version: str
    kind: str
    name: str
    uid: str
    namespace: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventNote:
    """What happened: `reason` and `action` are words for machines, `message` is for people.

    A `link` is put behind the message, which is cut for it where both are too long.
    """

    reason: str
    action: str
    message: str
    type: EventType = EventType.NORMAL
    link: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLimits:
    """How much is remembered and let through; times in seconds.

    An object may give `burst` new events of a type at once and one more each `refill_s`. client-go
    counts both types together; here warnings without end do not keep the others out.
    At most `held_max` events, of about a kilobyte, are held back, each for `patience_s` after it
    was tried first; one of them is tried after each delay of `again`.
    """

    remembered: int = 4_096
    burst: int = 25
    refill_s: float = 300.0
    series_every_s: float = 60.0
    held_max: int = 1_000
    patience_s: float = 60.0
    again: Backoff = _AGAIN


@dataclass(slots=True)
class _Series:
    regarding: Regarding
    name: str
    count: int
    last_seen: float
    timer: asyncio.TimerHandle | None = None


@dataclass(frozen=True, slots=True)
class _Note:
    """A write about a series, and when it was tried first."""

    series: _Series
    send: Callable[[], Awaitable[bytes]]
    since: float


@dataclass(slots=True)
class _Allowance:
    left: float
    since: float


V = TypeVar("V")


class _Recent(OrderedDict[tuple[Any, ...], V], Generic[V]):
    """The most recently used entries, up to a limit."""

    def keep(self, key: tuple[Any, ...], value: V, limit: int) -> V | None:
        """Store the entry as the newest and return the one that had to go."""
        self[key] = value
        self.move_to_end(key)
        return self.popitem(last=False)[1] if len(self) > limit else None


class EventRecorder:
    """Takes events synchronously and hands them to the writer's lowest class.

    `dropped` counts those that were not written: too many, refused or lost.
    """

    def __init__(
        self,
        client: Client,
        writer: Writer,
        clock: Clock,
        *,
        reporter: tuple[str, str],
        limits: EventLimits | None = None,
    ) -> None:
        """Report as `reporter`: the controller's name and this instance's, such as its pod's."""
        self.dropped = 0
        self._client = client
        self._writer = writer
        self._clock = clock
        self._reporter = reporter
        self._limits = limits or EventLimits()
        self._series: _Recent[_Series] = _Recent()
        self._allowances: _Recent[_Allowance] = _Recent()
        self._last_stamp = 0
        self._held: deque[_Note] = deque()
        """Notes that the server did not take and may take later, oldest first."""
        self._failures = 0
        """How often in a row one of them was tried in vain."""
        self._again: asyncio.TimerHandle | None = None

    def record(self, regarding: Regarding, note: EventNote) -> None:
        """Note that something happened; returns at once."""
        now = self._clock.now()
        key = (regarding.uid or regarding.name, note.type, note.reason, note.action, note.message)
        series = self._series.get(key)
        if series is not None and now - series.last_seen < _SERIES_LIFE_S:
            self._series.move_to_end(key)
            self._count(series, now)
            return
        if not self._is_allowed(regarding, note.type, now):
            self.dropped += 1
            return
        series = _Series(regarding, self._new_name(regarding, now), 1, now)
        forgotten = self._series.keep(key, series, self._limits.remembered)
        if forgotten is not None:
            _end(forgotten)
        # Many may wait for a while: bytes take a third of the room.
        body = msgspec.json.encode(self._event(series, note, now))
        where = EVENTS.within(regarding.namespace or "default")
        self._submit(series, partial(self._client.create, where, body))

    def close(self) -> None:
        """Forget what was not written yet, so that no timer outlives the recorder."""
        if self._again is not None:
            self._again.cancel()
            self._again = None
        self.dropped += len(self._held)
        self._held.clear()
        for series in self._series.values():
            _end(series)
        self._series.clear()

    def _count(self, series: _Series, now: float) -> None:
        series.count += 1
        series.last_seen = now
        if series.timer is None:
            delay = self._limits.series_every_s
            loop = asyncio.get_running_loop()
            series.timer = loop.call_later(delay, self._write_series, series)

    def _write_series(self, series: _Series) -> None:
        series.timer = None
        last = micro_time_text(series.last_seen)
        patch = {"series": {"count": series.count, "lastObservedTime": last}}
        target = EVENTS.at(series.name, series.regarding.namespace or "default")
        self._submit(series, partial(self._client.patch_merge, target, patch))

    def _submit(self, series: _Series, send: Callable[[], Awaitable[bytes]]) -> None:
        note = _Note(series, send, self._clock.monotonic())
        if self._held:
            self._hold(note)
        else:
            self._write(note)

    def _write(self, note: _Note) -> None:
        async def job() -> None:
            try:
                await note.send()
            except AlreadyExistsError:
                self._go_on()  # it was written when no answer came
            except KubeError as error:
                if may_pass(error):
                    self._hold(note)
                else:
                    self._lose(note, str(error))
                self._try_later()
            else:
                self._go_on()

        if not self._writer.submit(f"event {note.series.name}", WriteClass.EVENT, job):
            self._lose(note, "too many wait")
            self._try_later()

    def _hold(self, note: _Note) -> None:
        """Keep a note until the server takes one again, if that is worth it and there is room."""
        if note.since + self._limits.patience_s < self._clock.monotonic():
            self._lose(note, "the server has not taken it for too long")
        elif len(self._held) >= self._limits.held_max:
            self._lose(note, "too many are held back")
        else:
            self._held.append(note)

    def _try_later(self) -> None:
        if self._held and self._again is None:
            delay = self._limits.again.delay(self._failures)
            self._again = asyncio.get_running_loop().call_later(delay, self._try_one)

    def _try_one(self) -> None:
        self._again = None
        if self._held:
            self._failures += 1
            self._write(self._held.popleft())

    def _go_on(self) -> None:
        """Write all that is held: the server takes events."""
        self._failures = 0
        held, self._held = self._held, deque()
        for note in held:
            self._write(note)

    def _lose(self, note: _Note, why: str) -> None:
        self.dropped += 1
        _end(note.series)
        logger.debug("an event about %s was lost: %s", note.series.regarding.name, why)

    def _is_allowed(self, regarding: Regarding, kind: EventType, now: float) -> bool:
        key = (regarding.uid or regarding.name, kind)
        limits = self._limits
        allowance = self._allowances.get(key) or _Allowance(float(limits.burst), now)
        grown = (now - allowance.since) / limits.refill_s
        allowance.left = min(float(limits.burst), allowance.left + grown)
        allowance.since = now
        self._allowances.keep(key, allowance, limits.remembered)
        if allowance.left < 1.0:
            return False
        allowance.left -= 1.0
        return True

    def _new_name(self, regarding: Regarding, now: float) -> str:
        """Return the object's name and a stamp that no other event of this process has."""
        self._last_stamp = max(self._last_stamp + 1, int(now * _NANO))
        return f"{regarding.name[:_NAME_LIMIT]}.{self._last_stamp:x}"

    def _event(self, series: _Series, note: EventNote, now: float) -> dict[str, Any]:
        regarding = series.regarding
        namespace = regarding.namespace or "default"
        controller, instance = self._reporter
        reference = {
            "apiVersion": regarding.api_version,
            "kind": regarding.kind,
            "name": regarding.name,
            "uid": regarding.uid,
        }
        if regarding.namespace:
            reference["namespace"] = regarding.namespace
        return {
            "apiVersion": _API_VERSION,
            "kind": EVENTS.kind,
            "metadata": {"name": series.name, "namespace": namespace},
            "eventTime": micro_time_text(now),
            "reportingController": controller,
            "reportingInstance": instance[:128],
            "action": note.action,
            "reason": note.reason,
            "type": note.type.value,
            "note": _linked(note) if note.link else _cut(note.message),
            "regarding": reference,
        }


def _linked(note: EventNote) -> str:
    """Return a message with its link, which is whole or not there."""
    link = f" ({note.link})"
    room = _NOTE_LIMIT - len(link.encode())
    return _cut(note.message, room) + link if room > 0 else _cut(note.message)


def _cut(text: str, limit: int = _NOTE_LIMIT) -> str:
    """Return as much of a text as a note may have, without a part of a character at its end."""
    return text.encode()[:limit].decode(errors="ignore")


def _end(series: _Series) -> None:
    """Write nothing more of a series; the next event of its kind starts afresh."""
    series.last_seen = float("-inf")
    if series.timer is not None:
        series.timer.cancel()
        series.timer = None
