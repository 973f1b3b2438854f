"""A waterfall as a table with bars, and as plain values."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from rich.table import Table
from rich.text import Text

from queueing.cli.get.kinds import age
from queueing.cli.tables import Cell, made
from queueing.observe.waterfall import Phase

HEADER = ("PHASE", "AFTER", "TOOK", "")
BAR = 48
"""Characters of the bar of all phases together."""
INDENT = "  "
STYLES = {
    "queued": "yellow",
    "earlier rounds": "yellow",
    "admission checks": "cyan",
    "preemption": "magenta",
    "eviction": "red",
    "running": "green",
}


def drawn(whole: Phase, now: float) -> Table:
    """Return a row for each phase, indented below the one that it is a part of."""
    end = max(now if whole.ended is None else whole.ended, whole.began)
    return made(HEADER, _rows(whole, (whole.began, end), now))


def _rows(
    one: Phase, frame: tuple[float, float], now: float, depth: int = 0, style: str = "blue"
) -> Iterator[list[Cell]]:
    began, end = frame
    ended = now if one.ended is None else one.ended
    style = STYLES.get(one.name, style)
    goes_on = " …" if one.ended is None else ""
    yield [
        Cell(INDENT * depth + one.name),
        Cell(_length(one.began - began)),
        Cell(_length(ended - one.began) + goes_on),
        Cell(_bar(one.began - began, ended - began, end - began), style),
    ]
    for part in one.inside:
        yield from _rows(part, frame, now, depth + 1, style)


def _bar(start: float, stop: float, whole: float) -> str:
    """Return a bar from start to stop of a stretch of time; one that took no time is a stroke."""
    per = BAR / whole if whole > 0 else 0.0
    left = min(round(max(start, 0.0) * per), BAR - 1)
    right = min(round(max(stop, 0.0) * per), BAR)
    return " " * left + ("█" * (right - left) or "▏")


def _length(seconds: float) -> str:
    """Spell a length of time: tenths below a minute, as kubectl does above."""
    seconds = max(seconds, 0.0)
    return f"{seconds:.1f}s" if seconds < 60 else age(seconds)  # noqa: PLR2004


def told(whole: Phase) -> Iterator[Text]:
    """Return what happened, a line each: when, the reason, and the words for people."""
    for phase in _all(whole):
        for one in phase.happened:
            at = _length(one.at - whole.began)
            line = Text(f"{INDENT}{at:>7}  ")
            line.append(one.reason, style="yellow")
            yield line.append(f"  {one.message}" if one.message else "")


def _all(one: Phase) -> Iterator[Phase]:
    yield one
    for part in one.inside:
        yield from _all(part)


def plain(one: Phase) -> dict[str, Any]:
    """Return a phase as plain values: times as RFC 3339, lengths in seconds, null if it goes on."""
    took = None if one.ended is None else round(one.ended - one.began, 3)
    return {
        "name": one.name,
        "began": spelled(one.began),
        "ended": None if one.ended is None else spelled(one.ended),
        "seconds": took,
        "happened": [
            {"at": spelled(each.at), "reason": each.reason, "message": each.message}
            for each in one.happened
        ],
        "inside": [plain(part) for part in one.inside],
    }


def spelled(moment: float) -> str:
    """Spell a time as RFC 3339 in UTC, to the millisecond."""
    told = datetime.fromtimestamp(moment, tz=UTC).isoformat(timespec="milliseconds")
    return told.replace("+00:00", "Z")
