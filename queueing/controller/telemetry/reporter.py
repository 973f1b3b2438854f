"""Turns what happens in a term into metrics, logs, traces and readiness.

Its methods are called after the fact by the rest of the controller, and change no decision.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, product
from typing import assert_never

from queueing.controller.stores.objects import Objects
from queueing.controller.telemetry.gauges import ChosenQueues, Gauges
from queueing.controller.telemetry.queue_metrics import WorkloadMetrics
from queueing.controller.telemetry.traces import WorkloadTraces
from queueing.core.decisions import (
    Admit,
    Cycle,
    Mode,
    Place,
    Preempt,
    PreemptionReason,
    Strand,
    Wait,
    Written,
)
from queueing.core.selectors import Selector
from queueing.lifecycle.steps import PodsUnready
from queueing.observe.logs import decision as log_decision
from queueing.observe.metrics import Exposition, Metrics
from queueing.observe.spans import NOT_KNOWN, Placed, root_of
from queueing.observe.trace_ids import trace_id_of
from queueing.state.engine import Engine
from queueing.state.memory.memory import Changed
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload

logger = logging.getLogger(__name__)

_RESERVED = "quota_reserved_workloads_total", "quota_reserved_wait_time_seconds"
_ADMITTED = "admitted_workloads_total", "admission_wait_time_seconds"
"""Each a counter of workloads, and the histogram of how long these waited."""


@dataclass(slots=True)
class Readiness:
    """How far the process has come, and whether that makes it ready."""

    elected: bool = False
    """It holds the Lease, or needs none."""
    leading: bool = False
    """It leads, and has listed all objects."""
    policies: bool = False
    """The API server suspends Jobs at creation as our policies say, or needs none."""
    injects: bool = False
    """The API server was seen to add claims to pods at creation, or had the time to begin with it
    where that cannot be tried."""
    other_leads: Callable[[], bool] = lambda: False
    """Says whether another replica holds the Lease."""

    @property
    def ready(self) -> bool:
        """Whether this process leads with everything in place, or stands by for another leader."""
        return self.other_leads() or (self.leading and self.policies)


@dataclass(slots=True)
class Reporter:
    """One per process, also while it does not lead."""

    metrics: Metrics
    now: Callable[[], float]
    readiness: Readiness = field(default_factory=Readiness)
    traces: WorkloadTraces | None = None
    """None when tracing is off."""
    fair: bool = False
    """Whether fair sharing is on."""
    local_queues: Selector | None = None
    """The LocalQueues that have metrics; None: all."""
    _gauges: Gauges | None = None
    _engine: Engine | None = None
    _objects: Objects | None = None
    _skipped: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """How many heads the last cycle skipped after they had found victims, by ClusterQueue."""

    def elected(self, metrics: Metrics) -> None:
        """Note that a term begins; it gets metrics of its own."""
        self.metrics, self._gauges = metrics, None
        self.readiness.elected = True

    def synced(self, objects: Objects, engine: Engine) -> None:
        """Note that the term has listed all objects."""
        self._objects, self._engine = objects, engine
        self._gauges = self._made_gauges(objects, engine)
        self.readiness.leading = True

    def follows(self, objects: Objects, engine: Engine) -> None:
        """Note what this process, which does not lead, knows of all objects since the last call."""
        if self.readiness.elected:
            return
        if self._gauges is None:
            self._gauges = self._made_gauges(objects, engine)
        self._gauges.note(engine.changed())

    def _made_gauges(self, objects: Objects, engine: Engine) -> Gauges:
        chosen = None
        if self.local_queues is not None:
            chosen = ChosenQueues(self.local_queues, objects.local_queues)
        return Gauges(self.metrics, engine, objects, self.fair, chosen)

    def left(self) -> None:
        """Note that the term is over."""
        self._engine = self._objects = self._gauges = None
        readiness = self.readiness
        readiness.elected = readiness.leading = readiness.policies = readiness.injects = False

    def judged(self, cycle: Cycle, took_s: float) -> None:
        """Count a cycle and its decisions; `took_s` is how long deciding took."""
        if not cycle.judged:
            return
        if self.traces is not None:
            self.traces.judged(cycle, took_s)
        decisions = tuple(chain.from_iterable(cycle.rounds))
        kinds = Counter(map(type, decisions))
        result = "success" if Admit in kinds else "inadmissible"
        series = self.metrics.at_hand
        series["admission_attempts_total", result].inc()
        series["admission_attempt_duration_seconds", result].observe(took_s)
        series["cycle_duration_seconds",].observe(took_s)
        for kind, number in kinds.items():
            series["decisions_total", kind.__name__].inc(number)
        skipped: Counter[tuple[str, ...]] = Counter()
        for one in decisions:
            if not isinstance(one, Wait):
                continue
            if one.mode is Mode.SKIPPED and one.targets:
                skipped[str(one.cluster_queue),] += 1
            if one.recomputed:
                self.metrics.preemption_target_recomputations_total.labels(
                    cluster_queue=str(one.cluster_queue), result=_search_result(one)
                ).inc()
        if skipped or self._skipped:
            self.metrics.admission_cycle_preemption_skips.replace_all(skipped)
            self._skipped = skipped

    def decided(self, decision: Written, workload: Workload, began: float, decided: float) -> None:
        """Count and log a decision that took effect; `decided` is when, its write `began` later."""
        stored_after_s = round(self.now() - decided, 3)
        if self.traces is not None:
            self.traces.step(workload.metadata.key, "status write", began, self.now())
        match decision:
            case Admit():
                self._admitted(decision, workload, stored_after_s)
            case Preempt(reason=PreemptionReason.FLAVOR_MIGRATION):
                self.evicted(workload, decision.reason, "")
            case Preempt():
                self.metrics.preempted_workloads_total.labels(
                    preempting_cluster_queue=decision.preemptor_queue, reason=decision.reason
                ).inc()
                self.evicted(workload, "Preempted", "")
                decide(
                    logger,
                    "Preempt",
                    decision,
                    workload,
                    preemptor=decision.preemptor,
                    stored_after_s=stored_after_s,
                )
            case Place(left=left):
                if not workload.status.is_true("Admitted"):
                    self.confirmed(workload)
                decide(
                    logger, "Place", decision, workload, left=left, stored_after_s=stored_after_s
                )
            case Strand(message=message):
                self.evicted(workload, "NodeFailures", "")
                decide(
                    logger,
                    "Evict",
                    decision,
                    workload,
                    message=message,
                    stored_after_s=stored_after_s,
                )
            case _:
                assert_never(decision)

    def _admitted(self, decision: Admit, workload: Workload, stored_after_s: float) -> None:
        queue, waited_s = str(decision.cluster_queue), self._waited_s(workload)
        is_admitted = not decision.checks
        got = (_RESERVED, _ADMITTED) if is_admitted else (_RESERVED,)
        self._tell_wait(got, workload, queue, waited_s)
        if is_admitted:
            self._count_below_cohorts(workload, queue)
        decide(
            logger,
            "Admit",
            decision,
            workload,
            waited_s=round(waited_s, 3),
            stored_after_s=stored_after_s,
        )

    def confirmed(self, workload: Workload) -> None:
        """Count an admission that followed its reservation when the admission checks were ready."""
        admission = workload.status.admission
        queue = admission.cluster_queue if admission else ""
        self._tell_wait((_ADMITTED,), workload, queue, self._waited_s(workload))
        self._count_below_cohorts(workload, queue)
        reserved = workload.status.true_since("QuotaReserved")
        if reserved is not None:
            self._measures(workload).observe(
                "admission_checks_wait_time_seconds", self.now() - reserved
            )

    def _tell_wait(
        self, got: Iterable[tuple[str, str]], workload: Workload, queue: str, waited_s: float
    ) -> None:
        """Count what a workload waited for and got, and how long it waited, by these metrics."""
        reference = workload.spec.priority_class_ref
        named = reference.name if reference is not None else ""
        exemplar = None if self.traces is None else self._measures(workload, queue).exemplar
        series = self.metrics.at_hand
        queues = (
            ("", queue),
            ("local_queue_", workload.spec.queue_name, workload.metadata.namespace),
        )
        for (counter, histogram), (prefix, *object_) in product(got, queues):
            series[prefix + counter, *object_, named].inc()
            series[prefix + histogram, *object_, named].observe(waited_s, exemplar)

    def _count_below_cohorts(self, workload: Workload, queue: str) -> None:
        reference = workload.spec.priority_class_ref
        named = reference.name if reference is not None else ""
        for cohort in self._objects.cohorts_above(queue) if self._objects is not None else ():
            family = self.metrics.cohort_subtree_admitted_workloads_total
            family.labels(cohort=cohort, priority_class=named).inc()

    def _waited_s(self, workload: Workload) -> float:
        return max(self.now() - workload.queued_since, 0.0)

    def started(self, workload: Workload, began: float) -> None:
        """Note for the trace that the Job was unsuspended by a write that began at `began`."""
        if self.traces is not None:
            self.traces.step(workload.metadata.key, "unsuspend", began, self.now())

    def ungated(self, workload: Workload, gate: str, *, is_group: bool) -> None:
        """Note that a pod lost a gate by an admission."""
        admitted, admission = workload.status.true_since("Admitted"), workload.status.admission
        if admitted is not None and admission is not None:
            self.metrics.pod_scheduling_gate_removal_seconds.labels(
                name=gate,
                cluster_queue=admission.cluster_queue,
                is_group="true" if is_group else "false",
            ).observe(max(self.now() - admitted, 0.0))

    def handed_down(self, workload: Workload, job: Meta) -> str:
        """Return the traceparent for the pods of a job; empty where nobody traces it.

        It is the root of the Workload's trace if that is recorded here, else what the job has.
        """
        if not self.traces_it(workload):
            return job.traceparent
        meta = workload.metadata
        return root_of(meta.uid, meta.traceparent).traceparent

    def traces_it(self, workload: Workload) -> bool:
        """Say whether the trace of a Workload is recorded."""
        return self.traces is not None and self.traces.keeps(workload.metadata)

    def pods_ready(self, workload: Workload, placed: Placed = NOT_KNOWN) -> None:
        """Note that all pods are ready; that ends a round of the trace.

        `placed` is how they got their nodes and devices, as far as that was found out.
        How long it took is measured once per admission: not again when a lost pod was replaced.
        """
        now, before = self.now(), workload.status.condition("PodsReady")
        if before is None or before.reason != PodsUnready.WAIT_FOR_RECOVERY:
            self._measure_readiness(workload, now)
        if self.traces is not None:
            self.traces.ready(workload, placed, now)

    def _measures(self, workload: Workload, queue: str = "") -> WorkloadMetrics:
        meta, kept = workload.metadata, self.traces_it(workload)
        trace_id = trace_id_of(meta.uid, meta.traceparent) if kept else ""
        return WorkloadMetrics.of(self.metrics, workload, queue, trace_id)

    def _measure_readiness(self, workload: Workload, now: float) -> None:
        told = self._measures(workload)
        told.observe("ready_wait_time_seconds", self._waited_s(workload))
        admitted = workload.status.true_since("Admitted")
        if admitted is not None:
            told.observe("admitted_until_ready_wait_time_seconds", now - admitted)

    def evicted(self, workload: Workload, reason: str, cause: str) -> None:
        """Count an eviction; that ends a round of the trace."""
        why = {"reason": reason, "underlying_cause": cause}
        told = self._measures(workload)
        told.count("evicted_workloads_total", **why)
        if not _was_evicted_before(workload, reason, cause):
            told.count_once("evicted_workloads_once_total", **why)
        ready = workload.status.true_since("PodsReady")
        admission = workload.status.admission
        if ready is not None and admission is not None:
            family = self.metrics.pods_ready_to_evicted_time_seconds
            lasted_s = max(self.now() - ready, 0.0)
            family.labels(cluster_queue=admission.cluster_queue, **why).observe(lasted_s)
        if self.traces is not None:
            self.traces.closed(workload, self.now())

    def created(self, kind: str, job: Meta) -> None:
        """Measure how long after its Job a Workload was created."""
        lasted = self.metrics.at_hand["workload_creation_latency_seconds", kind]
        lasted.observe(max(self.now() - job.created, 0.0))

    def wrote(self, purpose: str, outcome: str, took_s: float) -> None:
        """Count a write, and how long it took."""
        series = self.metrics.at_hand
        series["writes_total", purpose, outcome].inc()
        series["write_duration_seconds", purpose].observe(took_s)

    def behind(self, waiting: Mapping[str, int], events_dropped: int) -> None:
        """Set how many writes wait, by class, and how many Events were dropped."""
        for purpose, count in waiting.items():
            self.metrics.writes_waiting.labels(purpose=purpose).set(count)
        self.metrics.events_dropped.labels().set(events_dropped)

    def lagged(self, worst_s: float) -> None:
        """Set how late the event loop woke up at worst in the last seconds."""
        self.metrics.event_loop_lag_seconds.labels().set(worst_s)

    def finished(self, workload: Workload) -> None:
        """Count a Workload that has finished, and how long it ran."""
        now = self.now()
        told = self._measures(workload)
        told.count("finished_workloads_total")
        admitted = workload.status.true_since("Admitted")
        if admitted is not None:
            told.observe("execution_time_seconds", now - admitted)
        if self.traces is not None:
            self.traces.closed(workload, now)

    def replaced(self, workload: Workload) -> None:
        """Count a slice that another one replaced."""
        admission = workload.status.admission
        if admission is not None:
            family = self.metrics.replaced_workload_slices_total
            family.labels(cluster_queue=admission.cluster_queue).inc()

    def changed(self, changed: Changed) -> None:
        """Remember which queues and cohorts changed, for the gauges."""
        if self._gauges is not None:
            self._gauges.note(changed)

    async def expose(self, accept: str = "") -> Exposition:
        """Return all metrics as they are now, in the format that the Accept header asks for."""
        if self._gauges is not None:
            await self._gauges.bring_up_to_date()
        return await self.metrics.expose(accept)

    @property
    def memory(self) -> tuple[Engine, Objects] | None:
        """The engine and the stores; None unless this process leads and has listed all objects."""
        if self._engine is None or self._objects is None:
            return None
        return self._engine, self._objects


def _search_result(wait: Wait) -> str:
    """Name what a repeated search for victims came to, in Kueue's words."""
    match wait.mode:
        case Mode.DEFERRED_FIT:
            return "deferred_fit"
        case Mode.PREEMPT:
            return "new_targets"
        case _:
            return "skipped"


def _was_evicted_before(workload: Workload, reason: str, cause: str) -> bool:
    stats = workload.status.scheduling_stats
    return stats is not None and any(
        one.reason == reason and one.underlying_cause == cause for one in stats.evictions
    )


def decide(
    logger: logging.Logger, text: str, decision: Written, workload: Workload, **more: object
) -> None:
    """Log a decision in one line, with the trace of its workload."""
    log_decision(
        logger,
        text,
        workload=decision.workload,
        cluster_queue=decision.cluster_queue,
        trace_id=trace_id_of(workload.metadata.uid, workload.metadata.traceparent),
        **more,
    )
