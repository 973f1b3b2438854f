"""Kinds of jobs that a plan takes: built-in ones, and described ones.

A Configuration says which of the built-in kinds are queued; without one all are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from queueing.kinds.compiler import Kind
from queueing.kinds.hooks import Related
from queueing.kinds.jobs import DescribedJob, read_job
from queueing.kinds.registry import ALWAYS, BUILT_IN, SUPPORTED, kind_of
from queueing.kinds.support import not_supported
from queueing.sim.decoding import decode
from queueing.sim.descriptions import described, is_description
from queueing.sim.documents import LIVE, Document
from queueing.translate.jobs.pods import view as pod
from queueing.translate.jobs.pods.view import read_pod
from queueing.translate.jobs.view import JobView
from queueing.translate.labels import MANAGED, QUEUE_NAME
from queueing.translate.wire.meta import Identified
from queueing.webhooks.findings import dig
from queueing.webhooks.jobs import DEFAULT as DEFAULT_QUEUE
from queueing.webhooks.rules import has_managed_owner
from queueing.webhooks.suspension import SUSPEND, QueuedKind, of_description

DEFAULT_NAMESPACE = "default"
Named = tuple[str, str]
"""apiVersion and kind."""


class JobKinds:
    """The kinds that documents may be of.

    Raises ManifestError for a QueueableKind that can be used for no object.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._switched: dict[Named, str] = {}
        """Built-in kinds that a Configuration switches on, with their names in it."""
        self._kinds: dict[Named, Kind] = {}
        for one in BUILT_IN:
            if one.name in SUPPORTED:
                kind = kind_of(one.name)
                self._kinds[kind.api_version, kind.name] = kind
                if not one.always:
                    self._switched[kind.api_version, kind.name] = one.name
        self._beside = {
            (one.resource.api_version, one.resource.kind): one.namespaced
            for kind in self._kinds.values()
            for one in kind.hooks.related_kinds
        }
        self._owners = self.suspended(None)
        self._others: dict[tuple[str, str, str, str], Document] = {}
        self._with_default: set[str] = set()
        for document in documents:
            if (document.kind, document.name) == ("LocalQueue", DEFAULT_QUEUE):
                self._with_default.add(_namespace(document))
            elif is_description(document):
                found = described(document).kind
                if found.names.group_kind in ALWAYS:
                    continue  # the controller says that it is described already
                self._kinds[found.api_version, found.name] = found
                self._switched.pop((found.api_version, found.name), None)
            elif self.is_beside(document):
                self._others[self._identity(document)] = document

    def of(self, document: Document) -> Kind | None:
        """Return the kind of a document; None if it is no job.

        Of pods those are jobs that have a queue, or get one when they are created.
        """
        if is_pod(document) and not self._is_queued(document):
            return None
        return self._kinds.get((document.api_version, document.kind))

    def _is_queued(self, document: Document) -> bool:
        """Say whether a pod is queued by itself, or in a group: not with its owner."""
        labels = dig(document.value, "metadata", "labels") or {}
        if not isinstance(labels, dict):
            return True  # its schema, which is asked next, says what is wrong
        asks = bool(labels.get(QUEUE_NAME)) or labels.get(MANAGED) == "true"
        defaulted = QUEUE_NAME not in labels and self._is_defaulted(document)
        return (asks or defaulted) and not has_managed_owner(document.value, self._owners)

    def _is_defaulted(self, document: Document) -> bool:
        """Say whether a pod gets its namespace's default queue: one that is still to be created."""
        is_there = document.file == LIVE or dig(document.value, "status", "phase")
        return not is_there and _namespace(document) in self._with_default

    def is_beside(self, document: Document) -> bool:
        """Say whether a document is of a kind without which some jobs cannot be read."""
        return (document.api_version, document.kind) in self._beside

    def off(self, document: Document, frameworks: Iterable[str] | None) -> str:
        """Return why no object of a document's kind is queued; empty when they are."""
        named = document.api_version, document.kind
        name, kind = self._switched.get(named, ""), self.of(document)
        if kind is not None and name:
            listed = frameworks is None or name in frameworks
            return "" if listed else f"integrations.frameworks does not list {name}"
        return "" if kind is None else not_supported(kind.spec)

    def suspended(self, frameworks: Iterable[str] | None) -> list[QueuedKind]:
        """Return the kinds that are queued, as webhooks know them."""
        on = (
            kind
            for named, kind in self._kinds.items()
            if frameworks is None or self._switched.get(named, "") in {"", *frameworks}
        )
        return [one for kind in on if (one := of_description(kind.spec)) is not None]

    def read(self, document: Document) -> DescribedJob:
        """Read a job as an object of its kind."""
        kind = self._kinds[document.api_version, document.kind]
        return read_job(kind, msgspec.json.encode(document.value), self._find)

    def _find(self, wanted: Related) -> Mapping[str, Any] | None:
        named = wanted.api_version, wanted.kind, wanted.namespace, wanted.name
        found = self._others.get(named)
        return None if found is None else found.value

    def _identity(self, document: Document) -> tuple[str, str, str, str]:
        """Return how others refer to a document."""
        named = document.api_version, document.kind
        return (*named, _namespace(document) if self._beside[named] else "", document.name)


@dataclass(frozen=True, slots=True)
class Jobs:
    """Which documents are jobs that are queued, and how they are read."""

    kinds: JobKinds
    frameworks: Sequence[str] | None
    """The kinds that the Configuration lists; None without one, which is all."""

    def has(self, document: Document) -> bool:
        """Say whether a document is a job, of whatever kind."""
        return self.kinds.of(document) is not None

    def field(self, document: Document) -> str:
        """Return the field that suspends a job."""
        kind = self.kinds.of(document)
        return (None if kind is None else kind.spec.suspend.field) or SUSPEND

    def view(self, document: Document) -> JobView:
        """Read a job. Raises ManifestError, naming the line of a field that cannot be read."""
        if is_pod(document):
            return read_pod(msgspec.json.encode(document.value))
        decode(document, Identified)
        return self.kinds.read(document)

    def owners(self) -> list[QueuedKind]:
        """Return the kinds whose objects queue for their children."""
        return self.kinds.suspended(self.frameworks)


def _namespace(document: Document) -> str:
    return str(document.value["metadata"].get("namespace") or DEFAULT_NAMESPACE)


def is_pod(document: Document) -> bool:
    """Say whether a document is a pod."""
    return (document.api_version, document.kind) == (pod.KIND.api_version, pod.KIND.kind)
