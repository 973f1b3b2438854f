"""Usage as bars in the terminal: what was used in quota, borrowed and lent, beside each other."""

from collections.abc import Iterator, Mapping
from typing import Any

from queueing.cli.tables import Cell, made, rendered
from queueing.cli.usage.formats import UsagePeriod

BAR = 40
"""Characters of the longest bar of a flavor and resource."""
IN_QUOTA, BORROWED, LENT = "█", "▒", "░"
LEGEND = f"{IN_QUOTA} in quota   {BORROWED} borrowed   {LENT} lent"
Row = Mapping[str, Any]


def chart(rows: list[dict[str, Any]], frame: UsagePeriod) -> str:
    """Return a bar for each row; those of one flavor and resource have one scale."""
    if not rows:
        return f"Nothing was used between {frame.begin} and {frame.end}."
    header = (frame.by.upper(), "FLAVOR", "RESOURCE", "USED", "")
    shown = rendered(made(header, _cells(rows)))
    return f"{shown}\n\n{LEGEND}\n{frame.begin} to {frame.end}; hours of one unit."


def _cells(rows: list[dict[str, Any]]) -> Iterator[list[Cell]]:
    longest: dict[tuple[str, str], float] = {}
    for row in rows:
        kind = row["flavor"], row["resource"]
        longest[kind] = max(longest.get(kind, 0.0), _whole(row))
    for row in rows:
        yield [
            Cell(row["payer"]),
            Cell(row["flavor"]),
            Cell(row["resource"]),
            Cell(f"{row['used']:.2f}{row['unit']}"),
            Cell(_bar(row, longest[row["flavor"], row["resource"]]), "green"),
        ]


def _whole(row: Row) -> float:
    return float(row["withinQuota"] + row["borrowed"] + (row["lent"] or 0.0))


def _bar(row: Row, longest: float) -> str:
    per = BAR / longest if longest > 0 else 0.0
    parts = ((IN_QUOTA, "withinQuota"), (BORROWED, "borrowed"), (LENT, "lent"))
    return "".join(sign * round((row[name] or 0.0) * per) for sign, name in parts)
