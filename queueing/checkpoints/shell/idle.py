"""Deactivates Workloads whose pods have been idle for longer than their policy allows.

Pods say that they are idle by a label, and only pods with the label are watched. A deactivation
evicts the Workload like any other eviction: its pods are asked to save first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from queueing.checkpoints.rules.idleness import (
    JobIdleness,
    idle_since,
    idle_since_by_leaders,
    said_idle,
)
from queueing.checkpoints.rules.phases import HOLDS_THE_STOP
from queueing.checkpoints.rules.terms import Terms
from queueing.checkpoints.shell.effective_terms import effective
from queueing.checkpoints.shell.observing import IDLE, is_leaving, owners
from queueing.checkpoints.wire import names
from queueing.checkpoints.wire.objects import Pod
from queueing.checkpoints.wire.pods import has_spoken_last
from queueing.controller.stores.indexes import Index
from queueing.controller.term import Term
from queueing.core.names import Key
from queueing.core.selectors import selects
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent
from queueing.lifecycle.steps import Cause, Condemn
from queueing.translate.jobs.gang import part_for
from queueing.translate.jobs.view import JobView
from queueing.translate.labels import POD_JOB_UID, POD_SET, POD_WORKLOAD
from queueing.translate.outbound import workloads as outbound
from queueing.translate.times import timestamp
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload
from queueing_api.config.duration import duration_text


@dataclass(frozen=True, slots=True)
class _IdlePod:
    """A pod that says that it is idle, and since when (wall clock)."""

    meta: Meta
    since: float

    @property
    def job_uid(self) -> str:
        return self.meta.labels.get(POD_JOB_UID, "")

    @property
    def pod_set(self) -> str:
        """The pod set that it came of: `namespace/workload/pod set`."""
        meta = self.meta
        workload, name = meta.annotations.get(POD_WORKLOAD, ""), meta.labels.get(POD_SET, "")
        return f"{meta.namespace}/{workload}/{name}"


class IdleReconciler:
    """Stores idle pods, and reconciles one Workload at a time."""

    def __init__(self, term: Term) -> None:
        self._objects, self._writes, self._events = term.objects, term.writes, term.events
        self._clock, self._queue = term.clock, term.queues.idle
        self._pods: dict[Key, _IdlePod] = {}
        self._by_owner: Index[str] = Index()
        """By the uid of the job that they are labelled with, and by the pod set."""

    def on_pod(self, event: WatchEvent[Pod]) -> None:
        """Handle a watch event of a pod with the label; it counts as idle until it ends."""
        match event:
            case Added(object=found) | Modified(object=found):
                key = found.metadata.key
                self._drop(key)
                since = said_idle(found.metadata.labels.get(names.IDLE, ""))
                if since is not None and not found.metadata.deleting and not has_spoken_last(found):
                    self._put(key, _IdlePod(found.metadata, since))
            case Deleted(key=key):
                self._drop(Key(key))
            case Synced():
                pass

    def _put(self, key: Key, pod: _IdlePod) -> None:
        self._pods[key] = pod
        self._by_owner.add(pod.job_uid, key)
        self._by_owner.add(pod.pod_set, key)
        self._attend(pod)

    def _drop(self, key: Key) -> None:
        pod = self._pods.pop(key, None)
        if pod is not None:
            self._attend(pod)
            self._by_owner.drop(pod.job_uid, key)
            self._by_owner.drop(pod.pod_set, key)

    def _attend(self, pod: _IdlePod) -> None:
        """Ask for the Workload of a pod to be reconciled."""
        self._queue.add(Key(pod.pod_set.rpartition("/")[0]))
        self.job_changed(pod.job_uid)

    def job_changed(self, uid: str) -> None:
        """Ask for the Workloads of a job (a uid) to be reconciled, if any pod is idle."""
        if self._pods:
            for workload in self._objects.workloads_for(uid):
                self._queue.add(workload.metadata.key)

    def workload_changed(self, key: Key) -> None:
        """Ask for a Workload to be reconciled, if any pod of the cluster is idle."""
        if self._pods:
            self._queue.add(key)

    def policy_changed(self) -> None:
        """Ask for the Workloads of all idle pods to be reconciled: terms changed."""
        for pod in self._pods.values():
            self._attend(pod)

    async def look(self, key: Key) -> None:
        """Deactivate a Workload that is idle for too long, or activate it if it works again.

        Raises KubeError to be called again later.
        """
        workload = self._objects.workloads.get(key)
        if workload is None or not workload.status.is_true("Admitted"):
            return
        jobs = owners(self._objects, workload)
        terms = effective(self._objects, workload, jobs).terms
        if terms is None or terms.idle_after_s is None:
            return
        since = self._since(workload, jobs, terms)
        if is_leaving(workload):
            if since is None:
                await self._let_go_on(workload, jobs)
            return
        if since is None or workload.status.is_true("DeactivationTarget"):
            return
        left_s = since + terms.idle_after_s - self._clock.now()
        if left_s > 0:
            self._queue.add_after(key, left_s)
            return
        await self._condemn(workload, since, terms.idle_after_s)

    async def _condemn(self, workload: Workload, since: float, limit_s: float) -> None:
        """Set the condition `DeactivationTarget`; the lifecycle does the rest of a deactivation."""
        message = f"being idle since {timestamp(since)}, longer than {duration_text(limit_s)}"
        step = Condemn(cause=Cause.IDLE, message=message)
        body = outbound.condemn(workload, step, self._clock.now())
        await self._writes.patch_workload(workload, body)
        self._events.workload(workload.metadata, Cause.IDLE, message, warning=True)

    async def _let_go_on(self, workload: Workload, jobs: Sequence[JobView]) -> None:
        """Activate a Workload that was evicted as idle and works again, if its pods still run."""
        evicted = workload.status.true_condition("Evicted")
        if evicted is None or evicted.reason != IDLE or workload.spec.active:
            return
        seen = self._objects.checkpoints.newest(workload.metadata.key, workload.metadata.uid)
        if seen is None or not seen.record.is_open or seen.record.phase not in HOLDS_THE_STOP:
            return
        if any(job.running_pods > 0 for job in jobs):
            body = outbound.change_spec(workload, {"active": True})
            await self._writes.patch_workload(workload, body, "")
            message = "Its pods work again"
            self._events.workload(workload.metadata, "Activated", message)

    def _since(self, workload: Workload, jobs: Sequence[JobView], terms: Terms) -> float | None:
        """Return since when all pods that count are idle; None while one is not.

        With a leader selector in the terms, only the pods that it selects count.
        """
        admitted = workload.status.true_condition("Admitted")
        started = admitted.changed if admitted is not None else 0.0
        parts = [JobIdleness(one.running_pods, self._idle(one, workload, terms)) for one in jobs]
        if terms.leader is not None:
            return idle_since_by_leaders(parts, started)
        return idle_since(parts, started)

    def _idle(self, job: JobView, workload: Workload, terms: Terms) -> tuple[float, ...]:
        owners = [job.metadata.uid]
        if not job.kind.labels_pods:
            view = part_for(job, workload)
            owners = [f"{view.metadata.key}/{one.name}" for one in view.spec.pod_sets]
        found = [self._pods[key] for owner in owners for key in self._by_owner[owner]]
        leader = terms.leader
        return tuple(
            pod.since for pod in found if leader is None or selects(leader, pod.meta.labels)
        )
