"""Pods that start late, or never: who waits for them, and for how long."""

from collections.abc import Iterator

import pytest

from e2e.api import condition, holds
from e2e.cluster import Cluster
from e2e.conftest import launching
from e2e.jobs import running, stopped, wait_job, wait_workload, workload_of
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import Controller, Residents
from e2e.wire import Object
from e2e.world import World

FOREVER = Pods(run_s=None)
NEVER_READY = Pods(run_s=None, annotations={"queueing.test/start-seconds": "3600"})
FAILING = Pods(run_s=None, fail_s=1)
LATE_READY = Pods(run_s=None, annotations={"queueing.test/start-seconds": "3"})
WAITING = {
    "waitForPodsReady": {
        "timeout": "6s",
        "blockAdmission": True,
        "requeuingStrategy": {
            "timestamp": "Eviction",
            "backoffLimitCount": 1,
            "backoffBaseSeconds": 1,
        },
    },
    "objectRetentionPolicies": {"workloads": {"afterDeactivatedByKueue": "1s"}},
}


@pytest.fixture(scope="module")
def waiting(installed: Cluster, residents: Residents) -> Iterator[Controller]:
    """Run one replica that waits for pods to be ready, and not for long."""
    residents.leave(installed)
    with launching(installed) as launch:
        yield launch("waiting", WAITING)


def evictions(workload: Object) -> dict[tuple[str, str], int]:
    """Return how often a Workload was evicted, by reason and underlying cause."""
    counted = workload.get("status", {}).get("schedulingStats", {}).get("evictions", [])
    return {(one["reason"], one["underlyingCause"]): one["count"] for one in counted}


def make_trees(space: World, cpu: str) -> None:
    """Make two ClusterQueues that share nothing, each with a LocalQueue of its name."""
    space.make(flavor(space.name("any")))
    for short in ("own", "other"):
        space.make(
            cluster_queue(space.name(short), {space.name("any"): {"cpu": cpu}}),
            local_queue(space.namespace, short, space.name(short)),
        )


def test_a_tree_whose_pods_start_late_admits_nobody_meanwhile_and_others_do(
    space: World, waiting: Controller
) -> None:
    make_trees(space, "4")
    space.make(job(space.namespace, "late", queue="own", pods=LATE_READY))
    wait_workload(space, "late", lambda one: holds(one, "Admitted"), "admitted")
    for queue in ("own", "other"):
        space.make(job(space.namespace, f"next-{queue}", queue=queue, pods=FOREVER))
    wait_job(space, "next-other", running, "running beside a tree that waits")
    wait_job(space, "next-own", running, "running once the pods of its tree are ready")
    ready = wait_workload(space, "late", lambda one: holds(one, "PodsReady"), "pods ready")
    since = condition(ready, "PodsReady")["lastTransitionTime"]
    admitted = {
        queue: condition(workload_of(space, f"next-{queue}"), "Admitted")["lastTransitionTime"]
        for queue in ("own", "other")
    }
    assert admitted["own"] >= since
    assert admitted["other"] < since


def test_a_job_whose_pods_never_start_is_tried_again_and_then_given_up(
    space: World, waiting: Controller
) -> None:
    make_trees(space, "1")
    space.make(job(space.namespace, "broken", queue="own", pods=NEVER_READY))
    wait_workload(space, "broken", lambda one: holds(one, "Admitted"), "admitted")
    space.make(job(space.namespace, "next", queue="own", pods=FOREVER))
    back = wait_workload(
        space,
        "broken",
        lambda one: condition(one, "Requeued").get("reason") == "PodsReadyTimeout",
        "evicted for its pods",
    )
    assert back["status"]["requeueState"]["count"] == 1
    unready = condition(back, "PodsReady")
    assert (unready["status"], unready["reason"]) == ("False", "WaitForStart")
    wait_job(space, "broken", stopped, "stopped")
    wait_job(space, "next", running, "running: the other queues behind its eviction")
    space.api.delete("Job", "next", space.namespace)
    given_up = ("Deactivated", "RequeuingLimitExceeded")
    done = wait_workload(space, "broken", lambda one: given_up in evictions(one), "given up")
    assert done["spec"]["active"] is False
    assert evictions(done) == {("PodsReadyTimeout", "WaitForStart"): 1, given_up: 1}
    # Left alone, the Job would be queued again when its Workload is gone.
    space.api.wait_gone("Job", "broken", space.namespace)
    space.api.wait_gone("Workload", done["metadata"]["name"], space.namespace)


def test_a_job_that_loses_a_pod_for_too_long_is_evicted_for_that(
    space: World, waiting: Controller
) -> None:
    make_trees(space, "1")
    # Kubernetes replaces a failed pod after ten seconds at the earliest.
    space.make(job(space.namespace, "unlucky", queue="own", pods=FAILING, backoffLimit=6))
    back = wait_workload(
        space,
        "unlucky",
        lambda one: condition(one, "Requeued").get("reason") == "PodsReadyTimeout",
        "evicted for its pods",
    )
    assert evictions(back) == {("PodsReadyTimeout", "WaitForRecovery"): 1}
    assert condition(back, "PodsReady")["reason"] == "WaitForStart"
