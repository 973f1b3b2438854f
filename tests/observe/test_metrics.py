import asyncio
from pathlib import Path

import pytest

from queueing.observe.metric_reference import render
from queueing.observe.metric_rows import (
    CLUSTER_QUEUE,
    LOCAL_QUEUE,
    MetricGroup,
    MetricKind,
    MetricRow,
    ReplicaRole,
)
from queueing.observe.metric_table import ROWS, TABLE
from queueing.observe.metrics import Metrics


def lines(metrics: Metrics, start: str) -> list[str]:
    text = metrics.exposition().body.decode()
    return [line for line in text.splitlines() if line.startswith(start)]


def test_no_metric_is_in_the_table_twice() -> None:
    assert len(ROWS) == len(TABLE)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.full_name)
def test_every_metric_of_the_table_can_be_kept(row: MetricRow) -> None:
    metrics = Metrics(ReplicaRole.LEADER, MetricGroup)
    series = getattr(metrics, row.name).labels(**dict.fromkeys(row.labels, "x"))
    match row.kind:
        case MetricKind.COUNTER:
            series.inc()
            assert row.name.endswith("_total")
        case MetricKind.GAUGE:
            series.set(1)
        case MetricKind.HISTOGRAM:
            series.observe(1)
            assert row.buckets == tuple(sorted(set(row.buckets)))
    (found, *_) = lines(metrics, row.full_name)
    assert 'replica_role="leader"' in found
    assert row.help.endswith(".")


def test_a_series_reads_as_kueues_dashboards_expect() -> None:
    metrics = Metrics(ReplicaRole.LEADER)
    metrics.pending_workloads.labels(status="active", cluster_queue="cq").set(3)
    metrics.admitted_workloads_total.labels(cluster_queue="cq", priority_class="high").inc()
    assert lines(metrics, "kueue_pending_workloads{") == [
        'kueue_pending_workloads{cluster_queue="cq",replica_role="leader",status="active"} 3.0'
    ]
    assert lines(metrics, "kueue_admitted_workloads_total{") == [
        (
            'kueue_admitted_workloads_total{cluster_queue="cq",priority_class="high",'
            'replica_role="leader"} 1.0'
        )
    ]
    assert lines(metrics, "kueue_admitted_workloads_created") == []


def test_waiting_is_counted_in_kueues_buckets() -> None:
    buckets = ROWS["admission_wait_time_seconds"].buckets
    assert buckets[:4] == (1.0, 2.5, 5.0, 10.0)
    assert (len(buckets), buckets[-1]) == (14, 10240.0)


def test_wait_times_carry_the_trace_for_scrapers_that_ask_for_it() -> None:
    metrics = Metrics(ReplicaRole.LEADER)
    wait = metrics.admission_wait_time_seconds.labels(cluster_queue="cq", priority_class="")
    wait.observe(4.0, {"trace_id": "0af7651916cd43dd8448eb211c80319c"})
    plain = metrics.exposition()
    open_metrics = metrics.exposition("application/openmetrics-text; version=1.0.0")
    assert b"0af7651916cd43dd8448eb211c80319c" not in plain.body
    assert b"0af7651916cd43dd8448eb211c80319c" in open_metrics.body
    assert "openmetrics" in open_metrics.content_type


async def test_exposing_many_series_leaves_the_loop_free() -> None:
    metrics = Metrics(ReplicaRole.LEADER)
    for number in range(300):
        wait = metrics.admission_wait_time_seconds
        wait.labels(cluster_queue=f"cq-{number}", priority_class="").observe(1)
    turns = 0

    async def tick() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        ticking = group.create_task(tick())
        told = await metrics.expose()
        ticking.cancel()
    assert turns > 1
    assert told == metrics.exposition()


def test_a_metric_that_is_turned_off_swallows_everything() -> None:
    metrics = Metrics(ReplicaRole.LEADER)
    row = ROWS["cluster_queue_nominal_quota"]
    quota = metrics.cluster_queue_nominal_quota
    quota.labels(**dict.fromkeys(row.labels, "x")).set(5)
    quota.replace_all({("co", "cq", "default", "cpu"): 5.0})
    quota.replace_those({"cluster_queue": "cq"}, {("co", "cq", "default", "cpu"): 5.0})
    metrics.keep_only(CLUSTER_QUEUE, set())
    assert lines(metrics, "kueue_cluster_queue_nominal_quota") == []


def test_a_follower_keeps_what_it_is_enough_to_watch_for() -> None:
    metrics = Metrics(ReplicaRole.FOLLOWER, MetricGroup)
    for row in TABLE:
        getattr(metrics, row.name).labels(**dict.fromkeys(row.labels, "x"))
    served = {row.full_name for row in TABLE if lines(metrics, f"{row.full_name}{{")}
    assert served == {row.full_name for row in TABLE if row.followed}
    assert "kueue_local_queue_pending_workloads" in served
    assert not {"kueue_cluster_queue_weighted_share", "kueue_local_queue_status"} & served


def test_what_is_about_a_deleted_queue_is_forgotten() -> None:
    metrics = Metrics(ReplicaRole.LEADER)
    for queue in ("gone", "kept"):
        metrics.pending_workloads.labels(cluster_queue=queue, status="active").set(1)
        metrics.reserving_active_workloads.labels(cluster_queue=queue).set(1)
    metrics.local_queue_pending_workloads.labels(name="gone", namespace="a", status="active").set(1)
    metrics.local_queue_pending_workloads.labels(name="gone", namespace="b", status="active").set(1)
    metrics.keep_only(CLUSTER_QUEUE, {("kept",)})
    metrics.keep_only(LOCAL_QUEUE, {("gone", "b")})
    text = metrics.exposition().body.decode()
    assert 'cluster_queue="gone"' not in text
    assert text.count('cluster_queue="kept"') == 2
    assert 'namespace="a"' not in text
    assert 'namespace="b"' in text


def test_a_gauge_can_be_set_to_exactly_what_is() -> None:
    metrics = Metrics(ReplicaRole.LEADER)
    status = metrics.cluster_queue_status
    status.replace_all({("a", "active"): 1.0, ("b", "pending"): 1.0})
    status.replace_all({("b", "active"): 1.0, ("b", "pending"): 0.0})
    assert lines(metrics, "kueue_cluster_queue_status{") == [
        'kueue_cluster_queue_status{cluster_queue="b",replica_role="leader",status="pending"} 0.0',
        'kueue_cluster_queue_status{cluster_queue="b",replica_role="leader",status="active"} 1.0',
    ]


def test_a_forgotten_or_invented_label_is_an_error() -> None:
    pending = Metrics(ReplicaRole.LEADER).pending_workloads
    with pytest.raises(ValueError, match="needs the label 'status'"):
        pending.labels(cluster_queue="cq")
    with pytest.raises(ValueError, match="has the labels"):
        pending.labels(cluster_queue="cq", status="active", flavor="x")


def test_a_name_that_is_not_in_the_table_does_not_exist() -> None:
    with pytest.raises(AttributeError, match="no metric 'pending_workload'"):
        _ = Metrics(ReplicaRole.LEADER).pending_workload


def test_the_reference_page_is_up_to_date() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
    assert page.read_text("utf-8") == render(), (
        "run: python -m queueing.observe.metric_reference > docs/reference/metrics.md"
    )
