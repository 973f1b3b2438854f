"""Jobs of a file → the Workloads that they would get."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import msgspec

from queueing.core.names import Key, name_of
from queueing.core.selectors import selects
from queueing.kinds.grouping import groups_of
from queueing.kinds.jobs import DescribedJob
from queueing.kinds.managed import JobRules, asks_to_be_queued
from queueing.kinds.owners import OwnersError, ancestor_of
from queueing.translate import labels
from queueing.translate.jobs import gang_workload
from queueing.translate.jobs.composition import (
    MissingClass,
    Origin,
    Priority,
    PriorityClasses,
    compose,
    follows,
    gates_of,
    prebuilt_name,
    priority_of,
)
from queueing.translate.jobs.gang import Incomplete, Whole, verdict
from queueing.translate.jobs.gang_keys import gang_of, is_of_pods, workload_key
from queueing.translate.jobs.group_workload import compose_group
from queueing.translate.jobs.pods.view import PodJob
from queueing.translate.jobs.pods.workload import compose as compose_pods
from queueing.translate.jobs.pods.workload import problem_of
from queueing.translate.jobs.slices import (
    Counts,
    asks_to_be_elastic,
    counts_of,
    grows,
    is_superseded,
    resized,
)
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.meta import Meta, OwnerReference
from queueing.translate.wire.workloads import Workload

_workload = msgspec.json.Decoder(Workload)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenJob:
    """A Job of the documents, with the defaults of its creation."""

    job: JobView
    live: bool
    """Whether it was read from a cluster; else it is to be created, or changed."""
    runs: bool
    """Whether it is written as one that runs."""

    @property
    def metadata(self) -> Meta:
        return self.job.metadata


@dataclass(slots=True, kw_only=True)
class JobReader:
    """Makes the Workloads that Jobs would get, and notes why a Job gets none."""

    classes: PriorityClasses
    rules: JobRules
    labels_of: Callable[[str], Mapping[str, str]]
    """Returns the labels of a namespace."""
    jobs: Sequence[GivenJob]
    known: Sequence[Workload]
    """Workloads among the documents; their Jobs get no others."""
    warnings: list[str] = field(default_factory=list)
    _not_queued: dict[tuple[str, str], list[Key]] = field(default_factory=dict)
    """Jobs that get no Workload, by kind and reason; told once for each reason."""
    _slices: list[Workload] = field(default_factory=list)
    """Slices by which elastic jobs grow."""

    def workloads(self) -> list[Workload]:
        """Return all Workloads: those given, and those that Jobs would get.

        A Job gets one, or all members of a gang get one together.
        """
        found: list[Workload | None] = []
        gangs: dict[Key, list[JobView]] = {}
        standing = {one.metadata.key: one for one in self.known}
        owned = Ownership(self.jobs, self.known)
        for given in self.jobs:
            own, key = owned.workload_of(given), gang_of(given.job)
            if own is not None and not given.job.queued_through_pods:
                standing[own.metadata.key] = self._followed(given, own, alone=key is None)
            elif self._may_be_queued(given, owned):
                if isinstance(given.job, DescribedJob) and given.job.queued_through_pods:
                    found += self._workloads_of_groups(given.job, standing)
                elif key is None:
                    found.append(self._workload_of(given.job, standing))
                else:
                    gangs.setdefault(key, []).append(given.job)
        found += [self._workload_of_gang(key, members) for key, members in gangs.items()]
        self._tell_who_is_not_queued()
        return [*standing.values(), *(one for one in found if one is not None), *self._slices]

    def _tell_who_is_not_queued(self) -> None:
        for (kind, why), (first, *others) in self._not_queued.items():
            more = f" (and {len(others)} more {kind}{'s' * (len(others) > 1)})" if others else ""
            self.warnings.append(f"{kind} {first} {why}{more}")

    def _followed(self, given: GivenJob, own: Workload, *, alone: bool) -> Workload:
        """Return a Job's Workload as the controller makes it follow a changed Job."""
        job = given.job
        if given.live or not alone or prebuilt_name(job.metadata) or own.finished:
            return own
        is_equivalent = job.fits(own)
        if own.status.admission is not None:
            if not is_equivalent and self._is_elastic(job):
                counts = counts_of(job.pod_sets)
                if job.fits(resized(own, counts)):
                    return self._scaled(job, own, counts)
            if not is_equivalent:
                self._warn(
                    job,
                    f"no longer matches its Workload {own.metadata.name}, which holds quota: the"
                    " controller would stop it and queue it anew; here it stays as it is",
                )
            return own
        if given.runs or (is_equivalent and follows(job.metadata, own)):
            return own
        priority = self._priority_of(job)
        if priority is None:
            return own
        made = _workload.decode(compose(self._origin(job), job.wire_pod_sets(), priority))
        spec = msgspec.structs.replace(made.spec, active=own.spec.active)
        gates = {labels.ADMISSION_GATED_BY: gates_of(job.metadata)}
        life = msgspec.structs.replace(
            own.metadata, annotations={**own.metadata.annotations, **gates}
        )
        return msgspec.structs.replace(own, metadata=life, spec=spec)

    def _scaled(self, job: JobView, own: Workload, counts: Counts) -> Workload:
        """Return the slice of an elastic job of another size; to grow, it gets one more slice."""
        if not grows(counts, own):
            return resized(own, counts)
        priority = self._priority_of(job)
        if priority is not None:
            origin = replace(self._origin(job), replaced=own.metadata)
            self._slices.append(_made(compose(origin, job.wire_pod_sets(), priority), job))
        return own

    def _is_elastic(self, job: JobView) -> bool:
        return job.kind.group_kind in self.rules.elastic and asks_to_be_elastic(job.metadata)

    def _workload_of(self, job: JobView, known: Mapping[Key, Workload]) -> Workload | None:
        """Return the Workload that a Job gets; None when it would get none, or has one already."""
        named, origin = prebuilt_name(job.metadata), self._origin(job)
        if Key(f"{job.metadata.namespace}/{named or origin.name}") in known:
            return None
        if named:
            self._warn(job, f"names the prebuilt Workload {named}, which is not given")
            return None
        priority = self._priority_of(job)
        if priority is None:
            return None
        return _made(compose(origin, job.wire_pod_sets(), priority), job)

    def _workloads_of_groups(
        self, job: DescribedJob, known: Mapping[Key, Workload]
    ) -> Iterator[Workload]:
        """Yield the Workloads that the pods of an object get, unless they have them already."""
        priority = self._priority_of(job)
        if priority is None:
            return
        pod_sets = job.wire_pod_sets()
        for one in groups_of(job, self.rules.labels_to_copy):
            if Key(f"{job.metadata.namespace}/{one.name}") not in known:
                yield _made(compose_group(one, pod_sets, priority), job)

    def _origin(self, job: JobView) -> Origin:
        return Origin(
            kind=job.kind,
            metadata=job.metadata,
            labels_to_copy=self.rules.labels_to_copy,
            generation=str(job.metadata.generation) if self._is_elastic(job) else "",
        )

    def _workload_of_gang(self, key: Key, members: Sequence[JobView]) -> Workload | None:
        """Return the Workload of a gang; None when it is not complete, or cannot be one."""
        if is_of_pods(key):
            return self._workload_of_pods(key, members)
        found = verdict(members)
        if not isinstance(found, Whole):
            state = "is incomplete" if isinstance(found, Incomplete) else "is refused"
            self.warnings.append(f"gang {key} {state}, so its Jobs wait: {found.message}")
            return None
        priority = self._priority_of(found.members[0])
        if priority is None:
            return None
        last = max(found.members, key=lambda one: one.metadata.created)
        made = gang_workload.compose(found.members, priority, self.rules.labels_to_copy)
        return _made(made, last)

    def _workload_of_pods(self, key: Key, members: Sequence[JobView]) -> Workload | None:
        """Return the Workload of a group of pods; None when they cannot have one as they are."""
        pods = [one for one in members if isinstance(one, PodJob)]
        problem = problem_of(pods)
        if problem:
            self.warnings.append(f"pod group {workload_key(key)} waits: {problem}")
            return None
        priority = self._priority_of(pods[0])
        if priority is None:
            return None
        name = name_of(workload_key(key))
        made = compose_pods(name, pods, priority, self.rules.labels_to_copy)
        return _made(made, max(pods, key=lambda one: one.metadata.created))

    def _may_be_queued(self, given: GivenJob, owned: "Ownership") -> bool:
        """Say whether a Job is to be queued, and note why if it is not."""
        job = given.job
        if job.end or job.metadata.deleting or job.ignored:
            return False
        why = self._apart(given, owned)
        if why:
            if not given.live:
                named = job.kind.kind, why
                self._not_queued.setdefault(named, []).append(job.metadata.key)
            return False
        if given.live:
            if not (job.suspended or job.queued_through_pods):
                told = "runs without a Workload: the controller would stop it, and queue it"
                self._warn(job, told)
        elif given.runs:
            self._warn(job, "runs already; give its Workload to count what it holds")
            return False
        if job.problem:
            self._warn(job, f"cannot be read, so it is not queued: {job.problem}")
            return False
        if job.uncharged:
            self._warn(job, f"asks for no quota for pods of {job.uncharged}")
        return True

    def _apart(self, given: GivenJob, owned: "Ownership") -> str:
        """Return why a Job gets no Workload of its own; empty when it gets one."""
        job = given.metadata
        try:
            find = partial(owned.meant, job.namespace)
            ancestor = ancestor_of(job, owned.kinds, find, self._is_managed)
        except OwnersError as error:
            return f"is left out: {error}"
        if ancestor is not None:
            return f"is a part of {_told(ancestor.job)} and gets no Workload of its own"
        if not asks_to_be_queued(job, self.rules):
            return f"has no label {labels.QUEUE_NAME}, so it is not queued"
        if not self._is_managed(given):
            return (
                f"is not queued: its namespace {job.namespace} is none of those that"
                " managedJobsNamespaceSelector selects"
            )
        above = job.controller
        if above is not None and not given.live and owned.owner(given) is None:
            self._warn(
                given.job,
                f"belongs to {above.kind} {above.name}, which is not given: if that is queued"
                " itself, this Job gets no Workload",
            )
        return ""

    def _is_managed(self, given: GivenJob) -> bool:
        job, rules = given.metadata, self.rules
        return asks_to_be_queued(job, rules) and selects(
            rules.namespaces, self.labels_of(job.namespace)
        )

    def _priority_of(self, job: JobView) -> Priority | None:
        """Return the Job's priority; None, with a note, when its class is not in the documents."""
        found = priority_of(
            job.metadata.labels.get(labels.PRIORITY_CLASS, ""),
            job.priority_class,
            self.classes,
        )
        if isinstance(found, MissingClass):
            self._warn(
                job, f"names {found.kind} {found.name}, which is not given, so it is not queued"
            )
            return None
        return found

    def _warn(self, job: JobView, why: str) -> None:
        self.warnings.append(f"{_told(job)} {why}")


def _told(job: JobView) -> str:
    return f"{job.kind.kind} {job.metadata.key}"


class Ownership:
    """The owners of Jobs and Workloads.

    Objects of files may lack uids, and references may have only a name: then the name decides.
    """

    def __init__(self, jobs: Sequence[GivenJob], workloads: Sequence[Workload]) -> None:
        self._jobs = {one.job.key: one for one in jobs}
        self.kinds = {one.job.kind.group_kind: one.job.kind for one in jobs}
        """Kinds of which jobs are given."""
        self._workloads: dict[Key, Workload] = {}
        for one in (two for two in workloads if not is_superseded(two)):
            for owner in one.metadata.owner_references:
                if key := self._key_of(one.metadata.namespace, owner):
                    self._workloads[key] = one

    def workload_of(self, given: GivenJob) -> Workload | None:
        """Return the Workload that names the Job as its owner."""
        return self._workloads.get(given.job.key)

    def owner(self, given: GivenJob) -> GivenJob | None:
        """Return the job that controls another one, if it is given."""
        above = given.metadata.controller
        return None if above is None else self.meant(given.metadata.namespace, above)

    def meant(self, namespace: str, above: OwnerReference) -> GivenJob | None:
        """Return the job that a reference means, if it is given."""
        key = self._key_of(namespace, above)
        found = None if key is None else self._jobs.get(key)
        return None if found is None or _is_another(found.metadata, above) else found

    def _key_of(self, namespace: str, owner: OwnerReference) -> Key | None:
        """Return the key of the job that a reference means; None if none of its kind is given."""
        kind = self.kinds.get(owner.group_kind)
        return None if kind is None else kind.key(f"{namespace}/{owner.name}")


def _is_another(job: Meta, meant: OwnerReference) -> bool:
    """Say whether a reference means a Job that had this one's name before."""
    return bool(meant.uid) and job.uid not in (meant.uid, job.key)


def _made(body: bytes, job: JobView) -> Workload:
    """Return the Workload as if it had been created together with a Job."""
    found = _workload.decode(body)
    life = msgspec.structs.replace(
        found.metadata,
        uid=found.metadata.key,
        creation_timestamp=job.metadata.creation_timestamp,
    )
    return msgspec.structs.replace(found, metadata=life)
