"""The undo log of usage in a quota tree."""

from queueing.core.quota.cell import Cell


class Journal:
    """The undo log of one tree: a context manager that may be nested.

    While it has `marks`, a cell and its usage are added to `entries` before that usage is changed.
    """

    __slots__ = ("entries", "marks")

    def __init__(self) -> None:
        self.entries: list[tuple[Cell, int]] = []
        self.marks: list[int] = []

    def __enter__(self) -> None:
        self.marks.append(len(self.entries))

    def __exit__(self, *_: object) -> None:
        mark, entries = self.marks.pop(), self.entries
        while len(entries) > mark:
            cell, usage = entries.pop()
            cell.usage = usage
