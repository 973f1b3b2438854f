"""Seconds since the epoch ↔ the API server's timestamps (RFC 3339, whole seconds, UTC)."""

from datetime import UTC, datetime
from functools import lru_cache


def seconds(moment: datetime | None) -> float | None:
    """Return a wire timestamp as seconds since the epoch."""
    return None if moment is None else moment.timestamp()


def moment(text: str) -> float:
    """Read RFC 3339 as seconds since 1970; without a zone it is UTC. Raises ValueError."""
    found = datetime.fromisoformat(text)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def timestamp(now: float) -> str:
    """Spell a time as `metav1.Time`; fractions of a second are cut off, as the server does."""
    return _spelled(int(now))


@lru_cache(maxsize=64)
def _spelled(second: int) -> str:
    """Most times that are spelled are those of the last few seconds."""
    return datetime.fromtimestamp(second, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
