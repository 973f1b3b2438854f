"""Manifests as documents: an object's fields, each with its file and line."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from queueing.sim.yaml_text import ManifestError, line_of, read

STDIN = "-"
LIVE = "cluster"
"""The `file` of objects that were read from an API server, which has validated them."""
_SUFFIXES = (".yaml", ".yml", ".json")

Step = str | int


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One object of a file. `value` is as written; nothing is defaulted or checked yet."""

    file: str
    value: dict[str, Any]
    node: yaml.Node

    @property
    def api_version(self) -> str:
        return str(self.value["apiVersion"])

    @property
    def kind(self) -> str:
        return str(self.value["kind"])

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def name(self) -> str:
        return str(self.value["metadata"].get("name", ""))

    @property
    def title(self) -> str:
        """Kind and name for people: `Job team-a/train`."""
        namespace = self.value["metadata"].get("namespace")
        return f"{self.kind} {namespace}/{self.name}" if namespace else f"{self.kind} {self.name}"

    @property
    def line(self) -> int:
        return line_of(self.node)

    def node_at(self, path: Sequence[Step]) -> yaml.Node:
        """Return the node of a field, or of the closest field around it that is written."""
        node = self.node
        for step in path:
            inner = _child(node, step)
            if inner is None:
                break
            node = inner
        return node

    def line_at(self, path: Sequence[Step]) -> int:
        """Return the line of a field, or of the closest field around it that is written."""
        return line_of(self.node_at(path))

    def value_at(self, path: Sequence[Step]) -> Any:
        """Return the value of a field, None where nothing is written."""
        value: Any = self.value
        for step in path:
            if isinstance(value, dict):
                value = value.get(str(step))
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return None
        return value

    def error(self, path: Sequence[Step], problem: str) -> ManifestError:
        """Make the error that says what is wrong with one field."""
        return ManifestError(
            file=self.file, line=self.line_at(path), field=spell(path), problem=problem
        )


def _child(node: yaml.Node, step: Step) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(step):
                found: yaml.Node = value
                return found
    elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        item: yaml.Node = node.value[step]
        return item
    return None


def spell(path: Sequence[Step]) -> str:
    """Write a path as Kubernetes does: `spec.resourceGroups[0].flavors`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def parse(text: str, *, file: str) -> list[Document]:
    """Return the objects in a text, Lists taken apart, in the order in which they are written."""
    found: list[Document] = []
    for value, node in read(text, file=file):
        found.extend(_objects(value, node, file=file))
    return found


def _objects(value: Any, node: yaml.Node, *, file: str) -> Iterator[Document]:
    def fail(problem: str, field: str = "") -> ManifestError:
        return ManifestError(file=file, line=line_of(node), field=field, problem=problem)

    if not isinstance(value, dict):
        raise fail("a document must be an object with apiVersion and kind")
    for key in ("apiVersion", "kind"):
        if not isinstance(value.get(key), str) or not value[key]:
            raise fail("required, and must be a string", key)
    kind = value["kind"]
    if kind.endswith("List") and "items" in value:
        items = value["items"] or []
        items_node = _child(node, "items")
        if not isinstance(items, list) or items_node is None:
            raise fail("must be a list", "items")
        for item, item_node in zip(items, items_node.value, strict=False):
            typed = _typed(item, value, kind.removesuffix("List"))
            yield from _objects(typed, item_node, file=file)
        return
    metadata = value.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        raise fail("must be a mapping", "metadata")
    yield Document(file=file, value=value, node=node)


def _typed(item: Any, parent: dict[str, Any], kind: str) -> Any:
    """Items of a typed list (`JobList`) may leave their own type out."""
    if isinstance(item, dict) and kind and "kind" not in item:
        return {"apiVersion": parent["apiVersion"], "kind": kind} | item
    return item


def load(sources: Iterable[str]) -> list[Document]:
    """Read files, folders (their YAML and JSON files, by name) and `-` for standard input.

    An object with a `generateName` and no name gets one: its number among those of that name.
    """
    found: list[Document] = []
    for source in sources:
        for path in _files(source):
            found.extend(parse(_text(path), file=path))
    _number(found)
    return found


def _number(documents: Iterable[Document]) -> None:
    counts: Counter[str] = Counter()
    for document in documents:
        metadata = document.value["metadata"]
        beginning = metadata.get("generateName")
        if isinstance(beginning, str) and beginning and not metadata.get("name"):
            counts[beginning] += 1
            metadata["name"] = f"{beginning}{counts[beginning]}"


def _files(source: str) -> list[str]:
    if source != STDIN and Path(source).is_dir():
        inside = sorted(path for path in Path(source).iterdir() if path.suffix in _SUFFIXES)
        if not inside:
            raise ManifestError(
                file=source, line=0, problem=f"the folder holds no {', '.join(_SUFFIXES)} file"
            )
        return [os.fspath(path) for path in inside]
    return [source]


def _text(path: str) -> str:
    try:
        data = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except OSError as error:
        problem = error.strerror or str(error)
        raise ManifestError(file=path, line=0, problem=problem) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ManifestError(file=path, line=line, problem="not UTF-8 text") from error
