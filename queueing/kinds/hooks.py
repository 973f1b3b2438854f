"""What data cannot say of a built-in kind: functions that its own module adds to its description.

A hook gets one object as seen, and what the description made of it; it returns, or writes, what
stands in its place. It is pure as everything here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from queueing.kinds.pod_sets import PodSet
from queueing.kinds.templates import Document
from queueing.translate.jobs.injection import Injection, Original
from queueing.translate.wire.meta import Meta
from queueing_api.queueing.v1alpha1.queueable_kind import KindResource


class Seen(Protocol):
    """One object, as a hook sees it."""

    @property
    def metadata(self) -> Meta: ...

    @property
    def pod_sets(self) -> tuple[PodSet, ...]: ...

    @property
    def related(self) -> Mapping[str, Any] | None:
        """The object that `Hooks.related` names, as plain values; None when it does not exist."""

    def value(self, path: str) -> Any:
        """Return what is at a path that is read; ABSENT where nothing is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """Another object that an object cannot be read without."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    """Its namespace; empty for one of the whole cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedKind:
    """A kind of objects that objects may be related to."""

    resource: KindResource
    namespaced: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """Functions beside a description; each is None where the description says all."""

    reads: tuple[str, ...] = ()
    """Paths that the functions read of an object, beside those of the description."""
    related: Callable[[Seen], Related] | None = None
    """Returns what an object cannot be read without. Raises UnreadableError."""
    related_kinds: tuple[RelatedKind, ...] = ()
    """The kinds that `related` may name."""
    pod_sets: Callable[[Seen, Sequence[PodSet]], Sequence[PodSet]] | None = None
    """Returns the pod sets, given those of the description. Raises UnreadableError."""
    reclaimable: Callable[[Seen], Mapping[str, int]] | None = None
    """Returns how many pods of each set will never be needed again."""
    start: Callable[[Seen, Document, Sequence[Injection]], None] | None = None
    """Writes into the object what a start adds, in place of what is written at `places`."""
    undo: Callable[[Seen, Document, Sequence[Original]], None] | None = None
    """Takes away from the object what `start` added."""


NO_HOOKS = Hooks()
