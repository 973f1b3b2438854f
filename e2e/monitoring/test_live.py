"""Traces, metrics, dashboards and alerts of the real product, while work goes on."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.api import WaitTimeoutError, holds
from e2e.cluster import Cluster
from e2e.components import HOST
from e2e.identities import ADMIN
from e2e.jobs import running, wait_job, workload_of
from e2e.monitoring.collector import Collector, collecting, covered_s
from e2e.monitoring.prometheus import Prometheus, scraping
from e2e.nodes import POOL
from e2e.objects import (
    PRIORITY_CLASS,
    Pods,
    checkpoint_policy,
    cluster_queue,
    cohort,
    flavor,
    job,
    local_queue,
    workload_priority,
)
from e2e.product import Controller
from e2e.serving import until
from e2e.wire import Object
from e2e.world import World
from queueing.observe.monitoring.alerts import ALERTS
from queueing.observe.monitoring.dashboards import DASHBOARDS
from queueing.observe.monitoring.files import FILES, FOLDER
from queueing.testing.ports import free_ports
from queueing.translate.times import moment

PROGRAM = str(Path(sys.executable).with_name("queueing"))
SUBMITTER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE, SPAN = SUBMITTER.split("-")[1:3]
APART_S, APART = 2.0, 0.05
"""By how much the sum of the spans may differ from the wall time."""
IN_A_ROW = ("queued", "status write", "unsuspend", "pods scheduled", "pods ready")
"""Spans that follow each other where there are no admission checks."""
NOT_HERE = re.compile("credit_balance")
"""Metrics of features that nobody uses here."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A replica at work, with who watches it."""

    space: World
    cluster: Cluster
    collector: Collector
    prometheus: Prometheus
    port: int


@contextmanager
def _watching(
    space: World, cluster: Cluster, launch: Callable[..., Controller], patch: pytest.MonkeyPatch
) -> Iterator[Watched]:
    (port,) = free_ports(1)
    settings = {
        "metrics": {"bindAddress": f"{HOST}:{port}", "enableClusterQueueResources": True},
        "fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare"]},
    }
    with collecting() as collector:
        patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        patch.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")
        launch("watched", settings)
        # What waits for minutes does so for a second here, so that one sees it fire.
        rules = re.sub(r"for: \w+", "for: 1s", FILES[f"{FOLDER}/rules.yaml"]())
        with scraping(cluster, port, rules) as prometheus:
            yield Watched(space, cluster, collector, prometheus, port)


def _queues(space: World) -> list[Object]:
    quota = {space.name("any"): {"cpu": "4"}}
    missing = {space.name("missing"): {"cpu": "4"}}
    preempts = {"withinClusterQueue": "LowerPriority"}
    terms = {
        "driver": "Annotation",
        "ackDeadline": "2s",
        "saveDeadline": "2s",
        "heartbeat": "1s",
        "terminationGrace": "5s",
    }
    return [
        flavor(space.name("any"), nodeLabels=POOL),
        cohort(space.name("co")),
        cluster_queue(space.name("cq"), quota, cohort=space.name("co"), preemption=preempts),
        cluster_queue(space.name("broken"), missing),
        local_queue(space.namespace, "door", space.name("cq")),
        workload_priority(space.name("high"), 1000),
        checkpoint_policy(space.namespace, "save", terms),
    ]


def _work(space: World) -> None:
    """Have a Job finish, one preempted that was asked to save, its preemptor run, and one wait."""
    space.make(job(space.namespace, "short", queue="door", pods=Pods(run_s=0.2)))
    wait_job(space, "short", lambda one: bool(one["status"].get("completionTime")), "complete")
    low = job(space.namespace, "low", queue="door", pods=Pods(cpu="3", run_s=None))
    low["metadata"]["annotations"] = {"queueing.dev/checkpoint-policy": "save"}
    space.make(low)
    wait_job(space, "low", running, "running")
    space.api.wait(
        "Workload",
        lambda found: any(holds(one, "PodsReady") for one in found),
        namespace=space.namespace,
    )
    high = {PRIORITY_CLASS: space.name("high")}
    urgent = job(space.namespace, "high", queue="door", pods=Pods(cpu="4", run_s=None), labels=high)
    urgent["metadata"]["annotations"] = {"traceparent": SUBMITTER}
    space.make(urgent)
    wait_job(space, "high", running, "running")


def test_what_goes_on_is_seen_in_traces_dashboards_and_alerts(
    space: World,
    cluster: Cluster,
    controllers: Callable[..., Controller],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with _watching(space, cluster, controllers, monkeypatch) as watched:
        space.make(*_queues(space))
        _work(space)
        _every_span_is_there(watched)
        _the_terminal_shows_the_same(watched)
        _every_panel_has_data(watched)
        _what_is_wrong_is_told(watched)
        _waits_are_examples_of_traces(watched)
        _a_gauge_and_a_counter_of_one_name_are_both_read(watched)


def _every_span_is_there(watched: Watched) -> None:
    """All of an admission is in its submitter's trace, and adds up to the wall time."""

    def ended() -> bool:
        return {"admission", "victim"} <= {one.name for one in watched.collector.of(TRACE)}

    until(ended, "the spans of the preemptor are exported")
    spans = {one.name: one for one in watched.collector.of(TRACE)}
    whole = spans["admission"]
    assert whole.parent_span_id.hex() == SPAN
    assert {*IN_A_ROW, "attempt", "preemption", "victim", "notify"} <= set(spans)
    assert {one.name for one in spans["queued"].events} >= {"WaitingForPreemptedWorkloads"}
    cycles = {one.span_id for one in watched.collector.spans if one.name == "cycle"}
    assert {link.span_id for link in spans["attempt"].links} <= cycles
    workload = workload_of(watched.space, "high")
    job = watched.space.api.get("Job", "high", watched.space.namespace)
    ready = next(one for one in workload["status"]["conditions"] if one["type"] == "PodsReady")
    wall_s = moment(ready["lastTransitionTime"]) - moment(job["metadata"]["creationTimestamp"])
    row = [one for one in watched.collector.of(TRACE) if one.name in IN_A_ROW]
    assert abs(covered_s(row) - wall_s) <= max(APART_S, APART * wall_s)
    pod = watched.space.api.items("Pod", namespace=watched.space.namespace)
    annotated = {one["metadata"].get("annotations", {}).get("traceparent", "") for one in pod}
    handed = f"00-{TRACE}-{whole.span_id.hex()}-01"
    assert handed in annotated
    containers = [container for one in pod for container in one["spec"]["containers"]]
    variables = [variable for one in containers for variable in one.get("env") or ()]
    assert {"name": "TRACEPARENT", "value": handed} in variables


def _the_terminal_shows_the_same(watched: Watched) -> None:
    words = ["trace", "job/high", "-n", watched.space.namespace, "-o", "json"]
    flags = ["--kubeconfig", str(watched.cluster.kubeconfig(ADMIN))]
    done = subprocess.run(
        [PROGRAM, *words, *flags], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["traceId"] == TRACE
    phases = {one["name"]: one for one in told["phases"]["inside"]}
    assert {"queued", "start", "pods created", "pods scheduled", "pods ready"} <= set(phases)
    (preemption,) = phases["queued"]["inside"]
    (victim,) = preemption["inside"]
    assert victim["name"].startswith(f"{watched.space.namespace}/job-low-")
    assert {"notify", "drain"} <= {one["name"] for one in victim["inside"]}
    row = [one for one in watched.collector.of(TRACE) if one.name in IN_A_ROW]
    assert abs(told["secondsUntilReady"] - covered_s(row)) <= APART_S


def _every_panel_has_data(watched: Watched) -> None:
    """A real Prometheus yields something for every query of every dashboard."""
    queries = {
        f"{board.uid}: {panel.title}": query.expression
        for board in DASHBOARDS
        for panel in board.panels
        for query in panel.queries
        if not NOT_HERE.search(query.expression)
    }
    missing: dict[str, str] = {}

    def all_have() -> bool:
        missing.clear()
        for title, query in queries.items():
            asked = re.sub(r"\$(namespace|cluster_queue)", ".*", query)
            if not watched.prometheus.drawn(asked.replace("$__rate_interval", "1m")):
                missing[title] = asked
        return not missing

    try:
        until(all_have, "each query has data")
    except WaitTimeoutError as error:
        raise AssertionError(f"without data: {missing}") from error


def _what_is_wrong_is_told(watched: Watched) -> None:
    """A queue without its flavor, and failed requests to save, are all that is wrong here."""
    names = {one.name for one in ALERTS}
    wrong = {"QueueingQueueInactive", "QueueingCheckpointFailures"}
    until(lambda: watched.prometheus.firing() >= wrong, f"{sorted(wrong)} fire")
    fired = watched.prometheus.firing()
    assert fired <= names
    assert not fired & {
        "QueueingLeaderLost",
        "QueueingAdmissionLate",
        "QueueingPreemptionStorm",
        "QueueingClaimsLeaked",
        "QueueingWritesBehind",
        "QueueingPodsNotReady",
    }


def _waits_are_examples_of_traces(watched: Watched) -> None:
    name = "kueue_admission_wait_time_seconds_bucket"
    found = watched.prometheus.asked("query_exemplars", query=name, start="0", end="9999999999")
    traces = {one["labels"]["trace_id"] for series in found for one in series["exemplars"]}
    assert TRACE in traces


def _a_gauge_and_a_counter_of_one_name_are_both_read(watched: Watched) -> None:
    """Read with exemplars, so in OpenMetrics, where a counter has no suffix."""
    gauge, counter = "kueue_finished_workloads", "kueue_finished_workloads_total"
    for name, kind in ((gauge, "gauge"), (counter, "unknown")):
        assert watched.prometheus.values(f"{name} > 0"), name
        (told,) = watched.prometheus.asked("metadata", metric=name)[name]
        assert told["type"] == kind
