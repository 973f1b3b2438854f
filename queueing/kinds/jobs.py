"""An object of a described kind as the controller sees it.

What expressions say of an object is asked once, when it is read, and kept. What cannot be read of
it is a text in its view, and concerns no other object: pod sets that cannot be read are none, so
that it is not started, and stopped if it runs; of a state that cannot be told, the one is supposed
that keeps quota.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec.structs import replace
from typing_extensions import override

from queueing.kinds import starting
from queueing.kinds.compiler import Kind
from queueing.kinds.hooks import Related
from queueing.kinds.paths import spelled
from queueing.kinds.pod_sets import MissingError, UnreadableError, with_templates_of
from queueing.kinds.view import View, read
from queueing.translate import labels
from queueing.translate.jobs.injection import ConflictError, Injection, Original
from queueing.translate.jobs.patches import Patch
from queueing.translate.jobs.pod_sets import equivalent
from queueing.translate.jobs.view import JobPodSet, JobView
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
_state = attrgetter("active", "end", "problem", "ignored", "on_hold", "uncharged")
_STARTED = labels.POD_WORKLOAD.encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedJob(JobView):
    """An object of a described kind; `source` is what its description makes of it."""

    source: View
    lacking: bool = False
    """Another object that says what it asks for does not exist."""

    @property
    @override
    def priority_class(self) -> str:
        return self.source.priority_class if self.pod_sets else ""

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
        return self.source.kind.hooks.counts is not None

    @property
    @override
    def needs_stored(self) -> bool:
        return not self.tells_of_all_pods

    @property
    @override
    def suspension_seen(self) -> float | None:
        return self.source.since("Suspended")

    @override
    def only_waits_as(self, before: JobView) -> bool:
        if not self.suspended or not isinstance(before, DescribedJob):
            return False
        kind = self.source.kind
        if kind.spec.suspend.through_pods is not None:
            return False  # it may run all the same, and its status says which of its pods may go
        version = self.metadata.resource_version
        known = replace(before.metadata, resource_version=version)
        return (
            self.metadata == known
            and self.pod_sets == before.pod_sets
            and kind.request(self.source.struct) == kind.request(before.source.struct)
            and _state(self) == _state(before)
            and not (self.source.has_to_reset or before.source.has_to_reset or self.was_started)
        )

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
        return starting.suspend(self.source, mark=mark and self.tells_of_all_pods)

    @override
    def reset(self) -> Patch | None:
        return starting.reset(self.source)

    @property
    @override
    def was_started(self) -> bool:
        for one in self.pod_sets:
            named = _STARTED in bytes(one.encoded_template)
            if named and labels.POD_WORKLOAD in one.template.metadata.annotations:
                return True
        return self.source.annotates_pods(labels.POD_WORKLOAD)

    @property
    @override
    def marks_its_start(self) -> bool:
        return not self.tells_of_all_pods

    @override
    def differs(self, workload: Workload) -> bool:
        if self.marks_its_start:
            return self.source.annotates_pods(labels.POD_WORKLOAD, workload.metadata.name)
        return self.undo(workload, b"") is not None

    @override
    def standing_on(self, workload: Workload) -> JobView:
        return described(self.source.standing_on(workload)) if self.lacking else self

    @override
    def undo(self, workload: Workload, stored: bytes) -> Patch | None:
        if not self.pod_sets:
            return starting.suspend(self.source)
        names = {one.name for one in workload.spec.pod_sets}
        if self.needs_stored:
            kept = [one for one in _kept.decode(stored).spec.pod_sets if one.name in names]
        else:
            kept = msgspec.convert(msgspec.to_builtins(workload.spec.pod_sets), list[_Kept])
        originals = [Original(template=one.template, count=one.count) for one in kept]
        return starting.undo(self.source, originals)


Find = Callable[[Related], Mapping[str, Any] | None]
"""Returns the object that an object cannot be read without; None while there is none."""


Known = Callable[[View], "DescribedJob | None"]
"""Returns an object that was read already, in this version; None if it was not."""


def read_job(
    kind: Kind, data: bytes | msgspec.Raw, find: Find, known: Known = lambda _: None
) -> DescribedJob:
    """Read an object, which is kept. Raises msgspec.ValidationError for what has no metadata."""
    try:
        found = read(kind, data)
    except UnreadableError as error:
        meta = _identified.decode(data).metadata
        return _unreadable(View(kind, kind.shape(metadata=meta)), error)
    seen = known(found)
    if seen is not None:
        return seen
    return described(found if kind.hooks.related is None else found.beside(find))


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
    ("ignored", False),
    ("uncharged", ""),
    ("running_pods", None),
    ("ready_pods", None),
)
"""What a view is asked, each with what is supposed where it cannot tell."""


_REMEMBERED, _REMEMBERED_BYTES = 1024, 4096
"""For how many different objects of a kind is remembered what they say, and up to which size."""
_NO_TEMPLATE = msgspec.Raw(b"{}")


def described(found: View) -> DescribedJob:
    """Return what a description says of an object, all of it asked now."""
    said, told = _said(found)
    free: Mapping[str, int] = said["reclaimable"]
    found.known_pod_sets = said["pod_sets"]
    pod_sets = tuple(
        [
            JobPodSet(
                name=one.name,
                count=one.count,
                least=one.min_count,
                encoded_template=one.template,
                reclaimable=min(free.get(one.name, 0), one.count),
                first_index=one.first_index,
            )
            for one in said["pod_sets"]
        ]
    )
    meta, counted = found.metadata, found.kind.hooks.counts is not None
    running = said["running_pods"]
    if running is None:
        needed = [one.count - one.reclaimable for one in pod_sets] if said["active"] else ()
        running = sum(needed)
    return DescribedJob(
        kind=found.kind.names,
        metadata=meta,
        key=found.kind.names.key(meta.key),
        suspended=said["suspended"],
        stopping=counted and meta.annotations.get(labels.STOPPING) == "true",
        pod_sets=pod_sets,
        running_pods=running,
        active=said["active"],
        ready=said["ready"],
        end=said["ended"],
        source=found,
        problem="; ".join(dict.fromkeys(_problem(found.kind, one) for one in told)) if told else "",
        ignored=said["ignored"],
        on_hold=said["on_hold"],
        uncharged=said["uncharged"],
        ready_pods=said["ready_pods"],
        lacking=any(isinstance(one, MissingError) for one in told) if told else False,
    )


def _said(found: View) -> tuple[Mapping[str, Any], Sequence[UnreadableError]]:
    """Return the answers of an object, and why some of them are only supposed.

    Objects of which the same is read say the same, as thousands of jobs do: one of them is asked.
    """
    kind = found.kind
    if not kind.is_told_by_fields:
        return _asked(found)
    fingerprint = found.seen
    known = kind.answers.get(fingerprint)
    if known is not None:
        try:
            return {**known, "pod_sets": with_templates_of(found.struct, known["pod_sets"])}, ()
        except UnreadableError:
            return _asked(found)
    said, told = _asked(found)
    if not told and len(fingerprint) <= _REMEMBERED_BYTES:
        if len(kind.answers) >= _REMEMBERED:
            kind.answers.clear()
        bare = [replace(one, template=_NO_TEMPLATE) for one in said["pod_sets"]]
        kind.answers[fingerprint] = {**said, "pod_sets": bare}
    return said, told


def _asked(found: View) -> tuple[Mapping[str, Any], Sequence[UnreadableError]]:
    asked = found.anew(found.known_pod_sets)  # so that nothing is kept of how it was found out
    said: dict[str, Any] = {}
    told: list[UnreadableError] = []
    for question, supposed in _QUESTIONS:
        try:
            said[question] = getattr(asked, question)
        except UnreadableError as error:
            said[question] = supposed
            told.append(error)
    return said, told


def _unreadable(bare: View, error: UnreadableError) -> DescribedJob:
    """Return an object of which only the metadata is known."""
    return DescribedJob(
        kind=bare.kind.names,
        metadata=bare.metadata,
        key=bare.kind.names.key(bare.metadata.key),
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


def _problem(kind: Kind, error: UnreadableError) -> str:
    where = f"{spelled(error.at)}: " if error.at else ""
    return f"{where}{error.problem} ({spelled(error.field)} of the description of {kind.name})"
