"""Every kept row in an SQLite database, which may hold what retention has deleted since.

Invariant: to add the same records again changes nothing. Rows of a stretch of time replace those of
the finer ones that they were added up from.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from queueing.cli.output import UsageProblem
from queueing.cli.usage.sources import Kept
from queueing.core.credits.facts import MICRO, PART, UsageRow, name_of_tree
from queueing.core.names import Key, namespace_of
from queueing.translate.times import timestamp

SCHEMA = """
CREATE TABLE IF NOT EXISTS usage (
    tree TEXT, resolution TEXT, period_start TEXT, period_end TEXT, as_of TEXT,
    holder_kind TEXT, holder TEXT, local_queue TEXT, team TEXT, user TEXT,
    flavor TEXT, resource TEXT,
    used REAL, borrowed REAL, lent REAL, wasted REAL, idle_held REAL, quota REAL,
    cost REAL, unit TEXT,
    PRIMARY KEY (tree, period_start, period_end, holder_kind, holder, local_queue, user, flavor,
                 resource)
)
"""
"""Amounts are amounts times seconds, as in UsageRecords; cost is in credits."""
_REPLACED = "DELETE FROM usage WHERE tree = ? AND period_start >= ? AND period_end <= ?"
_ADDED = "INSERT INTO usage VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"


def add(file: Path, kept: Iterable[Kept]) -> int:
    """Add records to a database, which is made if there is none; return how many rows they have.

    Raises UsageProblem when it cannot be written.
    """
    count = 0
    try:
        with closing(sqlite3.connect(file)) as database, database:
            database.execute(SCHEMA)
            for one in kept:
                begin, end = timestamp(one.of.start), timestamp(one.of.end)
                database.execute(_REPLACED, (name_of_tree(one.of.root), begin, end))
                values = list(_values(one))
                database.executemany(_ADDED, values)
                count += len(values)
    except sqlite3.Error as error:
        raise UsageProblem(f"{file} cannot be written: {error}") from error
    return count


def _values(one: Kept) -> Iterator[tuple[object, ...]]:
    begin, end, as_of = map(timestamp, (one.of.start, one.of.end, one.as_of))
    for row in one.rows:
        yield (
            name_of_tree(one.of.root),
            str(one.of.resolution),
            begin,
            end,
            as_of,
            *_names(row),
            *map(float, (row.used, row.borrowed / PART, row.lent / PART)),
            *map(float, (row.wasted, row.idle, row.quota, row.cost / MICRO)),
            one.unit,
        )


def _names(row: UsageRow) -> tuple[str, ...]:
    holder, local_queue = row.name.holder, row.name.local_queue
    team = namespace_of(Key(local_queue)) if local_queue else ""
    return (*holder, local_queue, team, row.name.user, *row.name.resource)
