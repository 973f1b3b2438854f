"""Charts as inline SVG: stacked areas over time, and bars; colours are those of the page."""

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, LEFT, BOTTOM = 720, 200, 44, 22
"""Pixels of a chart, and of its margins for labels."""
COLOURS = 8
"""How many classes of colour (`c0`, `c1`, ...) the page has."""


def areas(title: str, lines: Mapping[str, Sequence[float]], *, most: float, unit: str) -> str:
    """Draw lines stacked on each other; `most` is what the axis goes up to at least."""
    number = max(map(len, lines.values()), default=0)
    if not number:
        return ""
    floor = [0.0] * number
    stacked = []
    for line in lines.values():
        top = [below + value for below, value in zip(floor, line, strict=True)]
        stacked.append((floor, top))
        floor = top
    scale = max(most, *floor) or 1.0
    shapes = "".join(
        f'<path class="c{place % COLOURS}" d="{_band(below, above, scale)}">'
        f"<title>{escape(name)}</title></path>"
        for place, (name, (below, above)) in enumerate(zip(lines, stacked, strict=True))
    )
    return _figure(title, _axis(scale, unit) + shapes, lines)


def bars(title: str, rows: Mapping[str, Sequence[float]], names: Sequence[str], unit: str) -> str:
    """Draw a group of bars for each row, one bar for each name."""
    scale = max((value for row in rows.values() for value in row), default=0.0) or 1.0
    height, gap = 14, 10
    tall = len(rows) * (len(names) * height + gap)
    shapes, at = "", 0
    for label, row in rows.items():
        middle = at + len(row) * height / 2 + 4
        shapes += f'<text class="label" x="150" y="{middle:.0f}">{escape(label)}</text>'
        for place, value in enumerate(row):
            wide = (WIDTH - 240) * value / scale
            shapes += (
                f'<rect class="c{place}" x="156" y="{at}" width="{wide:.1f}"'
                f' height="{height - 2}"/>'
                f'<text x="{160 + wide:.0f}" y="{at + height - 4}">{told(value)}{unit}</text>'
            )
            at += height
        at += gap
    return _figure(title, shapes, names, height=max(tall, height))


def told(value: float) -> str:
    """Write a number with about three digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004


def _band(below: Sequence[float], above: Sequence[float], scale: float) -> str:
    """Return the outline between two lines, in steps."""
    over = _steps(above, scale)
    under = _steps(below, scale)[::-1]
    return "M" + " L".join(f"{x:.1f},{y:.1f}" for x, y in [*over, *under]) + "Z"


def _steps(line: Sequence[float], scale: float) -> list[tuple[float, float]]:
    width = (WIDTH - LEFT) / len(line)
    tall = HEIGHT - BOTTOM
    points = []
    for place, value in enumerate(line):
        y = tall - tall * value / scale
        points += [(LEFT + place * width, y), (LEFT + (place + 1) * width, y)]
    return points


def _axis(scale: float, unit: str) -> str:
    tall = HEIGHT - BOTTOM
    marks = ""
    for part in (0.0, 0.5, 1.0):
        y = tall - part * tall
        marks += (
            f'<line x1="{LEFT}" x2="{WIDTH}" y1="{y:.0f}" y2="{y:.0f}"/>'
            f'<text class="label" x="{LEFT - 4}" y="{min(tall, y + 10):.0f}">'
            f"{told(part * scale)}{unit}</text>"
        )
    return marks


def _figure(
    title: str, shapes: str, names: Sequence[str] | Mapping[str, object], *, height: int = HEIGHT
) -> str:
    legend = "".join(
        f'<li><span class="c{place % COLOURS}"></span>{escape(name)}</li>'
        for place, name in enumerate(names)
    )
    return (
        f"<figure><figcaption>{escape(title)}</figcaption>"
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"{shapes}</svg>"
        f"<ul>{legend}</ul></figure>"
    )
