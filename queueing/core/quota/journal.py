"""Usage as it was, while somebody may want it back."""

from queueing.core.quota.cell import Cell


class Journal:
    """The undo log of one tree: a context manager that may be entered again inside itself.

    While it has `marks`, whoever changes a cell's usage first adds the cell and its usage to
    `entries`.
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
