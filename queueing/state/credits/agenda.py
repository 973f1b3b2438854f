"""What happens to ledgers, and when: holdings begin and end, grants come and lapse.

What falls into one second happens in the order in which it was planned.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

from queueing.core.credits.facts import CreditGrantFact
from queueing.core.credits.holding import Holding


class Begin(NamedTuple):
    """A holding counts from now on, under the number of this event."""

    holding: Holding


class End(NamedTuple):
    """The holding of this number counts no more."""

    token: int
    evicted: bool = False
    """What it did since it was last saved is lost."""


class Ran(NamedTuple):
    """All pods of the holding of this number run since a time, as its status tells from now on."""

    token: int
    since: int


@dataclass(frozen=True, slots=True)
class Give:
    """A grant is to be booked, or, once it has expired, to be taken back."""

    grant: CreditGrantFact
    expired: bool


Event = Begin | End | Ran | Give


class Agenda:
    """Events to come, by time and number."""

    __slots__ = ("_last", "_planned", "_times")

    def __init__(self) -> None:
        self._planned: dict[int, list[tuple[int, Event]]] = {}
        """By time, each with its number."""
        self._times: list[int] = []
        self._last = 0

    def plan(self, when: int, event: Event) -> int:
        """Let an event happen at a time, past or to come; return its number, from 1 up."""
        self._last += 1
        events = self._planned.get(when)
        if events is None:
            events = self._planned[when] = []
            heappush(self._times, when)
        events.append((self._last, event))
        return self._last

    @property
    def next_at(self) -> int | None:
        """When the next event happens; None for never."""
        return self._times[0] if self._times else None

    def ends(self) -> Iterator[tuple[int, int, Holding | None]]:
        """Go over the ends to come: time, number, and the holding if it has not begun yet."""
        begins = {
            number: event.holding
            for events in self._planned.values()
            for number, event in events
            if isinstance(event, Begin)
        }
        for when, events in self._planned.items():
            for _, event in events:
                if isinstance(event, End):
                    yield when, event.token, begins.get(event.token)

    def due(self, at: int) -> Iterator[tuple[int, list[tuple[int, Event]]]]:
        """Take out what happens until `at`: each time, with the events of it by number."""
        while self._times and self._times[0] <= at:
            when = heappop(self._times)
            yield when, self._planned.pop(when)
