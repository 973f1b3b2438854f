"""Times and lists as answers tell them."""

from collections.abc import Sequence
from datetime import UTC, datetime

NAMED = 3
"""How many names of a list are told."""


def told(at: float | None) -> str | None:
    """Return a time as RFC 3339 in UTC, in whole seconds; None for a time that is not known."""
    if at is None:
        return None
    return datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def listed(names: Sequence[str]) -> str:
    """Return the first few of some names, and how many more there are."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
