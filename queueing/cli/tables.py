"""Tables for people, laid out by `rich`: colours on a terminal only, plain columns elsewhere."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

GAP = 3
WITHOUT_A_TERMINAL = 100_000
"""Columns where no terminal limits them, so that nothing is cut."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A text with a style that a terminal may show."""

    text: str
    style: str = ""


Row = Sequence[Cell]


def made(header: Sequence[str], rows: Iterable[Row]) -> Table:
    """Return a table as kubectl lays one out: capitals on top, no boxes.

    On a terminal the last column is cut where it does not fit; the others keep their width for as
    long as something of the last one is left.
    """
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for number, name in enumerate(header):
        # Rich takes width from columns that may wrap first; the text of this one does not.
        table.add_column(name, no_wrap=number < len(header) - 1)
    for row in rows:
        table.add_row(*(_shown(one, last=one is row[-1]) for one in row))
    return table


def _shown(cell: Cell, *, last: bool) -> Text:
    return Text(cell.text, style=cell.style, no_wrap=True, overflow="ellipsis" if last else "fold")


def rendered(what: RenderableType) -> str:
    """Return what is to be printed; it ends without a line break."""
    terminal = sys.stdout.isatty()
    out = StringIO()
    width = None if terminal else WITHOUT_A_TERMINAL
    console = Console(file=out, force_terminal=terminal, width=width, highlight=False)
    console.print(what)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())
