"""What happens to ledgers, and when: holdings begin and end, grants come and lapse.

What falls into one second happens in the order in which it was planned.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

from queueing.core.credits.facts import CreditGrantFact
from queueing.core.credits.holding import Holding


class Ran(NamedTuple):
    """All pods of a holding run since a time, as its status tells from now on."""

    since: int


@dataclass(frozen=True, slots=True)
class Give:
    """A grant is to be booked, or, once it has expired, to be taken back."""

    grant: CreditGrantFact
    expired: bool


Event = Holding | Ran | Give | None
"""A holding counts from its event on; None: it counts no more."""


class Second(NamedTuple):
    """What falls into one second."""

    when: int
    events: list[tuple[int, Event]]
    """Each with the number of the holding that it is about, in the order of planning."""
    evicted: list[int]
    """The numbers of those whose end loses what they did since they were last saved."""

    def ended(self) -> set[int]:
        """Return the numbers of those that count no more."""
        return {token for token, event in self.events if event is None}


class Agenda:
    """Events to come, by time. Each holding gets a number of its own, from 1 up."""

    __slots__ = ("_evicted", "_last", "_planned", "_times")

    def __init__(self) -> None:
        self._planned: dict[int, list[tuple[int, Event]]] = {}
        self._evicted: dict[int, list[int]] = {}
        self._times: list[int] = []
        self._last = 0

    def begin(self, holding: Holding) -> int:
        """Let a holding count from its time on; return its number."""
        self._last = token = self._last + 1
        events = self._planned.get(holding.since)
        if events is None:
            self.plan(holding.since, token, holding)
        else:
            events.append((token, holding))
        return token

    def plan(self, when: int, token: int, event: Event = None) -> None:
        """Let an event of the holding of a number happen at a time, past or to come."""
        events = self._planned.get(when)
        if events is None:
            events = self._planned[when] = []
            heappush(self._times, when)
        events.append((token, event))

    def evict(self, when: int, token: int) -> None:
        """Let a holding end at a time, and lose what it did since it was last saved."""
        self.plan(when, token)
        self._evicted.setdefault(when, []).append(token)

    @property
    def next_at(self) -> int | None:
        """When the next event happens; None for never."""
        return self._times[0] if self._times else None

    def ends(self) -> Iterator[tuple[int, int, Holding | None]]:
        """Go over the ends to come: time, number, and the holding if it has not begun yet."""
        begins = {
            token: event
            for events in self._planned.values()
            for token, event in events
            if isinstance(event, Holding)
        }
        for when, events in self._planned.items():
            for token, event in events:
                if event is None:
                    yield when, token, begins.get(token)

    def due(self, at: int) -> Iterator[Second]:
        """Take out what happens until `at`, by time."""
        while self._times and self._times[0] <= at:
            when = heappop(self._times)
            yield Second(when, self._planned.pop(when), self._evicted.pop(when, []))
