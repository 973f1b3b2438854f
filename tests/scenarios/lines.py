"""One line of a scenario: an object's name, and the words that say what it is about."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel

from queueing.sim.documents import Document, Step
from queueing.sim.yaml_text import ManifestError
from queueing.translate.times import timestamp

NAMESPACE = "team"
NOW = 1_767_225_600.0
"""2026-01-01T00:00:00Z: the time at which every scenario stands."""
DAY = 86_400

Json = dict[str, Any]

RESOURCES = frozenset({"cpu", "memory", "pods", "gpu", "gpus"})
"""Resources that a line may name, beside those with a slash in their name."""


METADATA = frozenset(
    {"annotations", "deletionTimestamp", "finalizers", "labels", "ownerReferences", "uid"}
)
"""Words that are fields of an object's metadata."""


def is_resource(word: str) -> bool:
    return word in RESOURCES or "/" in word


def at(second: float) -> str:
    """Return the timestamp of a second of the day before the scenario."""
    return timestamp(NOW - DAY + second)


def fields(model: type[BaseModel], *, but: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the names of a model's fields as they are written in manifests."""
    written = {one.alias or name for name, one in model.model_fields.items()}
    return frozenset(written.difference(but))


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What a line says of one of its names."""

    page: Document
    path: tuple[Step, ...]
    """Where it stands in the file."""
    name: str
    words: Mapping[str, Any]

    @property
    def identity(self) -> Json:
        """Return name and namespace; one without a namespace is in `team`."""
        namespace, _, name = self.name.rpartition("/")
        return {"name": name, "namespace": namespace or NAMESPACE}

    def error(self, problem: str, *steps: Step) -> ManifestError:
        return self.page.error((*self.path, *steps), problem)

    def document(self, api_version: str, kind: str, value: Json) -> Document:
        """Make an object, without a namespace unless it says one.

        What is wrong with it is told by the line.
        """
        node = self.page.node_at(self.path)
        return Document(
            file=self.page.file,
            value={"apiVersion": api_version, "kind": kind, **value},
            node=node,
        )

    def sort(self, **known: frozenset[str]) -> dict[str, Json]:
        """Return the words by the table that has them, resources apart as `resources`.

        Raises ManifestError for a word that no table has.
        """
        found: dict[str, Json] = {table: {} for table in (*known, "resources")}
        for word, value in self.words.items():
            table = next((name for name, words in known.items() if word in words), None)
            if table is None and is_resource(word):
                table = "resources"
            if table is None:
                close = get_close_matches(word, {*RESOURCES}.union(*known.values()), n=1)
                hint = f"; did you mean {close[0]}?" if close else ""
                raise self.error(f"unknown word{hint}", word)
            found[table][word] = value
        return found


def lines(page: Document, section: str) -> Iterator[Line]:
    """Yield the lines of a section, one for each name of those that share a line."""
    section_words = page.value.get(section) or {}
    if not isinstance(section_words, dict):
        raise page.error((section,), "must be a mapping of names to what is said of them")
    for names, words in section_words.items():
        for name in names.split():
            if not isinstance(words or {}, dict):
                raise page.error((section, names), "must be a mapping such as {cpu: 1}")
            yield Line(page=page, path=(section, names), name=name, words=words or {})
