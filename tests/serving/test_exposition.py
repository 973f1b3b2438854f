"""Scrapers get the format that they ask for."""

import pytest

from queueing.observe.metric_rows import ReplicaRole
from queueing.observe.metrics import Metrics
from queueing.serving.exposition import OPEN_METRICS, answer

ASKS = f"{OPEN_METRICS};version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3"


def told(accept: str) -> str:
    """Return the metrics with a wait that is an example of a trace, as the controller tells it."""
    metrics = Metrics(ReplicaRole.LEADER)
    series = metrics.admission_wait_time_seconds.labels(cluster_queue="q", priority_class="")
    series.observe(3.0, {"trace_id": "0af7651916cd43dd8448eb211c80319c"})
    metrics.finished_workloads_total.labels(cluster_queue="q", priority_class="").inc()
    metrics.finished_workloads.labels(cluster_queue="q").set(1)
    return metrics.exposition(accept).body.decode()


def test_who_accepts_open_metrics_gets_exemplars() -> None:
    text, kind = answer(told(OPEN_METRICS), ASKS)
    assert kind.startswith(OPEN_METRICS)
    assert text.endswith("# EOF\n")
    assert '# {trace_id="0af7651916cd43dd8448eb211c80319c"} 3.0' in text


@pytest.mark.parametrize("accept", ["", "text/plain", "*/*"])
def test_others_get_the_plain_format(accept: str) -> None:
    text, kind = answer(told(OPEN_METRICS), accept)
    assert kind.startswith("text/plain")
    assert "trace_id" not in text
    assert "# EOF" not in text
    assert text == told("")


def test_what_has_no_exemplars_is_plain_whatever_is_accepted() -> None:
    assert answer("kueue_x 1\n", ASKS).text == "kueue_x 1\n"
