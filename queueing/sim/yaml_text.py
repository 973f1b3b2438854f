"""YAML and JSON as kubectl reads them, with the line of every field.

Scalars resolve as in Kubernetes' own tools (YAML 1.1 booleans; no timestamps, no base-60 numbers),
a key that is written twice is an error, and aliases cannot blow a small file up.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from queueing.sim.yaml_nodes import DEPTH_MAX, PLAIN, compose

NODES_MAX = 5_000_000
"""Nodes that one file may have after aliases are expanded: far above any real manifest."""

_TRUE = frozenset({"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})
_FALSE = frozenset({"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_NUMBER = re.compile(r"[-+]?\.?[0-9].*")
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_OCTAL = re.compile(r"[-+]?0[0-7]+")
_BASED = re.compile(r"[-+]?0(b[01]+|o[0-7]+|x[0-9a-fA-F]+)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NEXT_OBJECT = re.compile(r"\}[ \r]*\n\s*\{")
"""Where one JSON object ends and another begins: never within one, where a comma is between."""

_MERGE = "<<"


class ManifestError(Exception):
    """A file that cannot be used: where, which field, and what is wrong with it.

    Line 0 stands for the file as a whole.
    """

    def __init__(self, *, file: str, line: int, problem: str, field: str = "") -> None:
        self.file, self.line, self.field, self.problem = file, line, field, problem
        where = f"{field}: " if field else ""
        place = f"{file}:{line}" if line else file
        super().__init__(f"{place}: {where}{problem}")

    @classmethod
    def of_all(cls, found: Sequence["ManifestError"]) -> "ManifestError":
        """Make the error of a file with several mistakes: a line each, as they stand in the file.

        A field is told once; its line, name and problem are those of the first.
        """
        told = {(one.line, one.field): one for one in reversed(found)}
        ordered = [told[place] for place in sorted(told)]
        first = ordered[0]
        made = cls(file=first.file, line=first.line, problem=first.problem, field=first.field)
        made.args = ("\n".join(map(str, ordered)),)
        return made


@dataclass(slots=True)
class _Construction:
    """Builds values from nodes and counts them."""

    file: str
    nodes: int = 0
    open_nodes: set[int] = field(default_factory=set)

    def fail(self, node: yaml.Node, problem: str) -> ManifestError:
        return ManifestError(file=self.file, line=line_of(node), problem=problem)

    def value(self, node: yaml.Node) -> Any:
        self.nodes += 1
        if self.nodes > NODES_MAX:
            raise self.fail(node, f"more than {NODES_MAX} values; are there nested aliases?")
        if isinstance(node, yaml.ScalarNode):
            return scalar(node)
        if id(node) in self.open_nodes:
            raise self.fail(node, "an alias refers to a value that contains it")
        if len(self.open_nodes) >= DEPTH_MAX:
            raise self.fail(node, "nested too deeply")
        self.open_nodes.add(id(node))
        try:
            if isinstance(node, yaml.SequenceNode):
                return [self.value(item) for item in node.value]
            return self.mapping(node)
        finally:
            self.open_nodes.discard(id(node))

    def mapping(self, node: yaml.Node) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.fail(key_node, "a key must be a string")
            key = str(key_node.value)
            if key == _MERGE and not key_node.style:
                merged |= self.merge(value_node)
                continue
            if key in found:
                raise self.fail(key_node, f"key {key!r} is written twice in one mapping")
            found[key] = self.value(value_node)
        return merged | found

    def merge(self, node: yaml.Node) -> dict[str, Any]:
        value = self.value(node)
        parts = value if isinstance(value, list) else [value]
        merged: dict[str, Any] = {}
        for part in reversed(parts):
            if not isinstance(part, dict):
                raise self.fail(node, "only mappings can be merged with <<")
            merged |= part
        return merged


def scalar(node: yaml.ScalarNode) -> Any:
    """Resolve a scalar; anything quoted or tagged is a string."""
    text = str(node.value)
    if node.tag != PLAIN:
        return text
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    return _number(text.replace("_", ""), text) if _NUMBER.fullmatch(text) else text


def _number(digits: str, text: str) -> Any:
    """Read what begins as a number does, underscores left out; what is none is text."""
    if _INTEGER.fullmatch(digits):
        return int(digits)
    if _OCTAL.fullmatch(digits):
        return int(digits, 8)
    if _BASED.fullmatch(digits):
        return int(digits, 0)
    return float(digits) if _FLOAT.fullmatch(digits) else text


def line_of(node: yaml.Node) -> int:
    """Return the line on which a node starts, counted from 1."""
    return int(node.start_mark.line) + 1


def read(text: str, *, file: str) -> Iterator[tuple[Any, yaml.Node]]:
    """Yield the value and the node of every document that is not empty.

    Raises ManifestError for text that is not YAML, or breaks a rule of this module.
    """
    if text.lstrip()[:1] in {"{", "["}:
        text = text.replace("\t", " ")  # legal white space in JSON, but not in YAML
        text = _NEXT_OBJECT.sub(_apart, text)
    construction = _Construction(file)
    try:
        for node in compose(text):
            if not (isinstance(node, yaml.ScalarNode) and scalar(node) is None):
                yield construction.value(node), node
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(filter(None, (error.context, error.problem))) or "not valid YAML"
        line = 1 if mark is None else int(mark.line) + 1
        raise ManifestError(file=file, line=line, problem=problem) from error
    except yaml.YAMLError as error:
        raise ManifestError(file=file, line=1, problem=f"not valid YAML: {error}") from error


def _apart(found: re.Match[str]) -> str:
    """Write a document marker between two objects, on the line of the second."""
    return "}" + "\n" * found[0].count("\n") + "--- {"
