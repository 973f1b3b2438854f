"""What happens to ledgers, and when: holdings begin and end, grants are booked and expire.

Events of the same second happen in the order in which they were planned.
"""

from collections.abc import Iterator
from enum import Enum
from heapq import heappop, heappush
from typing import NamedTuple

from queueing.core.credits.facts import CreditGrantFact
from queueing.core.credits.holding import Holding
from queueing.core.names import Uid

_NOBODY = 0
"""For events that concern no holding; holdings are numbered from 1."""


class Ran(NamedTuple):
    """All pods of a holding run since this time; the event is when its status shows it."""

    since: int


class Give(NamedTuple):
    """A grant is to be booked, or, once it has expired, to be taken back."""

    grant: CreditGrantFact
    expired: bool


class HoldingEnd(Enum):
    """How a holding ends."""

    RELEASED = "Released"
    EVICTED = "Evicted"
    """It loses its work since the last save."""


Event = Holding | Ran | Give | HoldingEnd
"""A `Holding` begins to count."""
Events = list[tuple[int, Event]]
"""Each with the number of the holding that it concerns, in the order of planning."""


class Agenda:
    """Planned events, by time in seconds. Each holding gets a number of its own, from 1."""

    __slots__ = ("_last", "_planned", "_times")

    def __init__(self) -> None:
        self._planned: dict[int, Events] = {}
        self._times: list[int] = []
        self._last = 0

    def begin(self, holding: Holding) -> int:
        """Plan the begin of a holding; return its number."""
        self._last += 1
        self.plan(holding.since, self._last, holding)
        return self._last

    def plan(self, when: int, token: int, event: Event) -> None:
        """Plan an event of the holding with number `token`, at a past or future time."""
        events = self._planned.get(when)
        if events is None:
            events = self._planned[when] = []
            heappush(self._times, when)
        events.append((token, event))

    @property
    def next_at(self) -> int | None:
        """When the next event is planned; None if there is none."""
        return self._times[0] if self._times else None

    def ends(self) -> Iterator[tuple[int, int, Holding | None]]:
        """Yield the planned ends: time, number, and the holding if it has not begun yet."""
        begins = {
            token: event
            for events in self._planned.values()
            for token, event in events
            if isinstance(event, Holding)
        }
        for when, events in self._planned.items():
            for token, event in events:
                if isinstance(event, HoldingEnd):
                    yield when, token, begins.get(token)

    def due(self, at: int) -> Iterator[tuple[int, Events]]:
        """Yield the seconds up to `at` with their events, and remove them from the agenda."""
        while self._times and self._times[0] <= at:
            when = heappop(self._times)
            yield when, self._planned.pop(when)


class Grants:
    """All CreditGrants, by name; each is booked once, and what decay left of it is taken back."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._by_name: dict[str, CreditGrantFact] = {}
        self._planned: dict[Uid, None] = {}

    def put(self, fact: CreditGrantFact) -> None:
        """Take in a grant."""
        self._by_name[fact.name] = fact

    def drop(self, name: str) -> None:
        """Forget a deleted grant; what it gave stays booked."""
        self._by_name.pop(name, None)

    def names(self) -> dict[Uid, str]:
        """Return the names of the grants that exist, by uid."""
        return {one.uid: one.name for one in self._by_name.values()}

    def plan(self) -> None:
        """Plan the booking of new grants, and their expiry."""
        for _, grant in sorted(self._by_name.items()):
            if grant.uid not in self._planned:
                self._planned[grant.uid] = None
                self._agenda.plan(grant.at, _NOBODY, Give(grant, expired=False))
                if grant.expires_at is not None:
                    self._agenda.plan(grant.expires_at, _NOBODY, Give(grant, expired=True))
