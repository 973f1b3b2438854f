"""Reconciles Workloads: takes the step that the lifecycle says is due.

Called by the `workers` of `session`, with the key of a Workload that `intake`, a timer or an
earlier look put in its work queue.

Steps are evictions (stop policies, failed checks, timeouts), admissions after all checks are ready,
deactivation, requeueing and retention; `lifecycle.rules.judge` decides which is due.
"""

import logging
from collections import ChainMap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from queueing.controller.term import Term
from queueing.controller.workloads.departing_pods import (
    AGAIN_S,
    DepartingPods,
    JobPods,
    Pods,
    of_workload,
)
from queueing.controller.writing.leader_writes import job_target
from queueing.core.admissibility import applying_checks
from queueing.core.decisions import Reason
from queueing.core.facts import Admission, PodSet, StopPolicy, WorkloadFact
from queueing.core.names import Key, Uid
from queueing.kinds.registry import KNOWN
from queueing.kube.deletion import this_life
from queueing.kube.resources import WORKLOADS
from queueing.lifecycle.rules import LifeRules, StopPolicies, judge
from queueing.lifecycle.steps import (
    Cause,
    Condemn,
    ConfirmAdmission,
    Deactivate,
    Evict,
    Remove,
    Requeue,
    Return,
    SetAside,
    Step,
)
from queueing.translate import labels
from queueing.translate.contradictions import Offered, contradictions, indivisible, offered_by
from queueing.translate.inbound.queues import cluster_queue
from queueing.translate.jobs.composition import job_of
from queueing.translate.jobs.gang_keys import gang_of_workload
from queueing.translate.jobs.pods import view as pod
from queueing.translate.outbound import admissions
from queueing.translate.outbound import workloads as outbound
from queueing.translate.wire.meta import OwnerReference
from queueing.translate.wire.queues import ClusterQueueSpec
from queueing.translate.wire.workloads import PriorityClassRef, Workload

logger = logging.getLogger(__name__)


RETURN_GRACE_S = 2.0
"""Seconds after a stopped queue was opened in which the condition `Requeued` is not written: a
reservation may follow soon, whose write includes it."""
_POLICIES = {str(one): one for one in StopPolicy}
_NONE = StopPolicy.NONE
_RESTARTS = (Return.CLUSTER_QUEUE_RESTARTED, Return.LOCAL_QUEUE_RESTARTED)
_TOLD_AS = {Cause.ADMISSION_CHECK: "AdmissionCheckRejected"}
"""Reasons of Events that differ from the cause of the deactivation."""


@dataclass(slots=True)
class _Offer:
    """What a ClusterQueue offers, and the spec that says so."""

    spec: ClusterQueueSpec
    offered: Offered
    sound: tuple[Admission, tuple[PodSet, ...]] | None = None
    """An admission without contradictions, and the pod sets that it is for: most are the same."""


class WorkloadReconciler:
    """Reconciles one Workload at a time, one write per look; called by workers of a work queue."""

    def __init__(self, term: Term, rules: LifeRules, departing: DepartingPods) -> None:
        self._objects, self._writes, self._events = term.objects, term.writes, term.events
        self._rules, self._clock, self._queue = rules, term.clock, term.queues.workloads
        self._evicted, self._confirmed = term.reporter.evicted, term.reporter.confirmed
        self._departing = departing
        self._kinds = ChainMap(term.objects.kinds, dict(KNOWN))
        """Kinds whose objects are looked for; of those that are not turned on, too: Workloads may
        be left of them."""
        self._offered: dict[str, _Offer] = {}
        """What ClusterQueues offer, by name."""
        self._reopened: dict[Key, float] = {}
        """Workloads whose stopped queue was opened again, or for which devices came, and when that
        was seen."""

    async def look(self, key: Key) -> None:
        """Do the next write for a Workload, if one is due. Raises KubeError to be called again."""
        workload, fact = self._objects.workloads.get(key), self._objects.facts.get(key)
        if workload is None or fact is None:
            self._reopened.pop(key, None)
            return
        holds = fact.holds_quota
        if holds:
            self._reopened.pop(key, None)
        job_is_known = workload.metadata.labels.get(labels.JOB_UID) in self._objects.job_keys
        if (fact.deleting or not job_is_known) and await self._is_left(key, workload, fact):
            return
        now = self._clock.now()
        unconfirmed = holds and not (fact.admitted or fact.evicted)
        checks = self._wanted_checks(fact) if unconfirmed else None
        if checks is not None and set(checks) != {one.name for one in fact.checks}:
            body = admissions.follow_checks(workload, checks, now)
            await self._writes.patch_workload(workload, body)
            return
        found = judge(fact, self._stops(fact), self._rules, now)
        if found.step is not None:
            if not self._may_tell_itself(key, found.step, now):
                await self._do(workload, found.step)
            return
        if found.look_again_at is not None:
            self._queue.add_after(key, found.look_again_at - now)
        if fact.evicted and _drains_alone(workload, fact):
            await self._writes.release(workload, now)
        elif holds and not fact.evicted and await self._object(workload, fact, now):
            return
        elif workload.spec.priority_class_ref is not None:
            await self._follow_class(workload, workload.spec.priority_class_ref)

    async def _is_left(self, key: Key, workload: Workload, fact: WorkloadFact) -> bool:
        """Do the next write for a Workload whose job is gone, or that has none; True if done."""
        job = None if _is_record(workload) else self._job_of(workload)
        if (
            job is not None
            and job.uid not in self._objects.job_keys
            and await self._is_gone(job, workload.metadata.namespace)
        ):
            if fact.holds_quota and await self._has_pods(job, workload):
                self._queue.add_after(key, AGAIN_S)
            else:
                await self._bury(workload)
            return True
        if job is None and _is_abandoned(workload) and not self._objects.jobs_by_prebuilt[key]:
            await self._writes.let_go(workload)
            return True
        return False

    async def _object(self, workload: Workload, fact: WorkloadFact, now: float) -> bool:
        """Write what is wrong with a reservation, or that nothing is any more; True if written.

        It stays and is charged where it says. Not for a Workload that is being evicted: other
        conditions speak of it.
        """
        trouble = self._trouble_with(fact)
        body = admissions.object_to(workload, trouble, now)
        if body is None:
            return False
        await self._writes.patch_workload(workload, body)
        if trouble:
            self._events.workload(workload.metadata, "Misconfigured", trouble, warning=True)
        return True

    def _trouble_with(self, fact: WorkloadFact) -> str:
        """Return what is wrong with a reservation, by the queue as it is now; empty if nothing."""
        admission = fact.admission
        if admission is None:
            return ""
        name = admission.cluster_queue
        queue = self._objects.cluster_queues.get(name)
        if queue is None:
            return f"ClusterQueue {name} doesn't exist, so what the workload holds counts nowhere"
        known = self._offered.get(name)
        if known is None or known.spec != queue.spec:
            if len(self._offered) > len(self._objects.cluster_queues):
                self._offered.clear()  # some of them are gone
            known = self._offered[name] = _Offer(queue.spec, offered_by(cluster_queue(queue)))
        if known.sound is not None:
            sound, pod_sets = known.sound
            if admission is sound and fact.pod_sets is pod_sets:
                return ""
        found = [admission.unusable] if admission.unusable else []
        found += contradictions(fact, admission, known.offered)
        for one in admission.pod_sets:
            found += indivisible(one)
        if not (found or fact.slice_of):
            known.sound = admission, fact.pod_sets
        return "; ".join(found)

    def _may_tell_itself(self, key: Key, step: Step, now: float) -> bool:
        """Say whether a step need not be written yet, because a reservation will include it.

        When a stopped queue is opened, or devices come, the engine queues its Workloads again by
        itself. A write of `Requeued` at the same time would conflict with that of their
        reservation.
        """
        opened = isinstance(step, Requeue) and step.reason in _RESTARTS
        if not opened and step != SetAside():
            return False
        since = self._reopened.setdefault(key, now)
        if since + RETURN_GRACE_S <= now:
            del self._reopened[key]
            return False
        self._queue.add_after(key, since + RETURN_GRACE_S - now)
        return True

    async def _do(self, workload: Workload, step: Step) -> None:
        now = self._clock.now()
        match step:
            case ConfirmAdmission():
                await self._writes.patch_workload(workload, admissions.confirm(workload, now))
                self._note_admission(workload, now)
                self._confirmed(workload)
            case Evict():
                await self._writes.patch_workload(workload, outbound.evict(workload, step, now))
                self._events.evicted(workload.metadata, step)
                self._evicted(workload, step.reason, step.cause)
            case Condemn():
                await self._writes.patch_workload(workload, outbound.condemn(workload, step, now))
                reason = _TOLD_AS.get(step.cause, str(step.cause))
                self._events.workload(workload.metadata, reason, step.message, warning=True)
            case Deactivate():
                await self._writes.patch_workload(workload, outbound.deactivate(workload), "")
            case Requeue():
                await self._writes.patch_workload(workload, outbound.requeue(workload, step, now))
            case SetAside(message=message):
                await self._writes.patch_workload(workload, outbound.set_aside(workload, step, now))
                if message:
                    jobs = self._objects.owners_of(workload)
                    self._events.waits(workload.metadata, Reason.MISCONFIGURED, message, jobs)
            case Remove(with_owner=with_owner):
                await self._remove(workload, with_owner=with_owner)
            case _:
                assert_never(step)

    async def _remove(self, workload: Workload, *, with_owner: bool) -> None:
        """Delete a Workload; or, with `with_owner`, its Jobs, whose deletion takes it along.

        Without that, its Jobs would only get a new Workload.
        """
        meta = workload.metadata
        jobs = self._objects.owners_of(workload)
        for job in jobs if with_owner else ():
            if not job.metadata.deleting:
                # Without a propagation policy the server would orphan the Job's pods.
                options = this_life(job.metadata.uid, propagation="Background")
                await self._writes.delete(job_target(job.kind, job.metadata), options)
                self._events.job(job, "Deleted", "The retention of its Workload is over")
        if with_owner and jobs:
            return
        if labels.RESOURCE_IN_USE in meta.finalizers:
            await self._writes.let_go(workload)
        await self._writes.delete(WORKLOADS.at(meta.name, meta.namespace), this_life(meta.uid))
        self._events.workload(meta, "Deleted", "Its retention is over")

    def _note_admission(self, workload: Workload, now: float) -> None:
        admission = workload.status.admission
        reserved = workload.status.changed("QuotaReserved")
        waited_s = 0.0 if reserved is None else now - reserved
        queue = admission.cluster_queue if admission else ""
        told = admissions.admission_message(queue, waited_s)
        self._events.workload(workload.metadata, "Admitted", told)

    def _wanted_checks(self, fact: WorkloadFact) -> Sequence[str] | None:
        """Return the admission checks that a reservation needs; None when its queue is gone."""
        if fact.admission is None:
            return None
        queue = self._objects.cluster_queues.get(fact.admission.cluster_queue)
        if queue is None:
            return None
        return applying_checks(cluster_queue(queue), fact.admission.pod_sets)

    def _stops(self, fact: WorkloadFact) -> StopPolicies:
        """Return the stop policies of its LocalQueue and of its ClusterQueue.

        The ClusterQueue is that of its admission, else that of its LocalQueue.
        """
        local = self._objects.local_queues.get(fact.local_queue) if fact.local_queue else None
        name = local.spec.cluster_queue if local is not None else ""
        if fact.admission is not None:
            name = fact.admission.cluster_queue
        cluster = self._objects.cluster_queues.get(name)
        return StopPolicies(
            local=None if local is None else _POLICIES.get(local.spec.stop_policy, _NONE),
            cluster=None if cluster is None else _POLICIES.get(cluster.spec.stop_policy, _NONE),
        )

    async def _is_gone(self, job: OwnerReference, namespace: str) -> bool:
        """Ask the API server whether a Job is gone that the store does not have.

        The watch may lag behind, or not show it: a pod that has lost its mark.
        """
        return not await self._writes.find_job(self._kinds[job.group_kind], job, namespace)

    async def _has_pods(self, job: OwnerReference, workload: Workload) -> bool:
        """Say whether pods of a Job that is gone have not ended. Raises KubeError."""
        of = job.group_kind
        if of == pod.KIND.group_kind:
            return False  # it was the pod itself
        sought: list[Pods] = [JobPods(Uid(job.uid))]
        if not self._kinds[of].labels_pods:
            sought = of_workload(workload)
        namespace = workload.metadata.namespace
        return any([await self._departing.remain(namespace, one) for one in sought])

    def _job_of(self, workload: Workload) -> OwnerReference | None:
        """Return the job of a known kind that a Workload is of; None for a gang's."""
        found = job_of(workload)
        known = found is not None and found.group_kind in self._kinds
        return found if known else None

    async def _bury(self, workload: Workload) -> None:
        """Finish the Workload of a Job that is gone, then remove our finalizer. One write per look.

        Kubernetes' garbage collector deletes a Workload that still names its Job as owner. One that
        was orphaned (`kubectl delete --cascade=orphan`) stays as a record.
        """
        if not workload.finished and not workload.metadata.deleting:
            now = self._clock.now()
            body = outbound.finish(workload, "OwnerNotFound", outbound.OWNER_GONE, now)
            await self._writes.patch_workload(workload, body)
        else:
            await self._writes.let_go(workload)

    async def _follow_class(self, workload: Workload, reference: PriorityClassRef) -> None:
        """Give a Workload the present value of its class, if that is a WorkloadPriorityClass."""
        if reference.kind != "WorkloadPriorityClass":
            return
        found = self._objects.workload_priority_classes.get(reference.name)
        if found is not None and found.value != workload.spec.priority:
            body = outbound.change_spec(workload, {"priority": found.value})
            await self._writes.patch_workload(workload, body, "")


def _is_record(workload: Workload) -> bool:
    """Say whether a Workload has finished and nothing of it is left to do, wherever its Job is."""
    held = labels.RESOURCE_IN_USE in workload.metadata.finalizers
    return workload.finished and not held


def _is_abandoned(workload: Workload) -> bool:
    """Say whether a Workload is being deleted, has our finalizer and never had an owner."""
    meta = workload.metadata
    owned = meta.owner_references or gang_of_workload(meta) is not None
    return meta.deleting and not owned and labels.RESOURCE_IN_USE in meta.finalizers


def _drains_alone(workload: Workload, fact: WorkloadFact) -> bool:
    """Say whether an evicted Workload has no owner: nothing of it runs, so its quota is free.

    Not that of a gang: pods of members that were deleted may still run.
    """
    meta = workload.metadata
    if meta.owner_references or gang_of_workload(meta) is not None:
        return False
    return fact.reserved
