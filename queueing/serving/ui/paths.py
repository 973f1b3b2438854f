"""The table of what can be looked at: patterns of paths, each with its view."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from queueing.serving.ui.entrance import Visitor
from queueing.serving.ui.problems import NotThereError
from queueing.serving.ui.sources import Sources

_NAME = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """What a visitor wants to see."""

    sources: Sources
    visitor: Visitor
    now: float
    """Seconds since 1970."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The names in the path."""
    query: Mapping[str, str] = field(default_factory=dict)

    def number(self, name: str) -> int:
        """Return a number of the query; 0 where there is none, or something else."""
        text = self.query.get(name, "")
        return int(text) if text.isdecimal() and len(text) < 10 else 0  # noqa: PLR2004 - digits


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What is shown: a template and its values."""

    title: str
    template: str
    values: Mapping[str, Any]
    every_s: float = 2.0
    """How soon it is made again while somebody looks at it."""


View = Callable[[Visit], Awaitable[Page]]


class Paths:
    """Finds the view of a path."""

    def __init__(self, table: Sequence[tuple[str, View]]) -> None:
        self._patterns = [
            (re.compile(_NAME.sub(r"(?P<\1>[^/]+)", pattern)), view) for pattern, view in table
        ]

    def find(self, path: str) -> tuple[View, Mapping[str, str]]:
        """Return the view of a path below the page's own, and the names in it."""
        for pattern, view in self._patterns:
            found = pattern.fullmatch(path)
            if found is not None:
                names = {name: unquote(text) for name, text in found.groupdict().items()}
                return view, names
        raise NotThereError("There is no such page.")
