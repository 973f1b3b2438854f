"""Several Jobs as one: together or not at all, whoever is deleted or killed in between."""

import itertools
import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from e2e.api import condition, holds
from e2e.cluster import Cluster
from e2e.gate import Gate
from e2e.jobs import running, stopped, wait_job, wait_workload, workload_of
from e2e.killing import finishes_through_a_kill, replica
from e2e.nodes import POOL
from e2e.objects import (
    PRIORITY_CLASS,
    Pods,
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload_priority,
)
from e2e.product import COMMAND, Controller
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World

GANG = "queueing.dev/gang"
SIZE = "queueing.dev/gang-size"
STATE = "queueing.dev/gang-state"
NAMES = ("a", "b", "c")
PREEMPTING = {"withinClusterQueue": "LowerPriority"}
ENDLESS = Pods(run_s=None)
HELD_S = 60.0
DRAIN_S = 40.0
ROUNDS_MAX = 20
# A start takes at least a creation, a status, three dry runs and three patches.
MANY_WRITES = 6
Done = Callable[[Sequence[Object]], bool]


def member(
    space: World,
    name: str,
    *,
    gang: str = "g",
    size: str = "3",
    labels: Mapping[str, str] | None = None,
    pods: Pods = ENDLESS,
) -> Object:
    given = {GANG: gang, **(labels or {})}
    made = job(space.namespace, name, queue="team", labels=given, pods=pods)
    made["metadata"]["annotations"] = {SIZE: size}
    return made


def make_queues(space: World) -> None:
    """Make room for one gang of three, with a flavor that changes their templates."""
    name = space.name("any")
    space.make(
        flavor(name, nodeLabels=POOL, tolerations=[{"operator": "Exists"}]),
        cluster_queue(space.name("cq"), {name: {"cpu": "3"}}, preemption=PREEMPTING),
        local_queue(space.namespace, "team", space.name("cq")),
    )


def templates(space: World) -> dict[str, Object]:
    jobs = space.api.items("Job", space.namespace)
    return {one["metadata"]["name"]: one["spec"]["template"] for one in jobs}


def wait_jobs(space: World, done: Done, what: str) -> list[Object]:
    return space.api.wait("Job", done, namespace=space.namespace, what=what)


def all_running(jobs: Sequence[Object]) -> bool:
    return len(jobs) == len(NAMES) and all(running(one) for one in jobs)


def all_as_before(before: dict[str, Object], count: int) -> Done:
    """Say whether so many Jobs are left, stopped, each with the template that it came with."""
    return lambda jobs: (
        len(jobs) == count
        and all(
            stopped(one) and one["spec"]["template"] == before[one["metadata"]["name"]]
            for one in jobs
        )
    )


def wait_no_workload(space: World) -> None:
    space.api.wait("Workload", lambda found: not found, namespace=space.namespace, what="none")


def test_three_jobs_start_together_and_one_deleted_during_the_start_stops_all(
    space: World, installed: Cluster, gate: Gate
) -> None:
    make_queues(space)
    with replica(gate, installed):
        # Workload, status, three dry runs and the first of three starts.
        gate.hold_after(6, counted(space))
        space.make(*(member(space, name) for name in NAMES))
        before = templates(space)
        assert gate.held.wait(HELD_S), gate.passed
        # What passed the gate may still be on its way into the server.
        wait_jobs(space, lambda jobs: sum(map(running, jobs)) == 1, "one of three started")
        jobs = space.api.items("Job", space.namespace)
        begun = [one["metadata"]["name"] for one in jobs if not one["spec"]["suspend"]]
        assert len(begun) == 1, gate.passed
        lost = next(name for name in NAMES if name not in begun)
        space.api.delete("Job", lost, space.namespace)
        gate.lift()
        wait_jobs(space, all_as_before(before, 2), "two Jobs as they came")
        wait_no_workload(space)
        wait_nothing_held(space.api, space.namespace, [space.name("cq")])
        space.make(member(space, "d"))
        wait_jobs(space, all_running, "all three running with the new one")
        workloads = space.api.items("Workload", space.namespace)
        assert [len(one["spec"]["podSets"]) for one in workloads] == [3]


@pytest.mark.parametrize(
    ("deleted", "propagation"),
    [
        pytest.param("b", "Background", id="one member"),
        pytest.param("b", "Foreground", id="one member after its pods"),
        pytest.param("abc", "Background", id="all members"),
    ],
)
def test_quota_of_a_gang_is_kept_until_the_pods_of_deleted_members_are_gone(
    space: World, controller: Controller, deleted: str, propagation: str
) -> None:
    make_queues(space)
    slow = Pods(run_s=None, drain_s=5)
    space.make(*(member(space, name, pods=slow if name in deleted else ENDLESS) for name in NAMES))
    wait_jobs(space, all_running, "all running")
    space.make(job(space.namespace, "next", queue="team", pods=Pods(cpu="3")))
    workload_of(space, "next")
    for name in deleted:
        space.api.delete("Job", name, space.namespace, propagation=propagation)
    wait_workload(space, "next", lambda one: holds(one, "QuotaReserved"), "admitted")
    assert pods_of(space, deleted) == [], "quota was given back while a pod was ending"
    wait_job(space, "next", lambda one: holds(one, "Complete"), "complete")
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def test_the_next_leader_keeps_quota_for_pods_whose_job_no_object_names(
    space: World, installed: Cluster, gate: Gate
) -> None:
    make_queues(space)
    slow = Pods(run_s=None, drain_s=DRAIN_S)
    with replica(gate, installed) as first:
        space.make(member(space, "a"), member(space, "b", pods=slow), member(space, "c"))
        wait_jobs(space, all_running, "all running")
        space.make(job(space.namespace, "next", queue="team", pods=Pods(cpu="3")))
        workload_of(space, "next")
        space.api.delete("Job", "b", space.namespace)
        space.api.wait(
            "Workload",
            lambda found: any(named_jobs(one) == {"a", "c"} for one in found),
            namespace=space.namespace,
            what="a Workload of the two Jobs that are left",
        )
        first.kill()
    with replica(gate, installed):
        assert pods_of(space, "b"), "the pods had ended before the next leader came"
        wait_workload(space, "next", lambda one: holds(one, "QuotaReserved"), "admitted")
        assert pods_of(space, "b") == [], "quota was given back while a pod was ending"


def pods_of(space: World, jobs: str) -> list[str]:
    found = space.api.items("Pod", space.namespace)
    return [
        one["metadata"]["name"]
        for one in found
        if one["metadata"]["labels"]["batch.kubernetes.io/job-name"] in jobs
    ]


def named_jobs(workload: Object) -> set[str]:
    return {owner["name"] for owner in workload["metadata"].get("ownerReferences", [])}


def test_a_controller_killed_between_any_two_writes_is_continued_by_the_next(
    space: World, installed: Cluster, gate: Gate
) -> None:
    make_queues(space)
    left = {"start", "undo"}
    for number in itertools.count():
        assert number < ROUNDS_MAX, "the phases never end"
        names = [f"{name}-{number}" for name in NAMES]
        gang = [member(space, name, gang=f"g-{number}") for name in names]
        before = {one["metadata"]["name"]: original(one) for one in gang}
        phases = (
            ("start", partial(space.make, *gang), partial(is_running, space)),
            (
                "undo",
                partial(delete_job, space, names[number % 3]),
                partial(is_undone, space, before),
            ),
        )
        for phase, act, done in phases:
            after = number if phase in left else None
            if not finishes_through_a_kill(
                space, gate, act, done, after=after, counted=counted(space)
            ):
                left.discard(phase)
        for name in names:
            delete_job(space, name)
        wait_jobs(space, lambda jobs: not jobs, "no Job")
        if not left:
            break
    assert number > MANY_WRITES
    with replica(gate, installed):
        wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def counted(space: World) -> str:
    """Return the pattern of what is written for a gang: neither events nor queues."""
    return f"/namespaces/{space.namespace}/(jobs|workloads)"


def delete_job(space: World, name: str) -> None:
    space.api.delete("Job", name, space.namespace)


def is_running(space: World) -> bool:
    workloads = space.api.items("Workload", space.namespace)
    ready = [holds(one, "PodsReady") for one in workloads]
    return ready == [True] and all_running(space.api.items("Job", space.namespace))


def is_undone(space: World, before: dict[str, Object]) -> bool:
    jobs = space.api.items("Job", space.namespace)
    return plain(jobs, before) and not space.api.items("Workload", space.namespace)


def original(one: Object) -> Object:
    template = one["spec"]["template"]
    return {
        "nodeSelector": template["spec"]["nodeSelector"],
        "annotations": template["metadata"].get("annotations") or {},
    }


def plain(jobs: Sequence[Object], before: dict[str, Object]) -> bool:
    return len(jobs) == 2 and all(
        stopped(one)
        and original(one) == before[one["metadata"]["name"]]
        and "tolerations" not in one["spec"]["template"]["spec"]
        for one in jobs
    )


def test_a_gang_is_preempted_and_readmitted_as_one(space: World, controller: Controller) -> None:
    make_queues(space)
    space.make(workload_priority(space.name("high"), 1000))
    space.make(*(member(space, name) for name in NAMES))
    before = templates(space)
    wait_jobs(space, all_running, "all running")
    urgent = job(
        space.namespace,
        "urgent",
        queue="team",
        pods=Pods(run_s=15),
        labels={PRIORITY_CLASS: space.name("high")},
    )
    space.make(urgent)
    wait_job(space, "urgent", running, "running")

    def gang_waits(jobs: Sequence[Object]) -> bool:
        return all_as_before(before, 3)([one for one in jobs if one["metadata"]["name"] in NAMES])

    wait_jobs(space, gang_waits, "the whole gang as it came")
    wait_job(space, "urgent", lambda one: holds(one, "Complete"), "complete")
    wait_jobs(
        space,
        lambda jobs: all_running([one for one in jobs if one["metadata"]["name"] in NAMES]),
        "the whole gang running again",
    )
    (gang,) = (
        one
        for one in space.api.items("Workload", space.namespace)
        if len(one["spec"]["podSets"]) == 3
    )
    evictions = gang["status"]["schedulingStats"]["evictions"]
    assert [(one["reason"], one["count"]) for one in evictions] == [("Preempted", 1)]
    assert condition(gang, "Preempted")["reason"] == "QuotaReserved"


@pytest.mark.parametrize(
    ("changed", "state"),
    [
        pytest.param({"size": "2"}, "Refused: the Jobs disagree on the gang-size", id="size"),
        pytest.param(
            {"labels": {PRIORITY_CLASS: "x"}}, "Refused: the Jobs disagree", id="priority"
        ),
        pytest.param(None, "Incomplete: 2 of 3 Jobs exist", id="never complete"),
    ],
)
def test_a_gang_that_cannot_be_says_why_on_each_job(
    space: World,
    installed: Cluster,
    controller: Controller,
    changed: dict[str, Any] | None,
    state: str,
) -> None:
    make_queues(space)
    space.make(member(space, "a"), member(space, "b"))
    if changed is not None:
        space.make(member(space, "c", **changed))
    wait_jobs(
        space,
        lambda jobs: all(
            one["metadata"]["annotations"].get(STATE, "").startswith(state) for one in jobs
        ),
        f"each Job {state}",
    )
    assert space.api.items("Workload", space.namespace) == []
    assert all(one["spec"]["suspend"] for one in space.api.items("Job", space.namespace))
    reason = f"Gang{state.partition(':')[0]}"
    space.api.wait(
        "Event",
        lambda events: any(
            one["reason"] == reason and one["involvedObject"]["name"] == "a" for one in events
        ),
        namespace=space.namespace,
        what=f"an Event {reason} about Job a",
    )
    assert reason in installed.kubectl("describe", "job", "a", "-n", space.namespace).stdout


def test_a_plan_of_the_live_cluster_takes_the_missing_job_for_the_gang_that_waits(
    space: World, installed: Cluster, controller: Controller
) -> None:
    make_queues(space)
    space.make(member(space, "a"), member(space, "b"))
    wait_jobs(
        space,
        lambda jobs: all(STATE in one["metadata"].get("annotations", {}) for one in jobs),
        "each Job says that the gang is incomplete",
    )

    def planned(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        """Plan on the cluster; the output is JSON."""
        command = [COMMAND[0], "plan", "--live", f"--kubeconfig={installed.kubeconfig()}"]
        return subprocess.run(
            [*command, "-o", "json", *arguments],
            input=text,
            capture_output=True,
            text=True,
            timeout=HELD_S,
            check=True,
        )

    told = f"gang {space.namespace}/g is incomplete, so its Jobs wait: 2 of 3 Jobs exist: a, b"
    assert told in planned().stderr
    plan = json.loads(planned("-f", "-", text=json.dumps(member(space, "c"))).stdout)
    (admitted,) = [
        one
        for each in plan["rounds"]
        for one in each["decisions"]
        if one["workload"].startswith(f"{space.namespace}/")
    ]
    assert admitted["action"] == "Admit"
    assert [one["name"] for one in admitted["podSetAssignments"]] == ["a", "b", "c"]
    assert space.api.items("Workload", space.namespace) == []
