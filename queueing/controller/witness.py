"""What the process tells of itself while it works: metrics, readiness, read models.

It only listens: nothing that it does or fails to do reaches a decision.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from queueing.controller.objects import Objects
from queueing.core.decisions import Admit, Cycle, Decision, Preempt
from queueing.observe.metrics import Metrics
from queueing.state.engine import Engine
from queueing.state.views import Changed, QueueView
from queueing.translate.wire.workloads import Workload

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Standing:
    """Where the process stands, for probes."""

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
    on_changed: Callable[[Engine, Changed], None] | None = None
    _objects: Objects | None = None
    _engine: Engine | None = None

    def synced(self, objects: Objects, engine: Engine) -> None:
        """Hear that the term's memory is complete."""
        self._objects, self._engine = objects, engine
        self.standing.leading = True

    def left(self) -> None:
        """Hear that the term is over."""
        self._objects = self._engine = None
        self.standing.leading = False

    def judged(self, cycle: Cycle) -> None:
        """Count a cycle that was decided."""
        if not cycle.judged:
            return
        admitted = any(isinstance(one, Admit) for one in cycle.decisions)
        result = "success" if admitted else "inadmissible"
        self.metrics.admission_attempts_total.labels(result=result).inc()

    def decided(self, decision: Decision, workload: Workload) -> None:
        """Count and log a decision that was written."""
        match decision:
            case Admit():
                self._admitted(decision, workload)
            case Preempt():
                self.metrics.preempted_workloads_total.labels(
                    preempting_cluster_queue=decision.preemptor_queue, reason=decision.reason
                ).inc()
                logger.info("preempted %s for %s", decision.workload, decision.preemptor)
            case _:
                pass

    def _admitted(self, decision: Admit, workload: Workload) -> None:
        reference = workload.spec.priority_class_ref
        labels = {
            "cluster_queue": decision.cluster_queue,
            "priority_class": reference.name if reference is not None else "",
        }
        waited_s = max(self.now() - workload.metadata.created, 0.0)
        self.metrics.quota_reserved_workloads_total.labels(**labels).inc()
        self.metrics.quota_reserved_wait_time_seconds.labels(**labels).observe(waited_s)
        if not decision.checks:
            self.metrics.admitted_workloads_total.labels(**labels).inc()
            self.metrics.admission_wait_time_seconds.labels(**labels).observe(waited_s)
        logger.info("admitted %s in %s", decision.workload, decision.cluster_queue)

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
        if self.on_changed is not None:
            self.on_changed(self._engine, changed)

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
