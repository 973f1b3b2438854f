"""Quota as bars: what is used of one's own, what is borrowed, lent, promised and free.

A bar is 100 units long for the largest amount in its table of that resource, so that bars of one
resource can be compared with each other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from queueing.explain.model import QuotaRow
from queueing.explain.text import use_of
from queueing_api.quantity import approximate

FULL = 100.0


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar, in units of its length."""

    kind: str
    """used, borrowed, promised, lent or free."""
    begin: float
    length: float


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of quota with its bar."""

    row: QuotaRow
    segments: tuple[Segment, ...]
    nominal_at: float
    """Where the nominal quota ends."""
    text: str
    """The same in words."""


def longest(rows: Iterable[QuotaRow]) -> dict[str, float]:
    """Return by resource the largest amount that a bar must show."""
    found: dict[str, float] = {}
    for row in rows:
        need = max(approximate(row.nominal), approximate(row.used) + approximate(row.promised))
        found[row.resource] = max(found.get(row.resource, 0.0), need)
    return found


def bars(rows: Sequence[QuotaRow], scale: dict[str, float] | None = None) -> list[Bar]:
    """Return the bars of some rows, by default each resource as long as the longest of them."""
    known = longest(rows) if scale is None else scale
    return [_bar(row, known.get(row.resource) or 1.0) for row in rows]


def _bar(row: QuotaRow, most: float) -> Bar:
    nominal, used, lent = approximate(row.nominal), approximate(row.used), approximate(row.lent)
    borrowed, promised = min(used, approximate(row.borrowed)), approximate(row.promised)
    own = used - borrowed
    parts = [("used", own), ("borrowed", borrowed), ("promised", promised), ("lent", lent)]
    taken = sum(length for _, length in parts)
    parts.append(("free", max(0.0, nominal - taken)))
    segments, at = [], 0.0
    for kind, length in parts:
        size = min(length / most * FULL, FULL - at)
        if size > 0:
            segments.append(Segment(kind, round(at, 2), round(size, 2)))
            at += size
    return Bar(
        row=row,
        segments=tuple(segments),
        nominal_at=round(min(FULL, nominal / most * FULL), 2),
        text=", ".join(use_of(row)),
    )
