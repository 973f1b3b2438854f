"""Sends the writes of a gang's Workload."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, assert_never

from queueing.controller.job_pods import placed_pods
from queueing.controller.jobs.actions import (
    Adopt,
    AwaitReplacements,
    Discard,
    Finish,
    Follow,
    Grow,
    LetGo,
    Match,
    Own,
    PutOnHold,
    Ready,
    Reclaim,
    Release,
    Resize,
    Supersede,
    TakeOffHold,
    WorkloadWrite,
)
from queueing.controller.jobs.alone import ALONE
from queueing.controller.jobs.dependencies import Dependencies
from queueing.controller.jobs.gangs import Gang
from queueing.controller.jobs.prebuilt import adopted, owned_too
from queueing.controller.jobs.slice_writer import SliceWriter
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.events import Events
from queueing.kube.deletion import this_life
from queueing.kube.errors import AlreadyExistsError, InvalidError
from queueing.kube.resources import WORKLOADS
from queueing.observe.spans import Placed
from queueing.translate import labels
from queueing.translate.jobs import gang_workload
from queueing.translate.jobs.composition import (
    MissingClass,
    Priority,
    PriorityClasses,
    gates_of,
    priority_of,
)
from queueing.translate.jobs.gang_workload import owner_of
from queueing.translate.jobs.view import JobView
from queueing.translate.outbound import workloads as outbound
from queueing.translate.outbound.conditions import patch
from queueing.translate.wire.workloads import Workload

Compose = Callable[[Priority], tuple[str, bytes]]
"""Returns the name of a Workload with a priority, and the Workload to create."""


class WorkloadWriter:
    """Sends one write per call, and reports it to Events, metrics and traces once it is done.

    Every method raises KubeError to be called again later.
    """

    def __init__(self, dependencies: Dependencies) -> None:
        term = dependencies.term
        self._objects, self._writes, self._rules = term.objects, term.writes, dependencies.rules
        self._features, self._clock = term.queues.features, term.clock
        self._reporter, self._events = term.reporter, term.events
        self._slices = SliceWriter(term, self._rules.labels_to_copy)

    async def create(self, gang: Gang, members: Sequence[JobView]) -> None:
        """Create a Workload, unless the class of its priority is missing."""
        compose = partial(gang.form.compose, members, labels_to_copy=self._rules.labels_to_copy)
        lone = gang.form is ALONE and _has_never_run(members[0])
        await self.create_composed(members, compose, lone=lone)

    async def create_composed(
        self, members: Sequence[JobView], compose: Compose, *, lone: bool = False
    ) -> None:
        """Create the Workload of some jobs as it is composed, unless the class is missing.

        A `lone` job as it is now is then at rest.
        """
        priority = _priority_of(self._objects, self._events, members[0])
        if priority is None:
            return
        name, body = compose(priority)
        namespace = members[0].metadata.namespace
        try:
            await self._writes.create_workload(namespace, body, lone=lone)
        except AlreadyExistsError:
            return  # made by us before and not seen yet; or another Job's digest is the same
        except InvalidError as error:
            for job in members:
                self._events.job(job, "ErrWorkloadCompose", str(error), warning=True)
            raise
        last = max(members, key=attrgetter("metadata.created"))
        self._reporter.created(last.kind.kind, last.metadata)
        for job in members:
            said = f"Created Workload: {namespace}/{name}"
            self._events.job(job, "CreatedWorkload", said)
            if job.uncharged:
                told = f"No quota is asked for pods of {job.uncharged}"
                self._events.job(job, "Uncharged", told, warning=True)

    async def discard(self, gang: Gang, action: Discard) -> None:
        """Delete a Workload."""
        meta = action.workload.metadata
        await self._writes.delete(WORKLOADS.at(meta.name, meta.namespace), this_life(meta.uid))
        why = f": {action.message}" if gang.form.is_rehearsed else ""
        for job in gang.form.owners(gang, action.workload):
            said = f"Deleted not matching Workload: {meta.key}{why}"
            self._events.job(job, "DeletedWorkload", said)

    async def match(self, action: Match) -> None:
        """Write the pod sets of jobs into their Workload."""
        workload, members = action.workload, action.members
        fields: dict[str, Any] = {}
        if action.follows:
            priority = _priority_of(self._objects, self._events, members[0])
            if priority is None:
                return
            fields["podSets"] = gang_workload.pod_sets(members)
            fields |= gang_workload.following(members, priority)
        else:
            fields["podSets"] = members[0].wire_pod_sets()
        body = outbound.change_spec(workload, fields)
        await self._writes.patch_workload(workload, body, subresource="")
        for job in () if action.follows else members:
            said = f"Updated not matching Workload for suspended job: {workload.metadata.key}"
            self._events.job(job, "UpdatedWorkload", said)

    async def follow(self, action: Follow) -> None:
        """Write queue, priority, time limit and gates of a job into its Workload."""
        workload, job = action.workload, action.job
        priority = _priority_of(self._objects, self._events, job)
        if priority is None:
            return
        fields = gang_workload.following((job,), priority)
        body = outbound.follow(workload, fields, gates_of(job.metadata))
        await self._writes.patch_workload(workload, body, subresource="")

    async def write(self, due: WorkloadWrite, jobs: Sequence[JobView]) -> None:
        """Send a write about these jobs.

        Quota is not released while a feature says that it is in use; the change of what uses it
        leads to the next call.
        """
        workload, now = due.workload, self._clock.now()
        match due:
            case Release() | PutOnHold() | Reclaim():
                await self._give_back(due, now)
            case TakeOffHold(message=message):
                await self._writes.patch_workload(workload, outbound.resume(workload, message, now))
            case LetGo():
                await self._writes.let_go(workload)
            case Ready(ready=ready):
                body = outbound.pods_ready(workload, ready=ready, now=now)
                await self._writes.patch_workload(workload, body)
                if ready and jobs:
                    self._reporter.pods_ready(workload, await self._placed(workload))
            case Finish(reason=reason, message=message):
                body = outbound.finish(workload, reason, message, now)
                await self._writes.patch_workload(workload, body)
                self._tell_end(workload, jobs, message)
            case AwaitReplacements(awaits=awaits):
                body = outbound.await_replacements(workload, awaits=awaits, now=now)
                await self._writes.patch_workload(workload, body)
            case Adopt():
                await self._own(workload, adopted(due))
            case Own(jobs=more):
                await self._own(workload, owned_too(workload, [*map(owner_of, more)]))
                said = f"Added {len(more)} owner reference(s)"
                self._events.workload(workload.metadata, "OwnerReferencesAdded", said)
            case Supersede() | Grow() | Resize():
                await self._slices.write(due, jobs)
            case _:
                assert_never(due)

    async def _give_back(self, due: Release | PutOnHold | Reclaim, now: float) -> None:
        workload, writes = due.workload, self._writes
        if isinstance(due, Reclaim):
            await writes.reclaim(workload, due.counts, now)
        elif any(holds(workload) for holds in self._features.holds):
            return
        elif isinstance(due, PutOnHold):
            await writes.hold(workload, due.message, now)
        else:
            await writes.release(workload, now)

    async def _placed(self, workload: Workload) -> Placed:
        """Return how the pods got their nodes; nothing where no trace wants to know it."""
        if not self._reporter.traces_it(workload):
            return Placed()
        return await placed_pods(self._writes.client, workload)

    async def _own(self, workload: Workload, metadata: Mapping[str, Any]) -> None:
        body = patch(workload.metadata, {"metadata": metadata})
        await self._writes.patch_workload(workload, body, subresource="")

    def _tell_end(self, workload: Workload, jobs: Sequence[JobView], message: str) -> None:
        if jobs:
            self._reporter.finished(workload)
        said = f"Workload '{workload.metadata.key}' is declared finished"
        if len(jobs) > 1:
            said = f"{said}: {message}"  # which of the members it was
        for job in jobs:
            self._events.job(job, "FinishedWorkload", said)


def _has_never_run(job: JobView) -> bool:
    """Say whether a job may only wait: no stop of it is to be completed, and it is not on hold."""
    return not (job.active or job.stopping or job.on_hold or job.was_started)


def _priority_of(objects: Objects, events: Events, job: JobView) -> Priority | None:
    """Return a Job's priority, by its WorkloadPriorityClass or its pods' PriorityClass.

    None when that class does not exist. Then an Event says so, and the Job waits for the class.
    """
    found = priority_of(
        job.metadata.labels.get(labels.PRIORITY_CLASS, ""),
        job.priority_class,
        PriorityClasses(
            workload=objects.workload_priority_classes,
            pod=objects.priority_classes,
        ),
    )
    if isinstance(found, MissingClass):
        events.job(
            job,
            f"{found.kind}NotFound",
            f"{found.kind} {found.name!r} does not exist; the job waits for it",
            warning=True,
        )
        return None
    return found
