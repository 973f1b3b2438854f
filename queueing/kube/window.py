"""How many writes are under way at once: fewer while each takes long.

Writes wait in the API server for each other. One that waits beyond its timeout may have happened or
not, is sent again, refused, and read: a server that is too slow for so many would get more of them.
So the number follows how long they take, as a sender on a network follows what is lost: it grows by
one, or shrinks by a half, for as many writes as it lets through. It begins small, and grows by one
with each write until the first slow one: who has just become leader may have a server before it
that was too slow for the leader before.
"""

from dataclasses import dataclass

LEAST = 4
"""Writes at once, however slow they are: some must end for it to hear that they are fast again."""
PATIENCE_SHARE = 1 / 3
"""A write is slow that takes this part of its timeout: others of the same moment take longer."""
SHRINKS_BY = 0.5
"""For each slow write: as many as the window lets through make it half as large."""


@dataclass(slots=True)
class Window:
    """Up to `most` writes; one that takes longer than `slow_s` makes the window smaller."""

    most: int
    slow_s: float
    _size: float = float(LEAST)
    _begins: bool = True
    """No write was slow yet."""

    @property
    def size(self) -> int:
        """How many writes may be under way now."""
        return int(self._size)

    def took(self, seconds: float) -> None:
        """Hear how long a write took."""
        if seconds > self.slow_s:
            self._begins = False
            self._size = max(self._size - SHRINKS_BY, float(LEAST))
        else:
            grows_by = 1.0 if self._begins else 1 / self._size
            self._size = min(self._size + grows_by, float(self.most))
