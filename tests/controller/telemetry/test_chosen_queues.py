"""Only LocalQueues that the selector of the Configuration takes have series of their own."""

import asyncio

from queueing.controller.stores.objects import Objects
from queueing.controller.telemetry.reporter import Reporter
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.observe.metric_rows import MetricGroup, ReplicaRole
from queueing.observe.metrics import Metrics
from queueing.state.engine import Engine
from queueing.state.memory.memory import Changed
from queueing.translate.configuration import measured_local_queues
from queueing.translate.inbound.manifests import read
from queueing.translate.inbound.queues import local_queue
from queueing.translate.wire.queues import LocalQueue
from queueing.translate.wire.workloads import Workload
from queueing_api.config.load import load
from queueing_api.config.v1beta2 import Configuration

MEASURED = "{localQueueSelector: {matchLabels: {measured: 'yes'}}}"


def configuration(local_queue_metrics: str) -> Configuration:
    return load(
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
        f"metrics: {{localQueueMetrics: {local_queue_metrics}}}\n"
    )


class Desk:
    """A term without an API server."""

    def __init__(self, local_queue_metrics: str = MEASURED) -> None:
        self.objects, self.engine = Objects(), Engine(Settings())
        chosen = measured_local_queues(configuration(local_queue_metrics))
        self.reporter = Reporter(
            metrics=Metrics(ReplicaRole.LEADER, MetricGroup), now=lambda: 100.0, local_queues=chosen
        )
        self.reporter.synced(self.objects, self.engine)

    def queue(self, name: str, measured: str) -> None:
        metadata = {"name": name, "namespace": "ns", "labels": {"measured": measured}}
        found = read(LocalQueue, {"metadata": metadata, "spec": {"clusterQueue": "cq"}})
        self.objects.local_queues[Key(f"ns/{name}")] = found
        self.engine.observe(local_queue(found))

    def finish(self, queue: str) -> None:
        metadata = {"name": "w", "namespace": "ns", "creationTimestamp": "1970-01-01T00:00:00Z"}
        found = read(Workload, {"metadata": metadata, "spec": {"queueName": queue, "podSets": []}})
        self.reporter.finished(found)

    def series(self, name: str) -> list[str]:
        """Return the series of a LocalQueue."""
        self.reporter.changed(self.engine.changed())
        text = asyncio.run(self.reporter.expose()).body.decode()
        return [
            one for one in text.splitlines() if f'name="{name}"' in one and 'namespace="ns"' in one
        ]


def test_a_local_queue_that_is_not_chosen_has_no_series() -> None:
    desk = Desk()
    desk.queue("in", "yes")
    desk.queue("out", "no")
    for name in ("in", "out"):
        desk.finish(name)
    assert desk.series("out") == []
    shown = "\n".join(desk.series("in"))
    assert "kueue_local_queue_finished_workloads_total{" in shown
    assert "kueue_local_queue_pending_workloads{" in shown
    assert "kueue_local_queue_status{" in shown


def test_a_local_queue_whose_label_is_taken_away_loses_its_series_with_the_next_scrape() -> None:
    desk = Desk()
    desk.queue("in", "yes")
    desk.finish("in")
    assert desk.series("in")
    desk.queue("in", "no")
    assert desk.series("in") == []


def test_a_local_queue_that_gets_the_label_is_measured_from_then_on() -> None:
    desk = Desk()
    desk.queue("in", "no")
    desk.finish("in")
    assert desk.series("in") == []
    desk.queue("in", "yes")
    assert any("kueue_local_queue_pending_workloads{" in one for one in desk.series("in"))
    assert not any("finished_workloads_total{" in one for one in desk.series("in"))


def test_a_local_queue_that_does_not_exist_is_not_chosen() -> None:
    desk = Desk()
    desk.finish("nobody")
    assert desk.series("nobody") == []


def test_an_empty_selector_takes_all() -> None:
    desk = Desk("{localQueueSelector: {}}")
    desk.queue("in", "no")
    assert desk.series("in")


def test_series_of_cluster_queues_do_not_depend_on_the_selector() -> None:
    desk = Desk()
    desk.finish("out")
    desk.reporter.changed(Changed())
    text = asyncio.run(desk.reporter.expose()).body.decode()
    assert "kueue_finished_workloads_total{" in text
