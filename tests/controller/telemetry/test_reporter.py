from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from queueing.controller.configuration import metric_groups
from queueing.controller.telemetry.reporter import Reporter
from queueing.observe.metric_rows import ReplicaRole
from queueing.observe.metric_table import ROWS
from queueing.observe.metrics import Metrics
from queueing.translate.wire.workloads import Workload
from queueing_api.config.v1beta2 import Configuration

NOW = 1_767_225_700.0
MADE, REQUEUED, RESERVED = "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z", "2026-01-01T00:01:10Z"
CLUSTER_QUEUE = 'cluster_queue="cq",priority_class=""'
LOCAL_QUEUE = 'name="lq",namespace="team",priority_class=""'


def _condition(kind: str, since: str) -> dict[str, Any]:
    return {"type": kind, "status": "True", "reason": "R", "lastTransitionTime": since}


def _workload(*conditions: dict[str, Any], **more: Any) -> Workload:
    meta = {"name": "w", "namespace": "team", "uid": "u", "creationTimestamp": MADE}
    admission = {"clusterQueue": "cq", "podSetAssignments": []}
    status = {"conditions": conditions, "admission": admission, **more}
    found = {"metadata": meta, "spec": {"queueName": "lq"}, "status": status}
    return msgspec.json.decode(msgspec.json.encode(found), type=Workload)


def _served(happens: Callable[[Reporter], None], configuration: Configuration) -> str:
    metrics = Metrics(ReplicaRole.STANDALONE, metric_groups(configuration))
    happens(Reporter(metrics=metrics, now=lambda: NOW))
    return metrics.exposition().body.decode()


@pytest.mark.parametrize(
    ("conditions", "waited_s"),
    [
        pytest.param([_condition("QuotaReserved", RESERVED)], 100.0, id="for the first time"),
        pytest.param(
            [_condition("Requeued", REQUEUED), _condition("QuotaReserved", RESERVED)],
            40.0,
            id="after it came back",
        ),
    ],
)
def test_an_admission_after_its_checks_is_counted_for_both_queues(
    conditions: list[dict[str, Any]], waited_s: float
) -> None:
    text = _served(lambda one: one.confirmed(_workload(*conditions)), Configuration())
    for prefix, labels in (("kueue_", CLUSTER_QUEUE), ("kueue_local_queue_", LOCAL_QUEUE)):
        labels = f'{{{labels},replica_role="standalone"}}'
        assert f"{prefix}admitted_workloads_total{labels} 1.0" in text
        assert f"{prefix}admission_wait_time_seconds_sum{labels} {waited_s}" in text
        assert f"{prefix}admission_checks_wait_time_seconds_sum{labels} 30.0" in text


def test_pods_that_are_ready_are_measured_from_queueing_and_from_admission() -> None:
    found = _workload(_condition("Admitted", RESERVED))
    text = _served(lambda one: one.pods_ready(found), Configuration())
    for prefix, labels in (("kueue_", CLUSTER_QUEUE), ("kueue_local_queue_", LOCAL_QUEUE)):
        labels = f'{{{labels},replica_role="standalone"}}'
        assert f"{prefix}ready_wait_time_seconds_sum{labels} 100.0" in text
        assert f"{prefix}admitted_until_ready_wait_time_seconds_sum{labels} 30.0" in text


def test_pods_that_are_ready_again_after_a_loss_are_not_measured_again() -> None:
    lost = {**_condition("PodsReady", RESERVED), "status": "False", "reason": "WaitForRecovery"}
    started = {**lost, "reason": "WaitForStart"}

    def happens(one: Reporter) -> None:
        for before in (started, lost):
            found = _workload(_condition("Admitted", RESERVED), before)
            one.pods_ready(found)

    text = _served(happens, Configuration())
    for prefix, labels in (("kueue_", CLUSTER_QUEUE), ("kueue_local_queue_", LOCAL_QUEUE)):
        labels = f'{{{labels},replica_role="standalone"}}'
        assert f"{prefix}ready_wait_time_seconds_count{labels} 1.0" in text
        assert f"{prefix}admitted_until_ready_wait_time_seconds_count{labels} 1.0" in text


def test_an_eviction_is_measured_from_the_pods_being_ready_and_once_for_each_cause() -> None:
    def happens(one: Reporter) -> None:
        ready = _condition("PodsReady", RESERVED)
        one.evicted(_workload(ready), "Preempted", "")
        stats = {"evictions": [{"reason": "Preempted", "underlyingCause": "", "count": 1}]}
        one.evicted(_workload(ready, schedulingStats=stats), "Preempted", "")

    text = _served(happens, Configuration())
    why = 'reason="Preempted",replica_role="standalone",underlying_cause=""'
    labels = f'{{cluster_queue="cq",priority_class="",{why}}}'
    assert f"kueue_evicted_workloads_total{labels} 2.0" in text
    assert f"kueue_evicted_workloads_once_total{labels} 1.0" in text
    labels = f'{{cluster_queue="cq",{why}}}'
    assert f"kueue_pods_ready_to_evicted_time_seconds_sum{labels} 60.0" in text


def test_our_own_work_is_measured() -> None:
    def happens(one: Reporter) -> None:
        one.created("Job", _workload().metadata)
        one.wrote("admit", "done", 0.25)
        one.behind({"admission": 3}, 7)
        one.lagged(0.5)

    text = _served(happens, Configuration())
    role = 'replica_role="standalone"'
    for line in (
        f'kueue_workload_creation_latency_seconds_sum{{job_kind="Job",{role}}} 100.0',
        f'queueing_writes_total{{outcome="done",purpose="admit",{role}}} 1.0',
        f'queueing_write_duration_seconds_sum{{purpose="admit",{role}}} 0.25',
        f'queueing_writes_waiting{{purpose="admission",{role}}} 3.0',
        f"queueing_events_dropped{{{role}}} 7.0",
        f"queueing_event_loop_lag_seconds{{{role}}} 0.5",
    ):
        assert line in text
    assert 'git_version="v' in text


@pytest.mark.parametrize(
    ("gate", "name"),
    [
        pytest.param("MetricsForCohorts", "cohort_info", id="cohorts"),
        pytest.param("UnadmittedWorkloadsObservability", "unadmitted_workloads", id="why"),
        pytest.param(
            "MetricForWorkloadCreationLatency", "workload_creation_latency_seconds", id="creation"
        ),
    ],
)
def test_gates_turn_families_off(gate: str, name: str) -> None:
    def kept(reporter: Reporter) -> None:
        labels = dict.fromkeys(ROWS[name].labels, "x")
        getattr(reporter.metrics, name).labels(**labels)

    off = Configuration.model_validate({"featureGates": {gate: False}})
    assert f"kueue_{name}" in _served(kept, Configuration())
    assert f"kueue_{name}" not in _served(kept, off)


def test_local_queues_are_measured_only_if_wanted() -> None:
    off = Configuration.model_validate({"metrics": {"localQueueMetrics": {"enable": False}}})
    text = _served(lambda one: one.evicted(_workload(), "Preempted", ""), off)
    assert 'kueue_evicted_workloads_total{cluster_queue="cq"' in text
    assert "kueue_local_queue_" not in text
