"""Starts gangs: unsuspends their jobs with what the admission adds to their pod templates.

The patches of a gang with a name are sent as dry runs first: a dry run finds what the API server
would refuse (by validation, webhooks or policies) while no member runs yet. One Job is patched at
once, because nobody else could be left without it.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from queueing.controller.jobs.actions import Start
from queueing.controller.jobs.dependencies import Dependencies
from queueing.controller.jobs.evictions import Evictions
from queueing.controller.jobs.gangs import Gang, living
from queueing.controller.jobs.parts import Part
from queueing.controller.jobs.start_errors import DevicesRefusedError
from queueing.controller.stores.objects import Objects
from queueing.controller.work_queues import Features
from queueing.controller.writing.leader_writes import LeaderWrites, all_of, outcomes
from queueing.kube.client import Call
from queueing.kube.errors import (
    BadRequestError,
    ForbiddenError,
    InvalidError,
    KubeError,
    NotPermittedError,
    NotSentError,
)
from queueing.lifecycle.steps import Cause
from queueing.translate import labels
from queueing.translate.jobs.gang import part_of
from queueing.translate.jobs.injection import ConflictError, Injection, injection_of
from queueing.translate.jobs.patches import Patch
from queueing.translate.jobs.view import JobPodSet, JobView
from queueing.translate.outbound import workloads as outbound
from queueing.translate.wire.queues import ResourceFlavor
from queueing.translate.wire.workloads import PodSetAssignment, Workload


class RefusedStartError(Exception):
    """The API server refuses to start a member as it is."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The patches that start a job: all but the last leave it suspended."""

    job: JobView
    changes: Sequence[Patch]


class Starting:
    """Starts gangs, or writes into their Workloads why they cannot start."""

    def __init__(self, dependencies: Dependencies, evict: Evictions) -> None:
        term = dependencies.term
        self._objects, self._writes, self._evict = term.objects, term.writes, evict
        self._events, self._reporter, self._clock = term.events, term.reporter, term.clock
        self._late_reservations = dependencies.late_reservations
        self._features = term.queues.features

    async def start(self, gang: Gang, action: Start) -> None:
        """Unsuspend the jobs, or end or evict the Workload. Raises KubeError to be called again.

        Evicted is one whose reservation an earlier leader wrote too late, or of several jobs with
        one that the API server refuses to start, or whose devices cannot be claimed; a single job's
        is deactivated for that. Finished as FailedToStart is one whose admission contradicts a pod
        template, if no part of it runs yet.
        """
        workload = action.workload
        withdrawal = None if action.begun else self._late_reservations.withdrawal(workload)
        if withdrawal is not None:
            await self._evict.withdraw(gang, workload, withdrawal)
            return
        try:
            prepared = await self._prepare(action.parts)
            began = self._clock.now()
            # The replies of what comes before the last patch lead to the next look.
            early = [one for one in prepared if len(one.changes) > 1]
            if gang.form.is_rehearsed:
                await send_together(self._writes, early or prepared)
            else:
                await all_of(send(self._writes, one) for one in prepared)
            if early:
                self._see_kept(early)
                return
        except ConflictError as error:
            await self._contradict(gang, action, str(error))
            return
        except DevicesRefusedError as error:
            if gang.form.several:
                await self._evict.refuse(gang, workload, str(error))
            else:
                await self._evict.condemn(workload, Cause(error.reason), error.message)
            return
        except RefusedStartError as error:
            await self._evict.refuse(gang, workload, str(error))
            return
        self._reporter.started(workload, began)
        self._tell(gang, action)

    async def _prepare(self, parts: Sequence[Part]) -> list[Prepared]:
        """Create the claims of parts, and return the patches of their jobs.

        Raises ConflictError (of injection) when the admission contradicts a pod template,
        DevicesRefusedError when devices cannot be claimed as requested, KubeError to be called
        again.
        """
        made = []
        for one in parts:
            if one.job is not None:
                added = await self._added(one.job, one.view)
                made.append(Prepared(one.job, one.job.start(added)))
        return made

    async def _added(self, job: JobView, workload: Workload) -> list[Injection]:
        """Create the claims of a job; return what is added to each of its pod sets."""
        found, several = [], len(job.pod_sets) > 1
        for mine, one in zip(job.pod_sets, workload.spec.pod_sets, strict=True):
            view = part_of(workload, one.name) if several else workload
            added = _additions(self._objects, self._features, job, mine, view)
            if labels.TRACE_PARENT not in mine.template.metadata.annotations:
                added = added.handing_down(self._reporter.handed_down(workload, job.metadata))
            for prepare in self._features.starts:
                added = added.with_changes(await prepare(job, view))
            found.append(added)
        return found

    def _see_kept(self, early: Sequence[Prepared]) -> None:
        """Raise ConflictError if the API server drops what a start writes before it unsuspends.

        It drops fields that the definition of a kind does not have; the pods would run anywhere.
        """
        for job in (one.job for one in early):
            stored = self._objects.jobs.get(job.key)
            if stored is None or stored.metadata.uid != job.metadata.uid:
                continue
            if stored.metadata.resource_version == job.metadata.resource_version:
                raise ConflictError(
                    f"the API server keeps nothing of what a start writes into a {job.kind.kind}:"
                    " its definition is older than what is known of this kind"
                )

    async def _contradict(self, gang: Gang, action: Start, why: str) -> None:
        if action.begun and gang.form.is_rehearsed:
            await self._evict.refuse(gang, action.workload, why)
            return
        body = outbound.finish(action.workload, "FailedToStart", why, self._clock.now())
        await self._writes.patch_workload(action.workload, body)

    def _tell(self, gang: Gang, action: Start) -> None:
        admission = action.workload.status.admission
        queue = admission.cluster_queue if admission else ""
        told = ", with its gang" if gang.form.is_rehearsed else ""
        jobs = [job for _, job in living(action.parts)]
        for job in jobs:
            self._events.job(job, "Started", f"Admitted by clusterQueue {queue}{told}")
            if job.is_stopped_by_deletion:
                is_group = job.group is not None
                self._reporter.ungated(action.workload, labels.GATE, is_group=is_group)
        for tell in self._features.started:
            tell(action.workload, jobs)


def _additions(
    objects: Objects, features: Features, job: JobView, pod_set: JobPodSet, workload: Workload
) -> Injection:
    """Return what is added to the pods of a set of a job, by a Workload with that pod set alone.

    It is node labels, tolerations and the like of its flavors and admission checks, labels and
    annotations of ours, and the last checkpoint.
    Raises ConflictError when the template contradicts it, so that the job can never start, and
    NotSentError while the store lacks a ResourceFlavor of the admission.
    """
    admission = workload.status.admission
    if admission is None or not admission.pod_set_assignments:
        raise ConflictError("the admission names no pod set")
    assignment = admission.pod_set_assignments[0]
    added = injection_of(
        assignment,
        _flavors(objects, assignment),
        marks={
            labels.POD_CLUSTER_QUEUE: admission.cluster_queue,
            labels.POD_LOCAL_QUEUE: workload.spec.queue_name,
        },
        workload=workload.metadata.name,
    )
    own = pod_set.template.metadata.annotations
    if assignment.topology_assignment is not None:
        added = added.placed(own, pod_set.first_index)
    if labels.SLICE_NAME in workload.metadata.annotations:
        added = added.sliced(workload.metadata.annotations[labels.SLICE_NAME])
    checks = list(workload.status.admission_checks)
    for more in features.checks:
        checks += more(workload)
    for check in checks:
        for update in check.pod_set_updates:
            if update.name == assignment.name:
                added = added.merged(update)
    for annotate in features.annotations:
        told = annotate(job, own, workload)
        added = replace(added, annotations={**added.annotations, **told})
    return added


def _flavors(objects: Objects, assignment: PodSetAssignment) -> list[ResourceFlavor]:
    names = set(assignment.flavors.values())
    missing = names - objects.flavors.keys()
    if missing:
        raise NotSentError(f"waiting for missing ResourceFlavor(s): {', '.join(sorted(missing))}")
    return [objects.flavors[name] for name in sorted(names)]


async def send(writes: LeaderWrites, one: Prepared) -> None:
    """Start a job. Raises KubeError to be called again."""
    trace = one.job.metadata.annotations.get(labels.TRACE_PARENT, "")
    await writes.patch_job(one.job, one.changes[0], call=Call(traceparent=trace))


async def send_together(writes: LeaderWrites, prepared: Sequence[Prepared]) -> None:
    """Send all patches as dry runs and then, if none is refused, for real.

    Raises RefusedStartError when one is definitely refused, KubeError to be called again.
    """
    _judge(prepared, await outcomes(_rehearse(writes, one) for one in prepared))
    _judge(prepared, await outcomes(send(writes, one) for one in prepared))


async def _rehearse(writes: LeaderWrites, one: Prepared) -> None:
    # 400 may come from a webhook that does not support dry runs; the patch itself will tell.
    with contextlib.suppress(BadRequestError):
        await writes.rehearse_job(one.job, one.changes[0])


def _judge(prepared: Sequence[Prepared], errors: Sequence[KubeError | None]) -> None:
    """Raise the first definite refusal as RefusedStartError, else the first error, if any."""
    for one, error in zip(prepared, errors, strict=True):
        if error is not None and _is_definite(error):
            raise RefusedStartError(
                f"{one.job.kind.kind} {one.job.metadata.name}: {error.message}"
            ) from error
    for error in errors:
        if error is not None:
            raise error


def _is_definite(error: KubeError) -> bool:
    """Say whether another attempt with the same patch would be refused as well."""
    if isinstance(error, NotPermittedError):
        return False
    return isinstance(error, (InvalidError, ForbiddenError, BadRequestError))
