"""Durations as Go writes them, for example 1h30m or 500ms, as seconds."""

import re
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, PlainSerializer

_SECONDS: Final = {
    "h": 3600.0,
    "m": 60.0,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "µs": 1e-6,
    "ns": 1e-9,
}
_PART: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ms|us|µs|ns|h|m|s)")


def seconds_of(text: str) -> float:
    """Return the seconds that a duration means.

    Raises ValueError when the text is no duration.
    """
    sign, rest = (-1.0, text[1:]) if text.startswith("-") else (1.0, text.removeprefix("+"))
    if rest == "0":
        return 0.0
    parts = list(_PART.finditer(rest))
    if not parts or "".join(part[0] for part in parts) != rest:
        raise ValueError("must be a duration such as 30s, 5m or 1h30m")
    return sign * sum(float(part[1]) * _SECONDS[part[2]] for part in parts)


def duration_text(seconds: float) -> str:
    """Return the text of a duration, in hours, minutes and seconds."""
    size = abs(seconds)
    hours, minutes = int(size // 3600), int(size % 3600 // 60)
    rest = f"{size % 60:.9f}".rstrip("0").rstrip(".")
    text = (f"{hours}h" if hours else "") + (f"{minutes}m" if minutes else "")
    return ("-" if seconds < 0 else "") + (text + (f"{rest}s" if rest != "0" else "") or "0s")


def _seconds(value: Any) -> Any:
    return seconds_of(value) if isinstance(value, str) else value


def _not_negative(value: Any) -> Any:
    if isinstance(value, int | float) and value < 0:
        raise ValueError("must be greater than or equal to 0")
    return value


Duration = Annotated[
    float,
    BeforeValidator(lambda value: _not_negative(_seconds(value))),
    PlainSerializer(duration_text),
]
"""Seconds, never negative; written as text such as 5m in the file."""
