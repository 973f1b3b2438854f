"""What Prometheus reads of queues, on each replica: it comes and goes with their objects."""

import re
from collections.abc import Callable

from e2e.api import WaitTimeoutError
from e2e.cluster import Cluster
from e2e.components import HOST
from e2e.controller.test_replicas import wait_leader
from e2e.identities import ADMIN
from e2e.jobs import running, wait_job
from e2e.nodes import POOL
from e2e.objects import (
    PRIORITY_CLASS,
    Pods,
    cluster_queue,
    cohort,
    flavor,
    job,
    local_queue,
    workload_priority,
)
from e2e.product import Controller
from e2e.scraping import scraped
from e2e.serving import until
from e2e.wire import Object
from e2e.world import World
from queueing.observe.metric_rows import MetricKind
from queueing.observe.metric_table import ROWS, TABLE
from queueing.testing.ports import free_ports

OF_OBJECTS = [row for row in TABLE if row.naming]
NOT_HERE = re.compile("credit_balance|checkpoint|admission_fair_sharing|preemption_skips")
"""Gauges of features that nobody uses here."""
HAPPENED = (
    "quota_reserved_workloads_total",
    "admitted_workloads_total",
    "admission_wait_time_seconds",
    "local_queue_admission_wait_time_seconds",
    "evicted_workloads_total",
    "evicted_workloads_once_total",
    "local_queue_evicted_workloads_total",
    "preempted_workloads_total",
    "workload_eviction_latency_seconds",
    "cohort_subtree_admitted_workloads_total",
    "finished_workloads_total",
    "execution_time_seconds",
)
RECLAIM = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}


class Replica:
    """A replica that serves everything it can, and how to scrape it."""

    def __init__(self, cluster: Cluster, launch: Callable[..., Controller], name: str) -> None:
        (self._port,) = free_ports(1)
        self._token = cluster.accesses[ADMIN].token
        everything = {"bindAddress": f"{HOST}:{self._port}", "enableClusterQueueResources": True}
        settings = {
            "metrics": everything,
            "fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare"]},
        }
        self.controller = launch(name, settings)

    def families(self, names: set[str]) -> set[str]:
        """Return the families with a series that has one of these names in a label."""
        status, text = scraped(self._port, self._token)
        assert status == 200
        found = set()
        for line in text.splitlines():
            family, _, labels = line.partition("{")
            if not line.startswith("#") and names & set(re.findall('"(.*?)"', labels)):
                found.add(re.sub("_(bucket|sum|count)$", "", family))
        return found

    def wait(self, names: set[str], holds: Callable[[set[str]], bool], what: str) -> None:
        """Wait until the families that name these objects are as they should be."""
        seen: list[set[str]] = []

        def look() -> bool:
            seen.append(self.families(names))
            return holds(seen[-1])

        try:
            until(look, what)
        except WaitTimeoutError as error:
            raise WaitTimeoutError(f"{error}; last seen {sorted(seen[-1])}") from None


def queues(space: World) -> list[Object]:
    name = space.name("any")
    quota = {name: {"cpu": "4", "memory": "8Gi"}}
    return [
        flavor(name, nodeLabels=POOL),
        cohort(space.name("co")),
        cluster_queue(space.name("cq"), quota, cohort=space.name("co"), preemption=RECLAIM),
        local_queue(space.namespace, space.name("door"), space.name("cq")),
        workload_priority(space.name("high"), 1000),
    ]


def names(space: World) -> set[str]:
    return {space.name(one) for one in ("co", "cq", "door")}


def of_kind(kind: MetricKind) -> set[str]:
    return {
        row.full_name for row in OF_OBJECTS if row.kind is kind and not NOT_HERE.search(row.name)
    }


def work(space: World) -> None:
    """Have one Job finish, one preempted by another that runs, and one that never fits."""
    door, high = space.name("door"), {PRIORITY_CLASS: space.name("high")}
    space.make(job(space.namespace, "short", queue=door, pods=Pods(run_s=0.2)))
    wait_job(space, "short", lambda one: bool(one["status"].get("completionTime")), "complete")
    space.make(job(space.namespace, "low", queue=door, pods=Pods(cpu="3", run_s=None)))
    wait_job(space, "low", running, "running")
    more = Pods(cpu="4", run_s=None)
    space.make(job(space.namespace, "high", queue=door, pods=more, labels=high))
    wait_job(space, "high", running, "running")
    space.make(job(space.namespace, "never", queue=door, pods=Pods(cpu="9")))


def test_series_of_queues_and_cohorts_come_and_go_with_them(
    space: World, cluster: Cluster, controllers: Callable[..., Controller]
) -> None:
    replica = Replica(cluster, controllers, "all-metrics")
    space.make(*queues(space))
    gauges = of_kind(MetricKind.GAUGE)
    at_once = gauges - {row.full_name for row in OF_OBJECTS if "unadmitted" in row.name}
    replica.wait(names(space), at_once.issubset, f"all of {sorted(at_once)}")
    work(space)
    wanted = gauges | {ROWS[name].full_name for name in HAPPENED}
    replica.wait(names(space), wanted.issubset, f"all of {sorted(wanted)}")
    for kind, name in (
        *(("Job", name) for name in ("short", "low", "high", "never")),
        ("LocalQueue", space.name("door")),
        ("ClusterQueue", space.name("cq")),
        ("Cohort", space.name("co")),
    ):
        namespace = space.namespace if kind in {"Job", "LocalQueue"} else None
        space.api.delete(kind, name, namespace)
        space.api.wait_gone(kind, name, namespace)
    replica.wait(names(space), lambda seen: not seen, "nothing names what is gone")


def test_a_replica_that_does_not_lead_serves_what_it_watches(
    space: World, cluster: Cluster, controllers: Callable[..., Controller]
) -> None:
    Replica(cluster, controllers, "leads")
    wait_leader(cluster)
    follower = Replica(cluster, controllers, "follows")
    space.make(*queues(space))
    work(space)
    wanted = {row.full_name for row in OF_OBJECTS if row.followed and not NOT_HERE.search(row.name)}
    follower.wait(names(space), wanted.__eq__, f"exactly {sorted(wanted)}")
