"""How the API writes moments."""

from datetime import UTC, datetime


def micro_time(epoch: float) -> str:
    """Return a MicroTime: RFC 3339 in UTC with exactly six digits of a second."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
