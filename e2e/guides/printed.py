"""Compares what a command prints with what its page shows."""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby

MADE_UP = "-ID"
"""Stands for the end of a name that the cluster makes up."""
_TOLD = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{32}\b"), "ID"),
    (re.compile(r"-[0-9a-z]{9,10}-[0-9a-z]{1,5}(?=-[0-9a-f]{5}\b)"), ""),  # a Deployment's pod
    (re.compile(r"-[0-9a-f]{5,6}\b"), MADE_UP),
    (re.compile(r"(?<![\w.])(\d+(\.\d+)?[dhms])+\b"), "TOOK"),
    (re.compile(r"\bx[\d.]+( = [\d.]+)?"), "FACTOR"),
    (re.compile(r"-?\b\d+\.\d\d\b"), "AMOUNT"),
    (re.compile(r"\b(step|Saved) +\d+"), r"\1 N"),
    (re.compile(r"[▏▎▍▌▋▊▉█]+"), ""),
    (re.compile(r"\s+"), " "),
    (re.compile(r"[.]{3}"), "…"),
)
"""What differs from one time to the other, and what stands for it."""
_NAME = re.compile(r"\S*?-[0-9a-f]{5,6}\b")
"""A name up to the part that is made up."""


def normal(lines: Iterable[str]) -> list[str]:
    """Return lines without what differs each time: ids, times, ages, amounts, widths of columns."""
    return [told for line in lines if (told := _normal(line))]


def _normal(line: str) -> str:
    for pattern, stands_for in _TOLD:
        line = pattern.sub(stands_for, line)
    return line.strip()


def is_shown(shown: Sequence[str], printed: str) -> bool:
    """Say whether a page shows what was printed; `…` stands for anything, alone for any lines.

    Rows of several objects that follow each other and begin alike may be in another order where the
    cluster makes up how their names end, by which they are sorted. Rows of one object may not.
    """
    wanted, found = shown, printed.splitlines()
    if _matches(normal(wanted), normal(found)):
        return True
    free = _of_several(wanted) & _of_several(found)
    return _matches(_in_order(wanted, free), _in_order(found, free))


def _of_several(lines: Iterable[str]) -> set[str]:
    """Return how rows begin of which no two have the same name."""
    names: dict[str, list[str]] = {}
    for line in lines:
        if (stem := _stem(_normal(line))) and (name := _NAME.search(line)):
            names.setdefault(stem, []).append(name[0])
    return {stem for stem, found in names.items() if len(set(found)) == len(found)}


def _in_order(lines: Iterable[str], free: AbstractSet[str]) -> list[str]:
    """Put rows in one order that begin in one of these ways."""
    return [
        line
        for stem, rows in groupby(normal(lines), key=_stem)
        for line in (sorted(rows) if stem in free else rows)
    ]


def _stem(line: str) -> str:
    """Return what stands before the part of a name that is made up; empty if there is none."""
    stem, made_up, _ = line.partition(MADE_UP)
    return stem if made_up else ""


def _matches(wanted: Iterable[str], found: Iterable[str]) -> bool:
    parts = [
        r"(?:.*\n)*?" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + r"\n"
        for line in wanted
    ]
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in found)) is not None
