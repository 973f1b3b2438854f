"""Indexes of an Indexed Job, as its status abbreviates them: `1,3-5,7`."""


def ranges(text: str) -> list[tuple[int, int]]:
    """Read ranges, both ends included; what is no number is left out, as Kueue does."""
    found = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            found.append((int(first), int(last or first)))
    return found


def count_of_union(*texts: str, below: int | None = None) -> int:
    """Count the indexes that at least one of the texts names, and that are below a limit if any."""
    total, covered_to = 0, -1
    for first, last in sorted(one for text in texts for one in ranges(text)):
        last = last if below is None else min(last, below - 1)
        total += max(last - max(first, covered_to + 1) + 1, 0)
        covered_to = max(covered_to, last)
    return total
