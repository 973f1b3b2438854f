"""How long ago something was, as kubectl prints it."""

from datetime import datetime


def age(text: str, now: float) -> str:
    """Return how long ago a time was, in kubectl's two-unit form."""
    try:
        then = datetime.fromisoformat(text).timestamp()
    except ValueError:
        return "<invalid>"
    return duration(int(now - then))


def duration(seconds: int) -> str:
    """Return a duration as kubectl prints it: `45s`, `3m20s`, `12m`, `5h3m`, `2d4h`, `12d`."""
    seconds = max(0, seconds)
    if seconds < 120:  # noqa: PLR2004 - kubectl's own steps
        return f"{seconds}s"
    minutes, hours, days = seconds // 60, seconds // 3_600, seconds // 86_400
    if minutes < 10:  # noqa: PLR2004
        return f"{minutes}m{seconds % 60}s" if seconds % 60 else f"{minutes}m"
    if minutes < 180:  # noqa: PLR2004
        return f"{minutes}m"
    if hours < 8:  # noqa: PLR2004
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if hours < 48:  # noqa: PLR2004
        return f"{hours}h"
    if days < 8:  # noqa: PLR2004
        return f"{days}d{hours % 24}h" if hours % 24 else f"{days}d"
    return f"{days}d"


def seconds_between(start: str, end: str) -> int:
    """Return the whole seconds from one wire time to another."""
    first, last = (datetime.fromisoformat(text) for text in (start, end))
    return int((last - first).total_seconds())
