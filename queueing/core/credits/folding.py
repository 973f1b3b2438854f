"""Adds up rows of usage: those of users if there are too many, hours to days and days to months."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from queueing.core.credits.facts import RowName, UsageRow
from queueing.core.credits.period import Period, Span

ROWS_MAX = 2000
"""The largest number of rows of one record; with more, users of a LocalQueue are put together."""
OTHERS = "(others)"
SUMS = ("used", "borrowed", "idle", "wasted", "cost", "quota", "lent")
"""The fields of a row that are added up."""


class Resolution(StrEnum):
    """The length of the stretch of time of a record."""

    HOUR = "Hour"
    DAY = "Day"
    MONTH = "Month"

    @property
    def coarser(self) -> "Resolution | None":
        """The resolution to which rows are added up as they age; None if they are deleted."""
        return {Resolution.HOUR: Resolution.DAY, Resolution.DAY: Resolution.MONTH}.get(self)

    def span(self, at: int) -> Span:
        """Return the stretch of time, in UTC, that contains a time."""
        return _PERIODS[self].at(at)


_PERIODS: Mapping[Resolution, Period] = {
    Resolution.HOUR: Period(3600),
    Resolution.DAY: Period("Daily"),
    Resolution.MONTH: Period("Monthly"),
}


def plus(one: UsageRow, other: UsageRow) -> UsageRow:
    """Add two rows up, under the first one's name."""
    sums = {name: getattr(one, name) + getattr(other, name) for name in SUMS}
    return UsageRow(name=one.name, **sums)


def summed(rows: Iterable[UsageRow]) -> list[UsageRow]:
    """Add up rows of the same name; return them by name."""
    found: dict[RowName, UsageRow] = {}
    for row in rows:
        known = found.get(row.name)
        found[row.name] = row if known is None else plus(known, row)
    return [row for _, row in sorted(found.items())]


def bounded(rows: Iterable[UsageRow], most: int = ROWS_MAX) -> list[UsageRow]:
    """Return at most `most` rows, by name, with the same sums.

    If there are too many, the users of a LocalQueue become one row; if that is not enough, the
    LocalQueues of a ClusterQueue do.
    """
    found = summed(rows)
    if len(found) > most:
        found = summed(_renamed(one, one.name.local_queue) for one in found)
    if len(found) > most:
        found = summed(_renamed(one, OTHERS) for one in found)
    return found


def _renamed(row: UsageRow, local_queue: str) -> UsageRow:
    if not row.name.local_queue and not row.name.user:
        return row
    name = row.name._replace(user=OTHERS, local_queue=local_queue)
    return plus(UsageRow(name=name), row)
