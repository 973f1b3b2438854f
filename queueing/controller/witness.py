"""What the process tells of itself while it works: metrics, readiness, read models.

It only listens: nothing that it does or fails to do reaches a decision.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from queueing.controller.chronicle import Chronicle
from queueing.controller.objects import Objects
from queueing.core.decisions import Admit, Cycle, Decision, Preempt
from queueing.core.names import QueueName
from queueing.observe.logs import decision as log_decision
from queueing.observe.metrics import Metrics
from queueing.observe.trace_ids import trace_id_of
from queueing.state.engine import Engine
from queueing.state.views import Changed, QueueView
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Standing:
    """Where the process stands, for probes."""

    elected: bool = False
    """It holds the lease."""
    leading: bool = False
    """It leads, and its memory is complete."""
    policies: bool = False
    """The API server suspends Jobs at creation as our rules say, or does not have to."""
    other_leads: Callable[[], bool] = lambda: False

    @property
    def ready(self) -> bool:
        """Whether the work is being done: by us, or by another while we stand by."""
        return self.other_leads() or (self.leading and self.policies)


@dataclass(slots=True)
class Witness:
    """Listens to a term of leadership."""

    metrics: Metrics
    now: Callable[[], float]
    standing: Standing = field(default_factory=Standing)
    chronicle: Chronicle | None = None
    """None when tracing is off."""
    _engine: Engine | None = None
    _objects: Objects | None = None
    _listed: dict[QueueName, None] = field(default_factory=dict)
    """Queues whose lists of pending workloads may have changed since they were last taken."""

    def elected(self, metrics: Metrics) -> None:
        """Hear that a term begins, with metrics of its own."""
        self.metrics = metrics
        self.standing.elected = True

    def synced(self, objects: Objects, engine: Engine) -> None:
        """Hear that the term's memory is complete."""
        self._objects, self._engine = objects, engine
        self.standing.leading = True

    def left(self) -> None:
        """Hear that the term is over."""
        self._engine = self._objects = None
        standing = self.standing
        standing.elected = standing.leading = standing.policies = False
        self._listed = {}

    def judged(self, cycle: Cycle) -> None:
        """Count a cycle that was decided."""
        if not cycle.judged:
            return
        if self.chronicle is not None:
            self.chronicle.judged(cycle)
        admitted = any(isinstance(one, Admit) for one in cycle.decisions)
        result = "success" if admitted else "inadmissible"
        self.metrics.admission_attempts_total.labels(result=result).inc()

    def decided(self, decision: Decision, workload: Workload, began: float) -> None:
        """Count and log a decision that was written, beginning at a moment."""
        if self.chronicle is not None:
            self.chronicle.step(workload.metadata.key, "status write", began, self.now())
        match decision:
            case Admit():
                self._admitted(decision, workload)
            case Preempt():
                self.metrics.preempted_workloads_total.labels(
                    preempting_cluster_queue=decision.preemptor_queue, reason=decision.reason
                ).inc()
                self.evicted(workload, "Preempted", "")
                decide(logger, "Preempt", decision, workload, preemptor=decision.preemptor)
            case _:
                pass

    def _admitted(self, decision: Admit, workload: Workload) -> None:
        labels = _labels(workload) | {"cluster_queue": str(decision.cluster_queue)}
        waited_s = max(self.now() - workload.metadata.created, 0.0)
        self.metrics.quota_reserved_workloads_total.labels(**labels).inc()
        self.metrics.quota_reserved_wait_time_seconds.labels(**labels).observe(waited_s)
        if not decision.checks:
            self.metrics.admitted_workloads_total.labels(**labels).inc()
            self.metrics.admission_wait_time_seconds.labels(**labels).observe(waited_s)
        decide(logger, "Admit", decision, workload, waited_s=round(waited_s, 3))

    def started(self, workload: Workload, began: float) -> None:
        """Note that the job was unsuspended."""
        if self.chronicle is not None:
            self.chronicle.step(workload.metadata.key, "unsuspend", began, self.now())

    def pods_ready(self, workload: Workload, job: Meta) -> None:
        """Count and tell the end of a round: all pods are ready."""
        now, labels = self.now(), _labels(workload)
        waited_s = max(now - workload.metadata.created, 0.0)
        self.metrics.ready_wait_time_seconds.labels(**labels).observe(waited_s)
        admitted = moment(workload, "Admitted")
        if admitted is not None:
            ready_s = max(now - admitted, 0.0)
            self.metrics.admitted_until_ready_wait_time_seconds.labels(**labels).observe(ready_s)
        if self.chronicle is not None:
            self.chronicle.ready(workload, job, now)

    def evicted(self, workload: Workload, reason: str, cause: str) -> None:
        """Count an eviction; the round is over."""
        labels = _labels(workload)
        self.metrics.evicted_workloads_total.labels(
            **labels, reason=reason, underlying_cause=cause
        ).inc()
        if self.chronicle is not None:
            self.chronicle.closed(workload, {}, self.now())

    def finished(self, workload: Workload, job: Meta) -> None:
        """Count the end of a workload."""
        now, labels = self.now(), _labels(workload)
        self.metrics.finished_workloads_total.labels(**labels).inc()
        admitted = moment(workload, "Admitted")
        if admitted is not None:
            ran_s = max(now - admitted, 0.0)
            self.metrics.execution_time_seconds.labels(**labels).observe(ran_s)
        if self.chronicle is not None:
            self.chronicle.closed(workload, job.annotations, now)

    def changed(self, changed: Changed) -> None:
        """Follow views that changed with gauges and read models."""
        if self._engine is None:
            return
        for name in changed.cluster_queues:
            view = self._engine.cluster_queue(name)
            if view is None:
                self.metrics.forget(cluster_queue=name)
            else:
                self._measure(name, view)
        self._listed.update(dict.fromkeys(changed.cluster_queues))

    def take_lists(self) -> tuple[Engine, Objects, list[QueueName]] | None:
        """Return the queues whose pending workloads changed since the last call of this."""
        if self._engine is None or self._objects is None:
            return None
        names, self._listed = list(self._listed), {}
        return self._engine, self._objects, names

    def _measure(self, name: str, view: QueueView) -> None:
        pending = self.metrics.pending_workloads
        pending.labels(cluster_queue=name, status="active").set(view.pending_active)
        pending.labels(cluster_queue=name, status="inadmissible").set(view.pending_inadmissible)
        self.metrics.reserving_active_workloads.labels(cluster_queue=name).set(view.reserving)
        self.metrics.admitted_active_workloads.labels(cluster_queue=name).set(view.admitted)
        stands = "active" if view.active.status else "pending"
        if view.active.reason == "Terminating":
            stands = "terminating"
        for status in ("pending", "active", "terminating"):
            self.metrics.cluster_queue_status.labels(cluster_queue=name, status=status).set(
                float(status == stands)
            )


def moment(workload: Workload, kind: str) -> float | None:
    """Return since when a condition is True; None when it is not."""
    for one in workload.status.conditions:
        if one.type == kind and one.status == "True":
            return one.changed
    return None


def _labels(workload: Workload) -> dict[str, str]:
    reference, admission = workload.spec.priority_class_ref, workload.status.admission
    return {
        "cluster_queue": admission.cluster_queue if admission is not None else "",
        "priority_class": reference.name if reference is not None else "",
    }


def decide(
    logger: logging.Logger, text: str, decision: Admit | Preempt, workload: Workload, **more: object
) -> None:
    """Log a decision in one line, with the trace of its workload."""
    log_decision(
        logger,
        text,
        workload=decision.workload,
        cluster_queue=decision.cluster_queue,
        trace_id=trace_id_of(workload.metadata.uid),
        **more,
    )
