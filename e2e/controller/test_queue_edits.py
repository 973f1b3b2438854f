"""Queues are edited while Jobs run through them: nothing is lost, nothing stays held."""

from collections.abc import Sequence
from typing import Any

from e2e.api import condition, holds
from e2e.controller.shapes import NOMINAL_CPU, Cohorts
from e2e.jobs import running, stopped, wait_complete, wait_job
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import Controller
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World

JOBS = 60


def set_quota(space: World, queue: str, cpu: str) -> None:
    where = "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota"
    space.api.patch("ClusterQueue", queue, [{"op": "replace", "path": where, "value": cpu}])


def edit(space: World, queue: str, **spec: Any) -> None:
    space.api.patch("ClusterQueue", queue, {"spec": spec})


def wait_admitted(space: World, queue: str, want: int) -> None:
    space.api.wait_one(
        "ClusterQueue",
        queue,
        lambda one: one.get("status", {}).get("admittedWorkloads", 0) == want,
        what=f"{want} admitted Workloads in {queue}",
    )


def test_jobs_complete_while_quota_stop_policies_and_cohorts_change(
    space: World, controller: Controller
) -> None:
    queues = Cohorts(space, cohorts=2, queues=2)
    queues.make()
    first, second = queues.cluster_queue(0, 0), queues.cluster_queue(0, 1)
    other, last = queues.cluster_queue(1, 0), queues.cluster_queue(1, 1)
    jobs = list(queues.jobs(JOBS))
    for one in jobs[: JOBS // 2]:
        space.make(one)

    set_quota(space, first, "1")
    edit(space, other, stopPolicy="HoldAndDrain")
    space.api.wait_one(
        "ClusterQueue",
        other,
        lambda one: condition(one, "Active").get("reason") == "Stopped",
        what="stopped",
    )
    wait_admitted(space, other, 0)
    edit(space, second, cohortName=queues.cohort(1))
    for one in jobs[JOBS // 2 :]:
        space.make(one)
    space.api.patch(
        "LocalQueue", "q-1-1", {"spec": {"stopPolicy": "Hold"}}, namespace=space.namespace
    )
    edit(space, last, stopPolicy="Hold")
    set_quota(space, first, str(2 * NOMINAL_CPU))
    edit(space, second, cohortName=None)
    edit(space, other, stopPolicy="None")
    edit(space, last, stopPolicy="None")
    space.api.patch(
        "LocalQueue", "q-1-1", {"spec": {"stopPolicy": "None"}}, namespace=space.namespace
    )
    edit(space, second, cohortName=queues.cohort(0))

    wait_complete(space, count=JOBS)
    wait_nothing_held(space.api, space.namespace, queues.names)


def test_a_stopped_queue_keeps_what_runs_and_a_drained_one_does_not(
    space: World, controller: Controller
) -> None:
    name = space.name("cq")
    space.make(
        flavor(space.name("any")),
        cluster_queue(name, {space.name("any"): {"cpu": "4"}}),
        local_queue(space.namespace, "team", name),
    )
    space.make(job(space.namespace, "first", queue="team", pods=Pods(run_s=None)))
    wait_job(space, "first", running, "running")
    edit(space, name, stopPolicy="Hold")
    space.api.wait_one(
        "ClusterQueue",
        name,
        lambda one: condition(one, "Active").get("status") == "False",
        what="not active",
    )
    space.make(job(space.namespace, "second", queue="team", pods=Pods(run_s=None)))
    space.api.wait_one(
        "ClusterQueue",
        name,
        lambda one: one.get("status", {}).get("pendingWorkloads") == 1,
        what="one Job waits",
    )
    assert running(space.api.get("Job", "first", space.namespace))
    edit(space, name, stopPolicy="HoldAndDrain")
    wait_job(space, "first", stopped, "stopped")
    wait_admitted(space, name, 0)
    edit(space, name, stopPolicy="None")
    wait_job(space, "first", running, "running again")
    wait_job(space, "second", running, "running")


def test_more_quota_starts_what_waits_and_less_stops_nothing_that_runs(
    space: World, controller: Controller
) -> None:
    name = space.name("cq")
    space.make(
        flavor(space.name("any")),
        cluster_queue(name, {space.name("any"): {"cpu": "1"}}),
        local_queue(space.namespace, "team", name),
    )
    for number in range(3):
        space.make(job(space.namespace, f"job-{number}", queue="team", pods=Pods(run_s=None)))

    def run(count: int) -> None:
        def enough(jobs: Sequence[Object]) -> bool:
            return sum(map(running, jobs)) == count

        space.api.wait("Job", enough, namespace=space.namespace, what=f"{count} Jobs run")

    run(1)
    set_quota(space, name, "2")
    run(2)
    set_quota(space, name, "0")
    # Queues are seen in the order of their changes: one made later works, so the edit was seen.
    later = space.name("later")
    space.make(
        cluster_queue(later, {space.name("any"): {"cpu": "1"}}),
        local_queue(space.namespace, "later", later),
        job(space.namespace, "later", queue="later"),
    )
    wait_job(space, "later", lambda one: holds(one, "Complete"), "complete")
    run(2)
    set_quota(space, name, "3")
    run(3)


def test_a_queue_that_joins_a_cohort_may_borrow_at_once(
    space: World, controller: Controller
) -> None:
    quota = {space.name("any"): {"cpu": "2"}}
    rich, poor = space.name("rich"), space.name("poor")
    space.make(
        flavor(space.name("any")),
        cluster_queue(rich, quota, cohort=space.name("all")),
        cluster_queue(poor, quota),
        local_queue(space.namespace, "team", poor),
    )
    space.make(job(space.namespace, "large", queue="team", parallelism=4, pods=Pods(run_s=None)))
    space.api.wait_one(
        "ClusterQueue", poor, lambda one: one.get("status", {}).get("pendingWorkloads") == 1
    )
    edit(space, poor, cohortName=space.name("all"))
    wait_job(space, "large", running, "running on borrowed quota")
    borrowed = space.api.wait_one(
        "ClusterQueue",
        poor,
        lambda one: one["status"]["flavorsUsage"][0]["resources"][0].get("borrowed") == "2",
        what="2 cpu borrowed",
    )
    assert borrowed["status"]["flavorsUsage"][0]["resources"][0]["total"] == "4"
