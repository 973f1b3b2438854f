"""What changed, in order: the source of watches, exact lists and 410."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from queueing.apiserver.tree import Object


class WatchEventType(StrEnum):
    """Words of the watch protocol."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"
    ERROR = "ERROR"


@dataclass(slots=True, eq=False)
class WatchEvent:
    """One change of one object. `before` is None for ADDED; for DELETED `after` is the last state.

    `encoded` keeps what readers made of it, so that a hundred watchers cost one encoding.
    """

    version: int
    change: WatchEventType
    before: Object | None
    after: Object
    encoded: dict[str, bytes] = field(default_factory=dict)


Listener: TypeAlias = Callable[[WatchEvent], None]


class History:
    """The last `limit` events of one kind, and those who listen for the next."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.events: deque[WatchEvent] = deque()
        self.forgotten = 0
        self._listeners: dict[int, Listener] = {}
        self._next = 0

    def append(self, event: WatchEvent) -> None:
        """Remember the event and tell every listener, in the order in which they came."""
        self.events.append(event)
        while len(self.events) > self.limit:
            self.forgotten = self.events.popleft().version
        for listener in tuple(self._listeners.values()):
            listener(event)

    def compact(self, version: int) -> None:
        """Forget everything up to `version`."""
        self.events.clear()
        self.forgotten = max(self.forgotten, version)

    def since(self, version: int) -> Iterator[WatchEvent]:
        """Yield the events after `version`, oldest first."""
        newer: list[WatchEvent] = []
        for event in reversed(self.events):
            if event.version <= version:
                break
            newer.append(event)
        return reversed(newer)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` for each event from now on; the result ends that."""
        number = self._next
        self._next += 1
        self._listeners[number] = listener
        return lambda: self._listeners.pop(number, None) and None
