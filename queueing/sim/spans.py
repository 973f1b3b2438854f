"""Lengths of time as people read them."""

UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
MINUTE_S = 60


def span(seconds: float) -> str:
    """Write a length of time by its two largest units, rounded to seconds: `2h5m`."""
    left, told = round(seconds), ""
    for name, size in UNITS:
        count, left = divmod(left, size)
        if told:
            return told + (f"{count}{name}" if count else "")
        told = f"{count}{name}" if count else ""
    return told or "0s"


def fine_span(seconds: float) -> str:
    """Write a length of time as `span` does, and one under a minute with three digits."""
    return f"{seconds:.3g}s" if seconds < MINUTE_S else span(seconds)
