"""Long lists are shown in parts, with links to the parts before and after."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from queueing.serving.ui.paths import Visit

ROWS = 50
"""How many rows one part shows."""
KEPT: Sequence[str] = ("waiting", "holding", "nodes", "domains", "domain", "topology", "eta")
"""What links to other parts keep of the query: where each list of a page begins, by its name, which
domain of which topology is looked at, and whether it is asked when workloads will be admitted."""


def query(asked: Visit, **changes: str) -> str:
    """Return the query of a link to the same page, but for some changes."""
    kept = {name: value for name, value in asked.query.items() if name in KEPT} | changes
    return f"?{urlencode({name: value for name, value in kept.items() if value})}"


def parts(asked: Visit, name: str, *, shown: int, in_all: int) -> dict[str, Any]:
    """Return where the parts before and after one are, as queries; empty where there are none."""
    offset = asked.number(name)

    end = offset + shown
    return {
        "first": offset + 1 if shown else 0,
        "last": end if shown else 0,
        "in_all": in_all,
        "before": query(asked, **{name: str(max(0, offset - ROWS) or "")}) if offset else "",
        "after": query(asked, **{name: str(offset + ROWS)}) if shown and end < in_all else "",
    }
