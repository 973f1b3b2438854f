"""A page of usage that stands alone: a chart and a table, no script, no other file."""

from html import escape
from typing import Any

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; color: #222; }
table { border-collapse: collapse; width: 100%; margin-top: 1.5rem; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid #ddd; }
th:nth-child(-n+3), td:nth-child(-n+3) { text-align: left; }
.quota { fill: #4477aa; } .borrowed { fill: #ee8866; }
.lent { fill: none; stroke: #4477aa; stroke-dasharray: 3; } text { font-size: 13px; }
"""
_LEGEND = (
    '<p><span style="color:#4477aa">&#9632;</span> in quota '
    '<span style="color:#ee8866">&#9632;</span> borrowed '
    '<span style="color:#4477aa">&#9633;</span> lent</p>'
)
_BAR, _GAP, _LEFT, _WIDTH = 18, 10, 220, 560


def page(rows: list[dict[str, Any]], frame: tuple[str, str, str, str]) -> str:
    """Return the whole page: one bar per row, its borrowed part in another colour, and lent."""
    by, unit, begin, end = frame
    title = f"Usage by {by}, {begin} to {end}"
    head = "".join(
        f"<th>{name}</th>"
        for name in (by, "flavor", "resource", "used", "in quota", "borrowed", "lent", "wasted",
                     "held idle", "rate", f"cost ({unit or '-'})")
    )  # fmt: skip
    body = "".join(
        f"<tr><td>{escape(row['payer'])}</td><td>{escape(row['flavor'])}</td>"
        f"<td>{escape(row['resource'])} ({row['unit']})</td><td>{row['used']:.2f}</td>"
        f"<td>{row['withinQuota']:.2f}</td><td>{row['borrowed']:.2f}</td>"
        f"<td>{_known(row['lent'])}</td><td>{_known(row['wasted'])}</td>"
        f"<td>{row['idleHeld']:.2f}</td><td>{row['rate']:.4g}</td>"
        f"<td>{row['cost']:.2f}</td></tr>"
        for row in rows
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>{_LEGEND}{_chart(rows)}"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></body></html>"
    )


def _known(hours: float | None) -> str:
    return "-" if hours is None else f"{hours:.2f}"


def _chart(rows: list[dict[str, Any]]) -> str:
    """Draw bars; each resource has a scale of its own."""
    most: dict[str, float] = {}
    for row in rows:
        longest = row["used"] + (row["lent"] or 0.0)
        most[row["resource"]] = max(most.get(row["resource"], 0.0), longest)
    parts = []
    for place, row in enumerate(rows):
        y, scale = place * (_BAR + _GAP), _WIDTH / (most[row["resource"]] or 1.0)
        quota, borrowed = row["withinQuota"] * scale, row["borrowed"] * scale
        name = escape(f"{row['payer']} {row['resource']}")
        parts.append(
            f'<text x="{_LEFT - 8}" y="{y + 14}" text-anchor="end">{name}</text>'
            f'<rect class="quota" x="{_LEFT}" y="{y}" width="{quota:.1f}" height="{_BAR}"/>'
            f'<rect class="borrowed" x="{_LEFT + quota:.1f}" y="{y}" width="{borrowed:.1f}"'
            f' height="{_BAR}"/>'
        )
        if row["lent"]:
            parts.append(
                f'<rect class="lent" x="{_LEFT + quota + borrowed:.1f}" y="{y}"'
                f' width="{row["lent"] * scale:.1f}" height="{_BAR}"/>'
            )
    height = max(1, len(rows)) * (_BAR + _GAP)
    return f'<svg role="img" width="{_LEFT + _WIDTH}" height="{height}">{"".join(parts)}</svg>'
