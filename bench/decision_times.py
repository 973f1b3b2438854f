"""When the controller decided each admission, from the lines of its own log."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import msgspec


class _Line(msgspec.Struct):
    ts: str
    msg: str
    workload: str = ""
    stored_after_s: float = 0.0


def mark_of(log: Path) -> int:
    """Return the place in a log behind what it says now."""
    return log.stat().st_size if log.exists() else 0


def admissions_in(log: Path, mark: int, began: float) -> dict[str, list[float]]:
    """Return when admissions of each workload were decided, in seconds since `began`.

    They are by the workload's name, in the order in which they were stored.
    """
    with log.open("rb") as lines:
        lines.seek(mark)
        return admissions(lines, began)


def admissions(lines: Iterable[bytes], began: float) -> dict[str, list[float]]:
    """Return the same for some lines of a log, of which others than ours are no JSON."""
    found = defaultdict[str, list[float]](list)
    for line in lines:
        if not line.startswith(b"{"):
            continue
        told = msgspec.json.decode(line, type=_Line)
        if told.msg == "Admit":
            stored = datetime.fromisoformat(told.ts).timestamp()
            name = told.workload.partition("/")[2]
            found[name].append(stored - told.stored_after_s - began)
    return dict(found)
