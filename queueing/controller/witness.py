"""What the process tells of itself while it works: metrics, readiness, read models.

It only listens: nothing that it does or fails to do reaches a decision.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from queueing.controller.chronicle import Chronicle
from queueing.controller.objects import Objects
from queueing.controller.tallies import Tallies, local_labels
from queueing.core.decisions import Admit, Cycle, Decision, Preempt
from queueing.core.names import QueueName
from queueing.observe.logs import decision as log_decision
from queueing.observe.metrics import Metrics
from queueing.observe.trace_ids import trace_id_of
from queueing.state.engine import Engine
from queueing.state.views import Changed
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
        metrics.leader.labels().set(1)
        self.standing.elected = True

    def synced(self, objects: Objects, engine: Engine) -> None:
        """Hear that the term's memory is complete."""
        self._objects, self._engine = objects, engine
        self.standing.leading = True

    def left(self) -> None:
        """Hear that the term is over."""
        self._engine = self._objects = None
        self.metrics.leader.labels().set(0)
        standing = self.standing
        standing.elected = standing.leading = standing.policies = False
        self._listed = {}

    def judged(self, cycle: Cycle, took_s: float) -> None:
        """Count a cycle that was decided, and how long that took."""
        if not cycle.judged:
            return
        if self.chronicle is not None:
            self.chronicle.judged(cycle)
        admitted = any(isinstance(one, Admit) for one in cycle.decisions)
        result = "success" if admitted else "inadmissible"
        self.metrics.admission_attempts_total.labels(result=result).inc()
        self.metrics.admission_attempt_duration_seconds.labels(result=result).observe(took_s)
        self.metrics.cycle_duration_seconds.labels().observe(took_s)
        for one in cycle.decisions:
            self.metrics.decisions_total.labels(decision=type(one).__name__).inc()

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
        queue, waited_s = str(decision.cluster_queue), self._waited_s(workload)
        self._tallies.count("quota_reserved_workloads_total", workload, queue)
        self._tallies.observe("quota_reserved_wait_time_seconds", workload, waited_s, queue)
        if not decision.checks:
            self._tallies.count("admitted_workloads_total", workload, queue)
            self._tallies.observe("admission_wait_time_seconds", workload, waited_s, queue)
        decide(logger, "Admit", decision, workload, waited_s=round(waited_s, 3))

    def confirmed(self, workload: Workload) -> None:
        """Count an admission that came after its reservation, when the checks were ready."""
        self._tallies.count("admitted_workloads_total", workload)
        waited_s = self._waited_s(workload)
        self._tallies.observe("admission_wait_time_seconds", workload, waited_s)
        reserved = moment(workload, "QuotaReserved")
        if reserved is not None:
            checked_s = self.now() - reserved
            self._tallies.observe("admission_checks_wait_time_seconds", workload, checked_s)

    def _waited_s(self, workload: Workload) -> float:
        return max(self.now() - queued_since(workload), 0.0)

    def started(self, workload: Workload, began: float) -> None:
        """Note that the job was unsuspended."""
        if self.chronicle is not None:
            self.chronicle.step(workload.metadata.key, "unsuspend", began, self.now())

    def pods_ready(self, workload: Workload, job: Meta) -> None:
        """Count and tell the end of a round: all pods are ready."""
        now, waited_s = self.now(), self._waited_s(workload)
        self._tallies.observe("ready_wait_time_seconds", workload, waited_s)
        admitted = moment(workload, "Admitted")
        if admitted is not None:
            name = "admitted_until_ready_wait_time_seconds"
            self._tallies.observe(name, workload, now - admitted)
        if self.chronicle is not None:
            self.chronicle.ready(workload, job, now)

    def evicted(self, workload: Workload, reason: str, cause: str) -> None:
        """Count an eviction; the round is over."""
        self._tallies.count(
            "evicted_workloads_total", workload, reason=reason, underlying_cause=cause
        )
        if self.chronicle is not None:
            self.chronicle.closed(workload, {}, self.now())

    def finished(self, workload: Workload, job: Meta) -> None:
        """Count the end of a workload."""
        now = self.now()
        self._tallies.count("finished_workloads_total", workload)
        admitted = moment(workload, "Admitted")
        if admitted is not None:
            self._tallies.observe("execution_time_seconds", workload, now - admitted)
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
                self._tallies.measure(name, view)
        for key in changed.local_queues:
            local = self._engine.local_queue(key)
            if local is None:
                self.metrics.forget(**local_labels(key))
            else:
                self._tallies.measure_local(key, local)
        self._listed.update(dict.fromkeys(changed.cluster_queues))

    def take_lists(self) -> tuple[Engine, Objects, list[QueueName]] | None:
        """Return the queues whose pending workloads changed since the last call of this."""
        if self._engine is None or self._objects is None:
            return None
        names, self._listed = list(self._listed), {}
        return self._engine, self._objects, names

    @property
    def _tallies(self) -> Tallies:
        return Tallies(self.metrics)


def queued_since(workload: Workload) -> float:
    """Return since when it has been queueing: when it was made, or when it last came back."""
    return moment(workload, "Requeued") or workload.metadata.created


def moment(workload: Workload, kind: str) -> float | None:
    """Return since when a condition is True; None when it is not."""
    for one in workload.status.conditions:
        if one.type == kind and one.status == "True":
            return one.changed
    return None


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
