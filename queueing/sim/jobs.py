"""Jobs of a file → the Workloads that they would get."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from queueing.core.names import Key
from queueing.translate import labels
from queueing.translate.jobs import batch, gang_workload
from queueing.translate.jobs.composition import Origin, compose, prebuilt_name
from queueing.translate.jobs.gang import Incomplete, Whole, gang_key, verdict
from queueing.translate.jobs.priority import (
    MissingClass,
    Priority,
    PriorityClasses,
    priority_of,
)
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload

DEFAULT = "default"
"""Name of the LocalQueue, or WorkloadPriorityClass, that stands in where a Job names none."""

_workload = msgspec.json.Decoder(Workload)


@dataclass(slots=True, kw_only=True)
class JobReader:
    """Makes Workloads of Jobs, and notes why it makes none."""

    classes: PriorityClasses
    doors: frozenset[Key]
    known: frozenset[Key]
    """Workloads that are given themselves; a Job of one of them adds nothing."""
    labels_to_copy: Sequence[str] = ()
    warnings: list[str] = field(default_factory=list)

    def workloads_of(self, jobs: Iterable[Job]) -> list[Workload]:
        """Return the Workloads that Jobs would get: one each, or one for all members of a gang."""
        found: list[Workload | None] = []
        gangs: dict[Key, list[Job]] = {}
        for job in jobs:
            key = gang_key(job.metadata)
            if key is None:
                found.append(self._workload_of(job))
            elif self._may_be_queued(given := self._defaulted(job)):
                gangs.setdefault(key, []).append(given)
        found += [self._workload_of_gang(key, members) for key, members in gangs.items()]
        return [one for one in found if one is not None]

    def _workload_of(self, job: Job) -> Workload | None:
        """Return the Job's Workload; None when it would get none, or has one already."""
        job = self._defaulted(job)
        origin = Origin(kind=batch.KIND, metadata=job.metadata, labels_to_copy=self.labels_to_copy)
        named = prebuilt_name(job.metadata)
        if Key(f"{job.metadata.namespace}/{named or origin.name}") in self.known:
            return None
        if not self._may_be_queued(job):
            return None
        if named:
            self._warn(job, f"names the prebuilt Workload {named}, which is not given")
            return None
        priority = self._priority_of(job)
        if priority is None:
            return None
        return _made(compose(origin, batch.pod_sets(job), priority), job)

    def _workload_of_gang(self, key: Key, members: Sequence[Job]) -> Workload | None:
        """Return the Workload of a gang; None when it is not complete, or cannot be one."""
        found = verdict(members)
        if not isinstance(found, Whole):
            state = "is incomplete" if isinstance(found, Incomplete) else "is refused"
            self.warnings.append(f"gang {key} {state}, so its Jobs wait: {found.message}")
            return None
        priority = self._priority_of(found.members[0])
        if priority is None:
            return None
        last = max(found.members, key=lambda one: one.metadata.created)
        made = gang_workload.compose(found.members, priority, self.labels_to_copy)
        return _made(made, last)

    def _may_be_queued(self, job: Job) -> bool:
        """Say whether a Job asks for a place in a queue, and note why if it does not."""
        if labels.QUEUE_NAME not in job.metadata.labels:
            self._warn(job, f"has no label {labels.QUEUE_NAME}, so it is not queued")
            return False
        if batch.finished(job) or job.metadata.deleting:
            return False
        if job.status.active or (job.status.start_time and not job.spec.suspend):
            self._warn(job, "runs already; give its Workload to count what it holds")
            return False
        return True

    def _priority_of(self, job: Job) -> Priority | None:
        """Return the Job's priority; None, with a note, when its class is not given."""
        found = priority_of(
            job.metadata.labels.get(labels.PRIORITY_CLASS, ""),
            batch.template_of(job).spec.priority_class_name,
            self.classes,
        )
        if isinstance(found, MissingClass):
            self._warn(
                job, f"names {found.kind} {found.name}, which is not given, so it is not queued"
            )
            return None
        return found

    def _warn(self, job: Job, why: str) -> None:
        self.warnings.append(f"Job {job.metadata.key} {why}")

    def _defaulted(self, job: Job) -> Job:
        """Give a Job the default queue and priority class, as at its creation."""
        found: Mapping[str, str] = job.metadata.labels
        more = {}
        if Key(f"{job.metadata.namespace}/{DEFAULT}") in self.doors:
            more[labels.QUEUE_NAME] = DEFAULT
        if DEFAULT in self.classes.workload:
            more[labels.PRIORITY_CLASS] = DEFAULT
        metadata = msgspec.structs.replace(job.metadata, labels={**more, **found})
        return msgspec.structs.replace(job, metadata=metadata)


def _made(body: bytes, job: Job) -> Workload:
    """Return the Workload as if it had been created together with a Job."""
    found = _workload.decode(body)
    life = msgspec.structs.replace(
        found.metadata,
        uid=found.metadata.key,
        creation_timestamp=job.metadata.creation_timestamp,
    )
    return msgspec.structs.replace(found, metadata=life)
