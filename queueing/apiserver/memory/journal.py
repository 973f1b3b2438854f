"""State in one SQLite file: every object as it is, so that a restarted server goes on."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec

from queueing.apiserver.tree import Object

_SCHEMA = """
CREATE TABLE IF NOT EXISTS object (
  kind TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL,
  PRIMARY KEY (kind, namespace, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counter (
  id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL
);
"""


class Journal:
    """A file of objects; a write is durable when the write-ahead log is synced by SQLite."""

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=NORMAL")
        self._database.executescript(_SCHEMA)

    def keep(self, kind: str, place: tuple[str, str], obj: Object | None, version: int) -> None:
        """Write one object as it is now, or forget it; the version counter goes with it."""
        self._database.execute("BEGIN")
        if obj is None:
            self._database.execute(
                "DELETE FROM object WHERE kind=? AND namespace=? AND name=?", (kind, *place)
            )
        else:
            body = msgspec.json.encode(obj)
            self._database.execute(
                "INSERT OR REPLACE INTO object VALUES (?, ?, ?, ?)", (kind, *place, body)
            )
        self._database.execute("INSERT OR REPLACE INTO counter VALUES (1, ?)", (version,))
        self._database.execute("COMMIT")

    def version(self) -> int:
        """Return the version of the last write; 0 for a new file."""
        row = self._database.execute("SELECT version FROM counter").fetchone()
        return int(row[0]) if row else 0

    def objects(self) -> Iterator[tuple[str, Object]]:
        """Yield (kind, object) of everything kept, definitions of kinds first."""
        query = (
            "SELECT kind, body FROM object ORDER BY kind <> "
            "'customresourcedefinitions.apiextensions.k8s.io', kind"
        )
        for kind, body in self._database.execute(query):
            yield kind, msgspec.json.decode(body)

    def close(self) -> None:
        self._database.close()
