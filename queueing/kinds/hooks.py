"""What data cannot say of a built-in kind: functions that its own module adds to its description.

A hook gets one object as seen, and what the description made of it; it returns, or writes, what
stands in its place. It is pure as everything here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from queueing.kinds.paths import Document
from queueing.kinds.pod_sets import PodSet
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
class PodGroups:
    """How the pods of an object form groups, each of which has a Workload with all pod sets."""

    number: Callable[[Meta], int | None]
    """Returns the number of the group that a pod is of, from 0 on; None for a pod of none."""
    role: Callable[[Meta], str]
    """Returns which of several pod sets a pod is of."""
    owner_label: str = ""
    """Label of a pod that names the object; empty where the object controls its pods."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """What its pods get beside the names of their group."""
    on_hold: str = ""
    """What is said of the Workload of an object that asks for no pods for a while."""
    off_hold: str = ""
    """What is said when it asks for some again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What a status says that counts all pods, also those that are about to end."""

    running: Callable[[Seen], int]
    """Returns how many run."""
    ready: Callable[[Seen], int]
    """Returns how many are ready, or have succeeded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """Functions beside a description; each is None where the description says all."""

    reads: tuple[str, ...] = ()
    """Paths that the functions read of an object, beside those of the description."""
    related: Callable[[Seen], Related] | None = None
    """Returns what an object cannot be read without. Raises UnreadableError."""
    related_kinds: tuple[RelatedKind, ...] = ()
    """The kinds that `related` may name."""
    pod_sets: Callable[[Seen, Sequence[PodSet]], Iterable[PodSet]] | None = None
    """Yields the pod sets, given those of the description. Raises UnreadableError. No more of them
    are asked for than a Workload may have, and one."""
    reclaimable: Callable[[Seen], Mapping[str, int]] | None = None
    """Returns how many pods of each set will never be needed again."""
    counts: Counts | None = None
    """Of a kind whose status tells of all pods, which its controller labels with the uid of the
    object. Of others, pods are found by what a start wrote, and listed before quota is free."""
    uncharged: Callable[[Seen], Iterable[str]] | None = None
    """Yields parts of an object whose pods, if they have any, are in no pod set."""
    start: Callable[[Seen, Document, Sequence[Injection]], None] | None = None
    """Writes into the object what a start adds, in place of what is written at `places`."""
    undo: Callable[[Seen, Document, Sequence[Original]], None] | None = None
    """Takes away from the object what `start` added."""
    pod_groups: PodGroups | None = None
    """How its pods form groups, of an object that is queued through them."""
    bare: bool = False
    """Whether its objects are told by their names alone: one kind's, so that no two share one."""


NO_HOOKS = Hooks()
