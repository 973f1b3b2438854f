"""Documents that passed the schema of their kind → wire structs.

Malformed times are what a schema accepts and a struct does not; they are reported with the line of
their field, as all other mistakes.
"""

import re
from collections.abc import Iterator
from typing import TypeVar

from queueing.sim.documents import Document, Step
from queueing.sim.yaml_text import ManifestError
from queueing.translate.inbound import manifests
from queueing.translate.wire.meta import Wire

W = TypeVar("W", bound=Wire)

_PLACE = re.compile(r" - at `\$\.?(?P<path>.*)`$")
_STEP = re.compile(r"\[(?P<index>\d+)\]|(?P<key>[^.\[\]]+)|(?P<end>.)")


def decode(document: Document, shape: type[W]) -> W:
    """Read a document. Raises ManifestError, naming the line of the field that cannot be read."""
    try:
        return manifests.read(shape, document.value)
    except manifests.ManifestError as error:
        raise _located(document, str(error)) from error


def _located(document: Document, problem: str) -> ManifestError:
    place = _PLACE.search(problem)
    path = list(_steps(place["path"])) if place else []
    if place is None or not path:
        return document.error([], problem)
    if "datetime" in problem:
        shown = document.value_at(path)
        return document.error(path, f"{shown!r} is not a time; write it like 2026-01-31T12:00:00Z")
    return document.error(path, problem[: place.start()])


def _steps(path: str) -> Iterator[Step]:
    """Yield the steps of a path that it names; keys of maps are not among them."""
    for step in _STEP.finditer(path):
        if step["index"] is not None:
            yield int(step["index"])
        elif step["key"] is not None:
            yield step["key"]
        elif step["end"] != ".":
            return
