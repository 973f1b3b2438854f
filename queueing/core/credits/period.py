"""The periods of CreditBudgets: calendar units in UTC, or equal lengths from the epoch on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

DAY = 24 * 3600
_MONDAY = 4
"""Days from the epoch, a Thursday, to the first Monday."""
_ERA = 146_097
"""Days of 400 years."""


class Span(NamedTuple):
    """The time from `begin` to before `end`, in seconds since the epoch."""

    begin: int
    end: int


class Date(NamedTuple):
    """A day of the Gregorian calendar."""

    year: int
    month: int
    day: int


def days_to(date: Date) -> int:
    """Return the days from the epoch to a date (Hinnant's days_from_civil)."""
    year = date.year - (date.month <= 2)  # noqa: PLR2004 - years are counted from March
    era, of_era = divmod(year, 400)
    of_year = (153 * ((date.month + 9) % 12) + 2) // 5 + date.day - 1
    return era * _ERA + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def date_of(days: int) -> Date:
    """Return the date so many days after the epoch (Hinnant's civil_from_days)."""
    era, of_era = divmod(days + 719_468, _ERA)
    years = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * years + years // 4 - years // 100)
    from_march = (5 * of_year + 2) // 153
    month = (from_march + 2) % 12 + 1
    day = of_year - (153 * from_march + 2) // 5 + 1
    return Date(years + era * 400 + (month <= 2), month, day)  # noqa: PLR2004 - as above


def spelled(at: int) -> str:
    """Format a time as API objects do: 2026-01-31T12:00:00Z."""
    days, left = divmod(at, DAY)
    date = date_of(days)
    hours, left = divmod(left, 3600)
    return (
        f"{date.year:04}-{date.month:02}-{date.day:02}T{hours:02}:{left // 60:02}:{left % 60:02}Z"
    )


def _daily(at: int) -> Span:
    return _of_length(at, DAY)


def _weekly(at: int) -> Span:
    begin = (at // DAY - _MONDAY) // 7 * 7 + _MONDAY
    return Span(begin * DAY, (begin + 7) * DAY)


def _monthly(at: int) -> Span:
    date = date_of(at // DAY)
    following = Date(date.year + date.month // 12, date.month % 12 + 1, 1)
    return Span(days_to(Date(date.year, date.month, 1)) * DAY, days_to(following) * DAY)


def _yearly(at: int) -> Span:
    year = date_of(at // DAY).year
    return Span(days_to(Date(year, 1, 1)) * DAY, days_to(Date(year + 1, 1, 1)) * DAY)


def _of_length(at: int, seconds: int) -> Span:
    begin = at // seconds * seconds
    return Span(begin, begin + seconds)


_CALENDAR: Mapping[str, Callable[[int], Span]] = MappingProxyType(
    {"Daily": _daily, "Weekly": _weekly, "Monthly": _monthly, "Yearly": _yearly}
)
CALENDAR = tuple(_CALENDAR)
"""Names of the periods that follow the calendar."""


@dataclass(frozen=True, slots=True)
class Period:
    """A name of `CALENDAR`, or a number of seconds."""

    length: str | int = "Monthly"

    def at(self, time: int) -> Span:
        """Return the span that contains a time."""
        if isinstance(self.length, int):
            return _of_length(time, self.length)
        return _CALENDAR[self.length](time)
