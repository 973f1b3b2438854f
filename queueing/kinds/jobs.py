"""An object of a described kind as the controller sees it: the same view as of a batch/v1 Job.

What expressions say of an object is asked once, when it is read, and kept. What cannot be read of
it is a text in its view, and concerns no other object: pod sets that cannot be read are none, so
that it is not started, and stopped if it runs; of a state that cannot be told, the one is supposed
that keeps quota.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import msgspec
from typing_extensions import override

from queueing.core.names import Key
from queueing.kinds import starting
from queueing.kinds.compiler import Kind
from queueing.kinds.hooks import Related
from queueing.kinds.paths import spelled
from queueing.kinds.pod_sets import MissingError, PodSet, UnreadableError
from queueing.kinds.view import Ended, View, read
from queueing.translate import labels
from queueing.translate.jobs.injection import ConflictError, Injection, Original
from queueing.translate.jobs.patches import Patch
from queueing.translate.jobs.pod_sets import equivalent
from queueing.translate.jobs.view import End, JobPodSet, JobView
from queueing.translate.wire.meta import Identified, Wire
from queueing.translate.wire.workloads import Workload


class _Kept(Wire, frozen=True):
    name: str
    template: dict[str, Any]
    count: int = 1


class _KeptSpec(Wire, frozen=True):
    pod_sets: list[_Kept]


class _KeptWorkload(Wire, frozen=True):
    spec: _KeptSpec


_kept = msgspec.json.Decoder(_KeptWorkload)
_identified = msgspec.json.Decoder(Identified)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedJob(JobView):
    """An object of a described kind; `source` is what its description makes of it."""

    source: View
    priority: str = ""
    lacking: bool = False
    """Another object that says what it asks for does not exist."""

    @property
    @override
    def priority_class(self) -> str:
        return self.priority

    @property
    @override
    def queued_through_pods(self) -> bool:
        return self.source.kind.spec.suspend.through_pods is not None

    @property
    @override
    def restored_by_stop(self) -> bool:
        return self.source.kind.spec.suspend.restoration == "WithStop"

    @property
    @override
    def tells_of_all_pods(self) -> bool:
        return False

    @property
    @override
    def needs_stored(self) -> bool:
        return True

    @override
    def wire_pod_sets(self) -> list[dict[str, Any]]:
        return [one.wire() for one in self.source.pod_sets]

    @override
    def fits(self, workload: Workload) -> bool:
        return bool(self.pod_sets) and equivalent(self, workload)

    @override
    def start(self, added: Sequence[Injection]) -> Sequence[Patch]:
        try:
            return starting.start(self.source, added)
        except UnreadableError as error:
            raise ConflictError(_problem(self.source.kind, error)) from error

    @override
    def suspension(self, *, mark: bool) -> Patch | None:
        return starting.suspend(self.source)

    @override
    def reset(self) -> Patch | None:
        return starting.reset(self.source)

    @property
    @override
    def was_started(self) -> bool:
        return self.source.annotates_pods(labels.POD_WORKLOAD)

    @property
    @override
    def marks_its_start(self) -> bool:
        return True

    @override
    def differs(self, workload: Workload) -> bool:
        return self.source.annotates_pods(labels.POD_WORKLOAD, workload.metadata.name)

    @override
    def standing_on(self, workload: Workload) -> JobView:
        return described(self.source.standing_on(workload)) if self.lacking else self

    @override
    def undo(self, workload: Workload, stored: bytes) -> Patch | None:
        if not self.pod_sets:
            return starting.suspend(self.source)
        names = {one.name for one in workload.spec.pod_sets}
        originals = [
            Original(template=one.template, count=one.count)
            for one in _kept.decode(stored).spec.pod_sets
            if one.name in names
        ]
        return starting.undo(self.source, originals)


Find = Callable[[Related], Mapping[str, Any] | None]
"""Returns the object that an object cannot be read without; None while there is none."""


def read_job(kind: Kind, data: bytes | msgspec.Raw, find: Find) -> DescribedJob:
    """Read an object, which is kept. Raises msgspec.ValidationError for what has no metadata."""
    try:
        found = read(kind, data, kept=True).beside(find)
    except UnreadableError as error:
        meta = _identified.decode(data).metadata
        return _unreadable(View(kind, kind.shape(metadata=meta)), error)
    return described(found)


def names(job: DescribedJob, related: Related) -> bool:
    """Say whether a job cannot be read without an object."""
    hook = job.source.kind.hooks.related
    if hook is None:
        return False
    try:
        return hook(job.source) == related
    except UnreadableError:
        return False


_QUESTIONS: tuple[tuple[str, Any], ...] = (
    ("reclaimable", MappingProxyType({})),
    ("pod_sets", ()),
    ("ended", None),
    ("on_hold", False),
    ("groups", 0),
    ("active", True),
    ("suspended", False),
    ("ready", False),
    ("priority_class", ""),
    ("ignored", False),
    ("uncharged", ""),
)
"""What a view is asked, each with what is supposed where it cannot tell."""


def described(found: View) -> DescribedJob:
    """Return what a description says of an object, all of it asked now."""
    said: dict[str, Any] = {}
    told: list[UnreadableError] = []
    for question, supposed in _QUESTIONS:
        try:
            said[question] = getattr(found, question)
        except UnreadableError as error:
            said[question] = supposed
            told.append(error)
    free: Mapping[str, int] = said["reclaimable"]
    pod_sets = tuple([_pod_set(one, free) for one in said["pod_sets"]])
    meta, running = found.metadata, 0
    if said["active"]:
        for one in pod_sets:
            running += one.count - one.reclaimable
    return DescribedJob(
        kind=found.kind.names,
        metadata=meta,
        key=key_of(found.kind, meta.namespace, meta.name),
        suspended=said["suspended"],
        stopping=False,
        pod_sets=pod_sets,
        running_pods=running,
        active=said["active"],
        ready=said["ready"],
        end=_end(said["ended"]),
        source=found,
        problem="; ".join(dict.fromkeys(_problem(found.kind, one) for one in told)) if told else "",
        priority=said["priority_class"],
        ignored=said["ignored"],
        on_hold=said["on_hold"],
        uncharged=said["uncharged"],
        lacking=any(isinstance(one, MissingError) for one in told) if told else False,
    )


def _unreadable(bare: View, error: UnreadableError) -> DescribedJob:
    """Return an object of which only the metadata is known."""
    return DescribedJob(
        kind=bare.kind.names,
        metadata=bare.metadata,
        key=key_of(bare.kind, bare.metadata.namespace, bare.metadata.name),
        suspended=False,
        stopping=False,
        pod_sets=(),
        running_pods=0,
        active=True,
        ready=False,
        end=None,
        source=bare,
        problem=_problem(bare.kind, error),
        unreadable=True,
    )


def key_of(kind: Kind, namespace: str, name: str) -> Key:
    """Return the key of an object of a kind."""
    named = kind.names
    return Key(f"{namespace}/{name} {named.kind}.{named.group}")


def _pod_set(one: PodSet, free: Mapping[str, int]) -> JobPodSet:
    return JobPodSet(
        name=one.name,
        count=one.count,
        least=one.min_count,
        encoded_template=one.template,
        reclaimable=min(free.get(one.name, 0), one.count),
        first_index=one.first_index,
    )


def _end(found: Ended | None) -> End | None:
    return None if found is None else End(found.succeeded, found.message)


def _problem(kind: Kind, error: UnreadableError) -> str:
    where = f"{spelled(error.at)}: " if error.at else ""
    return f"{where}{error.problem} ({spelled(error.field)} of the description of {kind.name})"
