"""Long lists are shown in parts, with links to the parts before and after."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from queueing.serving.ui.paths import Asked

ROWS = 50
"""How many rows one part shows."""
LISTS: Sequence[str] = ("waiting", "holding", "nodes")
"""The lists of all pages; where each begins is in the query by this name."""


def parts(asked: Asked, name: str, *, shown: int, in_all: int) -> dict[str, Any]:
    """Return where the parts before and after one are, as queries; empty where there are none."""
    offset = asked.number(name)

    def at(offset: int) -> str:
        others = {name: value for name, value in asked.query.items() if name in LISTS}
        kept = {**others, name: str(offset)}
        return urlencode({name: value for name, value in kept.items() if value != "0"})

    end = offset + shown
    return {
        "first": offset + 1 if shown else 0,
        "last": end if shown else 0,
        "in_all": in_all,
        "before": f"?{at(max(0, offset - ROWS))}" if offset else "",
        "after": f"?{at(offset + ROWS)}" if shown and end < in_all else "",
    }
