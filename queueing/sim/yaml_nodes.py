"""YAML events → nodes, one document after the other.

PyYAML's own composer recurses in C, so that a text nested deeply enough ends the process, and asks
Python for the tag of every scalar, which takes most of its time. Here nothing recurses, and plain
scalars keep their text.
"""

from collections.abc import Iterator
from typing import cast

import yaml
from yaml.error import Mark
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentEndEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
)

DEPTH_MAX = 200
"""Values within values that a document may have: far above any real manifest."""

PLAIN = ""
"""The tag of a scalar that is neither quoted nor tagged: what it is depends on its text."""

_TAGGED = "!"
"""The tag of what is quoted."""


def compose(text: str) -> Iterator[yaml.Node]:
    """Yield the root of every document.

    Raises yaml.YAMLError where the text is not YAML, or is nested too deeply.
    """
    document = _Document()
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, NodeEvent):
            document.add(event)
        elif isinstance(event, CollectionEndEvent):
            document.close()
        elif isinstance(event, DocumentEndEvent):
            yield document.root
            document = _Document()


class _Document:
    """One document while its events come in: what is open, and what has a name."""

    __slots__ = ("_anchors", "_open", "root")

    root: yaml.Node

    def __init__(self) -> None:
        self._anchors: dict[str, yaml.Node] = {}
        self._open: list[yaml.CollectionNode] = []
        """A mapping holds its keys and values in turn until it is closed."""

    def add(self, event: NodeEvent) -> None:
        """Put a value where it belongs; a collection stays open for those that follow."""
        node = self._named(event) if isinstance(event, AliasEvent) else _made(event)
        if self._open:
            self._open[-1].value.append(node)
        else:
            self.root = node
        if isinstance(event, AliasEvent):
            return
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        if isinstance(node, yaml.CollectionNode):
            if len(self._open) >= DEPTH_MAX:
                raise _error(event, "nested too deeply")
            self._open.append(node)

    def close(self) -> None:
        """End the innermost collection."""
        node = self._open.pop()
        if isinstance(node, yaml.MappingNode):
            turns = iter(node.value)
            node.value = list(zip(turns, turns, strict=True))

    def _named(self, event: AliasEvent) -> yaml.Node:
        if event.anchor not in self._anchors:
            raise _error(event, f"undefined alias {event.anchor!r}")
        return self._anchors[event.anchor]


def _made(event: NodeEvent) -> yaml.Node:
    if isinstance(event, ScalarEvent):
        plain = not event.style and event.tag is None
        tag = PLAIN if plain else event.tag or _TAGGED
        return yaml.ScalarNode(tag, event.value, _mark(event), style=event.style)
    kind = yaml.SequenceNode if isinstance(event, SequenceStartEvent) else yaml.MappingNode
    return kind(PLAIN, [], _mark(event))


def _error(event: NodeEvent, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=_mark(event))


def _mark(event: NodeEvent) -> Mark:
    """Return where a value begins, which the parser always knows."""
    return cast("Mark", event.start_mark)
