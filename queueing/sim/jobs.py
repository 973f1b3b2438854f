"""Jobs of a file → the Workloads that they would get."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from queueing.core.names import Key
from queueing.translate import labels
from queueing.translate.jobs import batch
from queueing.translate.jobs.composition import Origin, compose
from queueing.translate.jobs.priority import MissingClass, PriorityClasses, priority_of
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

    def workload_of(self, job: Job) -> Workload | None:
        """Return the Job's Workload; None when it would get none, or has one already."""
        job = self._defaulted(job)
        named = job.metadata.labels
        if labels.QUEUE_NAME not in named:
            self._warn(job, f"has no label {labels.QUEUE_NAME}, so it is not queued")
            return None
        origin = Origin(kind=batch.KIND, metadata=job.metadata, labels_to_copy=self.labels_to_copy)
        if Key(f"{job.metadata.namespace}/{origin.name}") in self.known or batch.finished(job):
            return None
        if job.status.active or (job.status.start_time and not job.spec.suspend):
            self._warn(job, "runs already; give its Workload to count what it holds")
            return None
        priority = priority_of(
            named.get(labels.PRIORITY_CLASS, ""),
            batch.template_of(job).spec.priority_class_name,
            self.classes,
        )
        if isinstance(priority, MissingClass):
            self._warn(job, f"names {priority.kind} {priority.name}, which is not given")
            return None
        made = _workload.decode(compose(origin, batch.pod_sets(job), priority))
        life = msgspec.structs.replace(
            made.metadata,
            uid=made.metadata.key,
            creation_timestamp=job.metadata.creation_timestamp,
        )
        return msgspec.structs.replace(made, metadata=life)

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
