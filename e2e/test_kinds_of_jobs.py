"""The life of an object of every kind that is suspended, through the controller: it waits, runs, is
preempted, comes back as it was, and ends; nothing of it is left.

The kinds' own controllers do not run here: what they write into statuses is written by the tests.
"""

from collections.abc import Callable, Iterator

import pytest

from e2e import described
from e2e.api import condition, holds
from e2e.cluster import Cluster
from e2e.conftest import launching
from e2e.contended import make_contended_queue
from e2e.described import kind_name, name_of, seen, stored, written
from e2e.jobs import JOB_UID, owned_by, running, wait_job
from e2e.objects import QUEUE_NAME, Pods, job
from e2e.product import Residents
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World
from queueing.kinds.registry import JOB, kind_of
from tests.kinds.rows import ROWS, Row, at, loaded, sample, unplace

ALIVE = [row for row in ROWS if row.stopped_by == "suspension" and row.framework != JOB]
PODS_PRIORITY = "training"
PLENTY = ("cpu", "memory", "nvidia.com/gpu", "google.com/tpu")


def named(rows: list[Row]) -> list[str]:
    return [one.framework for one in rows]


@pytest.fixture(scope="module")
def queued(installed: Cluster, residents: Residents) -> Iterator[Cluster]:
    """Lend the cluster with a replica that queues all kinds, and their definitions."""
    residents.leave(installed)
    api = installed.api()
    priority = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 10}
    api.apply({**priority, "metadata": {"name": PODS_PRIORITY}})
    settings = {
        "integrations": {"frameworks": [JOB, *named(ALIVE)]},
        "featureGates": {"SparkApplicationIntegration": True},
    }
    with launching(installed) as launch:
        launch("kinds", settings)
        # After the start: kinds are taken up when their definitions appear.
        with described.served(api):
            yield installed
    api.delete("PriorityClass", PODS_PRIORITY)


@pytest.mark.parametrize("row", ALIVE, ids=named(ALIVE))
def test_an_object_waits_runs_is_preempted_comes_back_as_it_was_and_ends(
    queued: Cluster, space: World, row: Row
) -> None:
    make_queue(space, row)
    before = create(space, row)
    workload = wait_workload(space, before, lambda one: holds(one, "Admitted"), "admitted")
    assert_made_for(workload, before, row)
    started = wait_started(space, row)
    for place, name in zip(row.injected, row.pod_sets, strict=True):
        assert at(started, place)["kueue.x-k8s.io/podset"] == name, place

    play(space, row, row.statuses["ready"])
    wait_workload(space, before, lambda one: holds(one, "PodsReady"), "ready")
    play(space, row, row.statuses["active"])

    preempt(space, row)
    stopped = wait_suspended(space, row)
    if kind_of(row.framework).spec.suspend.restoration == "WithStop":
        assert written(stopped) == written(before)
    assert holds(workload_of(space, before), "QuotaReserved"), "pods still run"
    play(space, row, {})
    wait_job(space, "urgent", running, "running in its place")
    waiting = wait_workload(space, before, lambda one: not holds(one, "QuotaReserved"), "waiting")
    assert condition(waiting, "Evicted")["reason"] == "Preempted"
    assert written(stored(space, row)) == written(before)

    space.api.delete("Job", "urgent", space.namespace)
    wait_started(space, row)
    if "succeeded" in row.statuses:
        assert_ends(space, row, "succeeded")
        create(space, row)
        wait_started(space, row)
        assert_ends(space, row, "failed")
    else:  # it serves for ever
        delete(space, row)
        wait_nothing_left(space)


def test_a_ray_job_that_ray_refuses_leaves_its_quota_to_others(
    queued: Cluster, space: World
) -> None:
    (row,) = (one for one in ALIVE if one.framework == "ray.io/rayjob")
    make_queue(space, row)
    thing = create(space, row)
    wait_started(space, row)
    play(space, row, {"jobDeploymentStatus": "ValidationFailed"})
    held = wait_workload(space, thing, lambda one: not holds(one, "QuotaReserved"), "on hold")
    told = condition(held, "QuotaReserved")
    assert (told["reason"], told["message"]) == ("OnHold", "Job is on hold")
    pods = Pods(run_s=0)
    space.make(job(space.namespace, "next", queue="team", parallelism=3, pods=pods))
    wait_job(space, "next", lambda one: holds(one, "Complete"), "complete")
    play(space, row, {"jobDeploymentStatus": ""})
    wait_workload(space, thing, lambda one: holds(one, "Admitted"), "admitted again")
    wait_started(space, row)


def assert_ends(space: World, row: Row, outcome: str) -> None:
    """Let an object end, and see that its Workload says so, and that nothing is left of both."""
    play(space, row, row.statuses[outcome])
    thing = stored(space, row)
    done = wait_workload(space, thing, lambda one: holds(one, "Finished"), "finished")
    found = condition(done, "Finished")
    assert (found["reason"], found["message"]) == (outcome.capitalize(), row.messages[outcome])
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
    delete(space, row)
    wait_nothing_left(space)


def make_queue(space: World, row: Row) -> None:
    """Make a queue with quota for exactly one object."""
    quotas = {**dict.fromkeys(PLENTY, "1000Gi"), "pods": str(sum(row.pod_sets.values()))}
    make_contended_queue(space, quotas)


def create(space: World, row: Row) -> Object:
    thing = sample(row)
    unplace(thing)
    if row.related:
        space.api.apply(loaded(row.related))
    labels = {**thing["metadata"].get("labels", {}), QUEUE_NAME: "team"}
    kept = {key: thing["metadata"][key] for key in ("annotations",) if key in thing["metadata"]}
    metadata = {"name": name_of(row), "namespace": space.namespace, "labels": labels, **kept}
    return space.api.create({**thing, "metadata": metadata})


def preempt(space: World, row: Row) -> None:
    """Make a Job of a higher priority that needs all of the quota."""
    labels = {"kueue.x-k8s.io/priority-class": space.name("urgent")}
    space.make(
        job(
            space.namespace,
            "urgent",
            queue="team",
            labels=labels,
            parallelism=sum(row.pod_sets.values()),
            pods=Pods(run_s=None),
        )
    )


def play(space: World, row: Row, status: Object) -> None:
    """Write the status of an object, as its own controller does."""
    known = stored(space, row).get("status", {})
    change = {"status": {**dict.fromkeys(known), **status}}
    where = {"namespace": space.namespace, "subresource": "status"}
    space.api.patch(kind_name(row), name_of(row), change, **where)


def wait_started(space: World, row: Row) -> Object:
    return space.api.wait_one(
        kind_name(row),
        name_of(row),
        lambda one: not seen(row, one).suspended,
        namespace=space.namespace,
        what="unsuspended",
    )


def wait_suspended(space: World, row: Row) -> Object:
    return space.api.wait_one(
        kind_name(row),
        name_of(row),
        lambda one: seen(row, one).suspended,
        namespace=space.namespace,
        what="suspended",
    )


def workload_of(space: World, thing: Object) -> Object:
    uid = thing["metadata"]["uid"]
    return space.api.wait(
        "Workload",
        lambda found: any(owned_by(one, uid) for one in found),
        namespace=space.namespace,
        labels=f"{JOB_UID}={uid}",
        what="a Workload",
    )[0]


def wait_workload(
    space: World, thing: Object, until: Callable[[Object], bool], what: str
) -> Object:
    name = workload_of(space, thing)["metadata"]["name"]
    return space.api.wait_one("Workload", name, until, namespace=space.namespace, what=what)


def assert_made_for(workload: Object, thing: Object, row: Row) -> None:
    """See that a Workload has the names, the owner and the pod sets of its object."""
    kind = kind_of(row.framework)
    meta, name = workload["metadata"], thing["metadata"]["name"]
    assert meta["name"].startswith(f"{kind.name.lower()}-{name}-")
    (owner,) = meta["ownerReferences"]
    assert (owner["apiVersion"], owner["kind"]) == (kind.api_version, kind.name)
    assert owner["controller"]
    pod_sets = workload["spec"]["podSets"]
    assert {one["name"]: one["count"] for one in pod_sets} == row.pod_sets
    assert [one["name"] for one in pod_sets] == list(row.pod_sets)


def delete(space: World, row: Row) -> None:
    space.api.delete(kind_name(row), name_of(row), space.namespace)


def wait_nothing_left(space: World) -> None:
    space.api.wait(
        "Workload", lambda left: not left, namespace=space.namespace, what="no Workload left"
    )
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
