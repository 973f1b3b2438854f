"""A topology as a picture: a frame per domain, a row per node, and a bar per workload on it.

The picture is complete in itself: no script, no font, no style from elsewhere. Each workload has a
colour, which a legend names.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from queueing.explain.domain_model import Seat
from queueing.explain.layout import Layout, Space

ROW, GAP, PAD, HEAD = 18, 4, 10, 20
BAR, NAME = 220, 110
WIDE = NAME + BAR + 2 * PAD
COLUMNS = 4
"""How many racks, or entries of the legend, stand beside each other."""
GOLDEN = 137.508
"""Degrees between neighbouring colours, so that they differ however many there are."""
STYLE = (
    "text{font:11px sans-serif;fill:#1f2937}"
    ".f{fill:none;stroke:#9ca3af}.r{fill:#f3f4f6;stroke:#d1d5db}.p{stroke:#fff;stroke-width:1}"
    ".h{font-weight:bold}.l{opacity:.45}"
    "@media(prefers-color-scheme:dark){text{fill:#e5e7eb}.r{fill:#1f2937;stroke:#374151}"
    ".p{stroke:#111827}}"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the picture and how much place it takes."""

    parts: tuple[str, ...]
    width: int
    height: int

    def at(self, x: int, y: int) -> str:
        return f'<g transform="translate({x},{y})">{"".join(self.parts)}</g>'


def drawn(layouts: Sequence[Layout]) -> str:
    """Return all flavors below each other, as one SVG document."""
    names = sorted({seat.workload for one in layouts for seat in _seats(one.domains)})
    colours = {
        name: f"hsl({int(number * GOLDEN) % 360},60%,55%)" for number, name in enumerate(names)
    }
    pieces = [_flavor(one, colours) for one in layouts]
    if colours:
        pieces.append(_legend(colours))
    body = _stacked(pieces)
    width, height = body.width + 2 * PAD, body.height + 2 * PAD
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}"><title>Who sits where</title>'
        f"<style>{STYLE}</style>{body.at(PAD, PAD)}</svg>"
    )


def _seats(spaces: Iterable[Space]) -> Iterator[Seat]:
    for one in spaces:
        yield from one.seats
        yield from _seats(one.domains)


def _flavor(layout: Layout, colours: Mapping[str, str]) -> Piece:
    head = _text(0, 14, f"{layout.flavor} ({layout.topology})", "h")
    if not layout.domains:
        return Piece((head, _text(0, 32, "no node has a place in it")), WIDE, 40)
    inner = _together(layout.domains, colours)
    return Piece((head, inner.at(0, HEAD)), inner.width, inner.height + HEAD + PAD)


def _together(spaces: Sequence[Space], colours: Mapping[str, str]) -> Piece:
    """Draw domains of one level: racks beside each other, all others below each other."""
    pieces = [_space(one, colours) for one in spaces]
    below = spaces[0].domains
    if below and not below[0].domains:
        return _stacked([_line(some) for some in _chunks(pieces)])
    return _stacked(pieces)


def _space(space: Space, colours: Mapping[str, str]) -> Piece:
    """Draw a domain: a row for one of the lowest level, a frame around others."""
    if not space.domains:
        return _row(space, colours)
    inner = _together(space.domains, colours)
    width, height = inner.width + 2 * PAD, inner.height + HEAD + PAD
    return Piece(
        (
            f'<rect class="f" width="{width}" height="{height}" rx="6"/>',
            _text(PAD, 14, f"{space.name}: {space.fits} fit", "h"),
            inner.at(PAD, HEAD),
        ),
        width,
        height,
    )


def _row(space: Space, colours: Mapping[str, str]) -> Piece:
    """Draw a node: its workloads by their pods there, and what would still fit."""
    whole = max(1, sum(one.pods for one in space.seats) + space.fits)
    parts = [
        _text(0, 13, space.name),
        f'<rect class="r" x="{NAME}" width="{BAR}" height="{ROW}" rx="3"/>',
    ]
    done = 0
    for one in space.seats:
        x, end = BAR * done // whole, BAR * (done + one.pods) // whole
        done += one.pods
        leaving = " l" if one.leaving else ""
        title = escape(f"{one.workload}: {one.pods} pods, priority {one.priority}")
        parts.append(
            f'<rect class="p{leaving}" x="{NAME + x}" width="{end - x}" height="{ROW}" '
            f'fill="{colours[one.workload]}"><title>{title}</title></rect>'
        )
    return Piece(tuple(parts), NAME + BAR, ROW)


def _legend(colours: Mapping[str, str]) -> Piece:
    lines = [
        Piece(
            (
                f'<rect class="p" width="{ROW}" height="{ROW}" fill="{colour}"/>',
                _text(ROW + PAD, 13, name),
            ),
            WIDE,
            ROW,
        )
        for name, colour in colours.items()
    ]
    return _stacked([_line(some) for some in _chunks(lines)])


def _text(x: int, y: int, text: str, kind: str = "") -> str:
    of = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{of}>{escape(text)}</text>'


def _stacked(pieces: Sequence[Piece]) -> Piece:
    y, parts = 0, []
    for one in pieces:
        parts.append(one.at(0, y))
        y += one.height + GAP
    return Piece(tuple(parts), max((one.width for one in pieces), default=WIDE), max(0, y - GAP))


def _line(pieces: Sequence[Piece]) -> Piece:
    x, parts = 0, []
    for one in pieces:
        parts.append(one.at(x, 0))
        x += one.width + PAD
    return Piece(tuple(parts), x - PAD, max(one.height for one in pieces))


def _chunks(pieces: Sequence[Piece]) -> Iterator[Sequence[Piece]]:
    for start in range(0, len(pieces), COLUMNS):
        yield pieces[start : start + COLUMNS]
