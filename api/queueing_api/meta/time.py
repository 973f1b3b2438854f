"""Kubernetes' times: RFC 3339 text to seconds since the epoch and back."""

from datetime import UTC, datetime
from functools import lru_cache


@lru_cache(maxsize=65536)
def seconds_of(text: str) -> float:
    """Return the seconds since the epoch that an RFC 3339 text means.

    Raises ValueError, naming the text, when it is no such time or names no offset.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(
            f"{text!r} is not an RFC 3339 time such as 2026-01-31T08:00:00Z"
        ) from error
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} is not an RFC 3339 time: it names no offset; end it with Z")
    return moment.timestamp()


def time_text(seconds: float) -> str:
    """Return the text of a `Time`: UTC, whole seconds, rounded down."""
    return f"{datetime.fromtimestamp(int(seconds // 1), UTC):%Y-%m-%dT%H:%M:%SZ}"


def micro_time_text(seconds: float) -> str:
    """Return the text of a `MicroTime` (leases): UTC with six digits."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
