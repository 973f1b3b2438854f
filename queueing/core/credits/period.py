"""The periods of CreditBudgets: calendar units in UTC, or equal lengths from the epoch on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

_CALENDAR: Mapping[str, tuple[Callable[[datetime], datetime], int]] = {
    "Daily": (lambda day: day, 1),
    "Weekly": (lambda day: day - timedelta(days=day.weekday()), 7),
    "Monthly": (lambda day: day.replace(day=1), 31),
    "Yearly": (lambda day: day.replace(month=1, day=1), 366),
}
"""Each unit by what returns its first day, and the most days that it has."""
CALENDAR = tuple(_CALENDAR)
"""Names of the periods that follow the calendar."""


class Span(NamedTuple):
    """The time from `begin` to before `end`, in seconds since the epoch."""

    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Period:
    """A name of `CALENDAR`, or a number of seconds."""

    length: str | int = "Monthly"

    def at(self, time: int) -> Span:
        """Return the span that contains a time."""
        if isinstance(self.length, int):
            begin = time // self.length * self.length
            return Span(begin, begin + self.length)
        first_day, most = _CALENDAR[self.length]
        day = datetime.fromtimestamp(time, UTC).replace(hour=0, minute=0, second=0)
        first = first_day(day)
        following = first_day(first + timedelta(days=most))
        return Span(int(first.timestamp()), int(following.timestamp()))


def spelled(at: int) -> str:
    """Return a time as objects spell it: 2026-12-01T00:00:00Z."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
