"""What a scrape reads is what Prometheus' own library for Python reads, and costs little."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics import parser as open_metrics_parser
from prometheus_client.parser import text_string_to_metric_families as plain_families

from queueing.observe.metric_rows import ReplicaRole
from queueing.observe.metrics import AT_ONCE, OPEN_METRICS, Metrics
from queueing.observe.series import Counter, Gauge, Histogram, label_text

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=8)


@given(value=st.floats(), label=ANY_TEXT)
def test_any_value_and_any_label_can_be_read_back(value: float, label: str) -> None:
    gauge = Gauge("x", label_text({"b": label, "a": "1"}))
    gauge.set(value)
    (family,) = plain_families(gauge.text())
    (sample,) = family.samples
    assert sample.labels == {"a": "1", "b": label}
    assert sample.value == value or (math.isnan(sample.value) and math.isnan(value))


@given(st.lists(st.floats(0, 100), max_size=20))
def test_a_histogram_counts_what_is_at_most_each_bound(amounts: list[float]) -> None:
    histogram = Histogram("x", 'a="1"', (1.0, 2.5, 50.0))
    for amount in amounts:
        histogram.observe(amount)
    (family,) = plain_families(f"# TYPE x histogram\n{histogram.text()}")
    told = {one.labels.get("le", one.name): one.value for one in family.samples}
    bounds = {"1.0": 1.0, "2.5": 2.5, "50.0": 50.0, "+Inf": math.inf}
    assert told == {
        **{text: sum(one <= bound for one in amounts) for text, bound in bounds.items()},
        "x_count": len(amounts),
        "x_sum": pytest.approx(sum(amounts)),
    }


def test_open_metrics_have_the_last_exemplar_of_each_bucket() -> None:
    metrics = Metrics(ReplicaRole.LEADER)
    wait = metrics.admission_wait_time_seconds.labels(cluster_queue="q", priority_class="")
    for seconds, trace in ((3.0, "a"), (4.0, "b"), (0.5, "c")):
        wait.observe(seconds, {"trace_id": trace})
    metrics.admitted_workloads_total.labels(cluster_queue="q", priority_class="").inc(2)
    text = metrics.exposition(OPEN_METRICS).body.decode()
    read = open_metrics_parser.text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
    families = {one.name: one for one in read}
    shown = {
        one.labels["le"]: (one.exemplar.labels["trace_id"], one.exemplar.value)
        for one in families["kueue_admission_wait_time_seconds"].samples
        if one.exemplar
    }
    assert shown == {"1.0": ("c", 0.5), "5.0": ("b", 4.0)}
    (admitted,) = families["kueue_admitted_workloads"].samples
    assert (admitted.name, admitted.value) == ("kueue_admitted_workloads_total", 2.0)
    assert b"trace_id" not in metrics.exposition().body


def test_a_counter_beside_a_gauge_of_its_name_is_no_clash_in_open_metrics() -> None:
    """In OpenMetrics the counter would have the gauge's name."""
    metrics = Metrics(ReplicaRole.LEADER)
    metrics.finished_workloads.labels(cluster_queue="q").set(3)
    metrics.finished_workloads_total.labels(cluster_queue="q", priority_class="").inc(7)
    text = metrics.exposition(OPEN_METRICS).body.decode()
    read = open_metrics_parser.text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
    told = {
        one.name: (one.type, one.samples[0].name, one.samples[0].value)
        for one in read
        if "finished" in one.name
    }
    gauge, counter = "kueue_finished_workloads", "kueue_finished_workloads_total"
    assert told == {gauge: ("gauge", gauge, 3.0), counter: ("unknown", counter, 7.0)}
    plain = metrics.exposition().body.decode()
    assert f"# TYPE {gauge} gauge\n" in plain
    assert f"# TYPE {counter} counter\n" in plain


def test_a_series_is_written_anew_only_when_it_changed() -> None:
    gauge, counter, histogram = Gauge("g", ""), Counter("c", ""), Histogram("h", "", (1.0,))
    series = (gauge, counter, histogram)
    first = [one.text() for one in series]
    gauge.set(0)
    assert all(one.text() is text for one, text in zip(series, first, strict=True))
    gauge.set(1)
    counter.inc()
    histogram.observe(2)
    assert [one.kept for one in series] == [None, None, None]
    again = [one.text() for one in series]
    assert all(one != text for one, text in zip(again, first, strict=True))


async def test_many_changed_series_are_written_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = Metrics(ReplicaRole.LEADER)
    for number in range(AT_ONCE * 3):
        metrics.reserving_active_workloads.labels(cluster_queue=f"q-{number}").set(1)
    paused = 0

    async def pause(_seconds: float) -> None:
        nonlocal paused
        paused += 1

    monkeypatch.setattr("asyncio.sleep", pause)
    await metrics.expose()
    first, paused = paused, 0
    await metrics.expose()
    assert first == paused + 3


def test_a_counter_does_not_go_down() -> None:
    with pytest.raises(ValueError, match="cannot go down by 2"):
        Counter("x_total", "").inc(-2)
