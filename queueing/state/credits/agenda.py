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


@dataclass(frozen=True, slots=True)
class Give:
    """A grant is to be booked, or, once it has expired, to be taken back."""

    grant: CreditGrantFact
    expired: bool


Event = Begin | End | Give


class Agenda:
    """Events to come, by time and number."""

    __slots__ = ("_last", "_planned")

    def __init__(self) -> None:
        self._planned: list[tuple[int, int, Event]] = []
        self._last = 0

    def plan(self, when: int, event: Event) -> int:
        """Let an event happen at a time, past or to come; return its number, from 1 up."""
        self._last += 1
        heappush(self._planned, (when, self._last, event))
        return self._last

    @property
    def next_at(self) -> int | None:
        """When the next event happens; None for never."""
        return self._planned[0][0] if self._planned else None

    def ends(self) -> Iterator[tuple[int, int, Holding | None]]:
        """Go over the ends to come: time, number, and the holding if it has not begun yet."""
        begins = {
            number: event.holding for _, number, event in self._planned if isinstance(event, Begin)
        }
        for when, _, event in self._planned:
            if isinstance(event, End):
                yield when, event.token, begins.get(event.token)

    def due(self, at: int) -> Iterator[tuple[int, int, Event]]:
        """Take out what happens until `at`: time, number and event."""
        while self._planned and self._planned[0][0] <= at:
            yield heappop(self._planned)
