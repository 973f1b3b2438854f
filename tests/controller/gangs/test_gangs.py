from collections.abc import Callable

import pytest

from queueing.apiserver.memory.writes import DeleteOptions
from queueing.apiserver.server import Fault
from queueing.apiserver.wire.call import HttpRequest
from tests.controller.gangs.gang_harness import (
    GANG,
    ON_FAILURE,
    QUEUE,
    SIZE,
    STATE,
    GangWorld,
    conditions,
    gang_world,
    is_over,
    member,
)
from tests.controller.harness import LOCAL_QUEUE, Wire, cluster_queue, false, job, true

NAMES = ("a", "b", "c")
PREEMPTING = {"withinClusterQueue": "LowerPriority"}
HIGH: Wire = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "WorkloadPriorityClass",
    "metadata": {"name": "high"},
    "value": 100,
}


def suspended(one: Wire) -> bool:
    return bool(one["spec"]["suspend"])


def running(one: Wire) -> bool:
    return not one["spec"]["suspend"]


def state(one: Wire) -> str:
    return str(one["metadata"]["annotations"].get(STATE, ""))


def as_it_came(one: Wire) -> bool:
    """Say whether a template carries nothing of an admission."""
    pods = one["spec"]["template"]
    return (
        suspended(one)
        and pods["spec"]["nodeSelector"] == {"disk": "ssd"}
        and "tolerations" not in pods["spec"]
        and pods["metadata"]["annotations"] == {"own": "1"}
    )


def only(w: GangWorld, holds: Callable[[Wire], bool]) -> Callable[[], bool]:
    """Say whether there is one Workload of which something holds."""
    return lambda: len(w.guard.workloads) == 1 and holds(w.workload_now())


async def test_a_gang_starts_together_and_ends_as_one(definitions: list[Wire]) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:
        await w.make(*(member(name) for name in NAMES))
        await w.eventually(w.all(running))
        assert [one for one in w.writes if "PATCH team/jobs" in one] == [
            f"PATCH team/jobs/{name}" for name in NAMES
        ]
        for one in w.guard.jobs.values():
            assert one["spec"]["template"]["spec"]["nodeSelector"]["pool"] == "any"
        for name in NAMES:
            await w.finish(name)
        await w.eventually(only(w, true("Finished", "Succeeded")))
        assert {one["name"] for one in w.workload_now()["spec"]["podSets"]} == set(NAMES)
        await w.eventually(lambda: not w.workload_now()["metadata"].get("finalizers"))


async def test_a_gang_that_does_not_fit_as_a_whole_starts_nothing(definitions: list[Wire]) -> None:
    async with gang_world(definitions, cluster_queue("2"), LOCAL_QUEUE) as w:
        await w.make(*(member(name) for name in NAMES))
        await w.make(job("single", seconds=2))
        await w.workload("single", true("Finished"))
        assert [one["metadata"]["name"] for one in w.guard.jobs.values() if running(one)] == [
            "single"
        ]


async def test_an_incomplete_gang_says_so_and_starts_when_it_is_complete(
    definitions: list[Wire],
) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:
        await w.make(member("a"), member("b", suspend=False, labels={QUEUE: "lq"}))
        await w.eventually(lambda: suspended(w.guard.jobs["b"]))
        w.guard.violations.clear()  # nobody but us could have stopped `b` before it was seen
        await w.eventually(w.all(lambda one: state(one) == "Incomplete: 2 of 3 Jobs exist: a, b"))
        assert w.all(suspended)()
        assert w.guard.workloads == {}
        await w.make(member("c"))
        await w.eventually(w.all(lambda one: running(one) and not state(one)))


@pytest.mark.parametrize(
    ("third", "message"),
    [
        pytest.param(member("c", size="2"), "disagree on the gang-size", id="size"),
        pytest.param(member("c", labels={QUEUE: "other"}), "disagree on the queue", id="queue"),
        pytest.param(
            member("c", labels={"kueue.x-k8s.io/priority-class": "high"}),
            "disagree on the priority",
            id="priority",
        ),
    ],
)
async def test_disagreeing_jobs_each_say_why_they_wait(
    definitions: list[Wire], third: Wire, message: str
) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE, HIGH) as w:
        await w.make(member("a"), member("b"), third)
        await w.eventually(w.all(lambda one: message in state(one)))
        assert w.guard.workloads == {}
        assert w.all(suspended)()
        await told_on_each(w, "GangRefused", set(NAMES))
        await w.patch("Job", "c", {"metadata": {**agreeing(third)}})
        await w.eventually(w.all(lambda one: running(one) and not state(one)))


async def test_a_gang_of_which_no_workload_can_be_made_says_why_on_each_job(
    definitions: list[Wire],
) -> None:
    async with gang_world(definitions) as w:
        await w.make(*(member(name, labels={QUEUE: "Team_A"}) for name in NAMES))
        await told_on_each(w, "ErrWorkloadCompose", set(NAMES))
        assert w.all(suspended)()


async def told_on_each(w: GangWorld, reason: str, jobs: set[str]) -> None:
    """Wait until there is an event of a reason on each of these Jobs."""

    async def look() -> bool | None:
        events = [one for one in await w.list("Event") if one["reason"] == reason]
        told = {one["regarding"]["name"] for one in events if one["regarding"]["kind"] == "Job"}
        return True if jobs <= told else None

    assert await w.found(look), await w.list("Event")


def agreeing(third: Wire) -> Wire:
    """Return the metadata that makes the third Job agree with the others."""
    labels = dict.fromkeys(third["metadata"]["labels"], None) | {QUEUE: "lq", GANG: "g"}
    return {"labels": labels, "annotations": {SIZE: "3"}}


async def test_a_member_deleted_while_the_gang_runs_stops_all_of_it(
    definitions: list[Wire],
) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:
        await w.make(*(member(name) for name in NAMES))
        await w.eventually(only(w, true("PodsReady")))
        await w.delete("Job", "b")
        await w.eventually(lambda: len(w.guard.jobs) == 2 and w.all(as_it_came)())
        await told_on_each(w, "GangInterrupted", {"a", "c"})
        await w.eventually(lambda: w.guard.workloads == {})
        await w.until("ClusterQueue", "cq", lambda one: one["status"]["reservingWorkloads"] == 0)
        await w.make(member("d"))
        await w.eventually(lambda: len(w.guard.jobs) == 3 and w.all(running)())


@pytest.mark.parametrize("last", ["a", "b", "c"])
async def test_a_member_deleted_during_the_start_undoes_it(
    definitions: list[Wire], last: str
) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:

        def delete_at_the_first_start(call: HttpRequest) -> Fault | None:
            if call.method == "PATCH" and "/jobs/" in call.path and not call.dry_run:
                w.fault = lambda _: None
                resource = w.server.store.catalog.builtin("batch", "jobs")
                found = w.server.store.read(resource, "team", last)
                w.server.api.writes.delete(resource, found, DeleteOptions())
            return None

        w.fault = delete_at_the_first_start
        await w.make(*(member(name) for name in NAMES))
        await w.eventually(lambda: len(w.guard.jobs) == 2 and not w.guard.workloads)
        await w.eventually(w.all(as_it_came))


@pytest.mark.parametrize("dry", [True, False])
async def test_a_refused_member_keeps_or_stops_all_others(
    definitions: list[Wire], *, dry: bool
) -> None:
    refusal = Fault(status=422, reason="Invalid", message="denied by the house")
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:

        def refuse(call: HttpRequest) -> Fault | None:
            start = call.method == "PATCH" and call.path.endswith("/jobs/b")
            return refusal if start and call.dry_run is dry and b"false" in call.body else None

        w.fault = refuse
        await w.make(*(member(name) for name in NAMES))
        await w.eventually(only(w, false("Requeued", "GangInterrupted")))
        assert w.all(as_it_came)()
        found = w.workload_now()
        assert false("QuotaReserved")(found)
        assert found["status"]["requeueState"]["count"] == 1
        evicted = next(one for one in found["status"]["conditions"] if one["type"] == "Evicted")
        assert "Job b: denied by the house" in evicted["message"]
        started = [one for one in w.writes if "PATCH team/jobs" in one]
        assert not started if dry else started


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(drop=True), id="lost on its way"),
        pytest.param(Fault(drop=True, after=True), id="answer lost"),
        pytest.param(Fault(status=503), id="overload"),
        pytest.param(
            Fault(
                status=403,
                reason="Forbidden",
                message='jobs.batch "b" is forbidden: User "us" cannot patch resource "jobs"',
            ),
            id="a server that knows no roles yet",
        ),
        pytest.param(Fault(status=400, reason="BadRequest"), id="no dry run"),
    ],
)
async def test_a_start_that_meets_a_passing_fault_is_completed(
    definitions: list[Wire], fault: Fault
) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE, http=True) as w:
        left = [2]

        def fail_twice(call: HttpRequest) -> Fault | None:
            start = call.method == "PATCH" and "/jobs/" in call.path
            hit = start and (call.dry_run or fault.status != 400) and left[0] > 0
            left[0] -= hit
            return fault if hit else None

        w.fault = fail_twice
        await w.make(*(member(name) for name in NAMES))
        await w.eventually(only(w, true("PodsReady")))
        assert w.all(running)()
        assert "schedulingStats" not in w.workload_now()["status"], "it was evicted meanwhile"


async def test_a_preempted_gang_comes_back_as_one(definitions: list[Wire]) -> None:
    queue = cluster_queue("3", preemption=PREEMPTING)
    async with gang_world(definitions, queue, LOCAL_QUEUE, HIGH) as w:
        await w.make(*(member(name) for name in NAMES))
        await w.eventually(only(w, true("PodsReady")))
        urgent = job("urgent", labels={"kueue.x-k8s.io/priority-class": "high"})
        await w.make(urgent)
        await w.eventually(
            lambda: (
                all(as_it_came(w.guard.jobs[name]) for name in NAMES)
                and running(w.guard.jobs["urgent"])
            )
        )
        await w.finish("urgent")
        await w.eventually(lambda: is_over(w.guard.jobs["urgent"]))
        await w.eventually(lambda: all(running(w.guard.jobs[name]) for name in NAMES))
        found = await w.workload("a", true("PodsReady"))
        assert "Evicted" not in conditions(found)
        assert found["status"]["schedulingStats"]["evictions"][0]["reason"] == "Preempted"


async def test_a_failed_member_fails_the_gang(definitions: list[Wire]) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:
        failing = member("b", seconds=2, backoffLimit=0)
        failing["metadata"]["annotations"]["queueing.dev/simulate-failure"] = "true"
        await w.make(member("a"), failing, member("c"))
        await w.eventually(only(w, true("Finished", "Failed")))
        assert all(as_it_came(w.guard.jobs[name]) for name in ("a", "c"))
        await w.until("ClusterQueue", "cq", lambda one: one["status"]["reservingWorkloads"] == 0)


async def test_a_gang_may_go_on_without_a_failed_member(definitions: list[Wire]) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:
        go_on = {ON_FAILURE: "Continue"}
        failing = member("b", seconds=2, annotations=go_on, backoffLimit=0)
        failing["metadata"]["annotations"]["queueing.dev/simulate-failure"] = "true"
        others = [member(name, annotations=go_on) for name in ("a", "c")]
        await w.make(failing, *others)
        await w.eventually(
            only(
                w,
                lambda one: (
                    one.get("status", {}).get("reclaimablePods") == [{"name": "b", "count": 1}]
                ),
            )
        )
        assert all(running(w.guard.jobs[name]) for name in ("a", "c"))
        for name in ("a", "c"):
            await w.finish(name)
        await w.eventually(only(w, true("Finished", "Failed")))
        done = [one for one in w.guard.jobs.values() if "Complete" in conditions(one)]
        assert len(done) == 2


async def test_a_suspended_member_may_still_be_edited(definitions: list[Wire]) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:
        await w.make(*(member(name, cpu="2") for name in NAMES))
        await w.eventually(only(w, false("QuotaReserved")))
        container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}
        for name in NAMES:
            body = {"spec": {"template": {"spec": {"containers": [container]}}}}
            await w.patch("Job", name, body)
        await w.eventually(only(w, true("PodsReady")))
        assert w.all(running)()


async def test_a_job_that_waits_alone_can_be_given_to_a_gang(definitions: list[Wire]) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:
        alone = member("a", cpu="1", labels={GANG: None})
        alone["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "4"
        await w.make(alone, member("b", size="2"))
        await w.eventually(only(w, false("QuotaReserved")))
        body = {"metadata": {"labels": {GANG: "g"}, "annotations": {SIZE: "2"}}}
        await w.patch("Job", "a", body)
        await w.eventually(only(w, lambda one: len(one["spec"]["podSets"]) == 2))


async def test_a_member_that_leaves_a_running_gang_is_put_right_and_queues_alone(
    definitions: list[Wire],
) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:
        await w.make(*(member(name) for name in NAMES))
        await w.eventually(only(w, true("PodsReady")))
        await w.patch("Job", "b", {"metadata": {"labels": {GANG: None}}})
        await w.eventually(
            lambda: (
                all(as_it_came(w.guard.jobs[name]) for name in ("a", "c"))
                and running(w.guard.jobs["b"])
            )
        )
        own = w.workload_now()
        assert [one["name"] for one in own["metadata"]["ownerReferences"]] == ["b"]


async def test_a_deleted_workload_is_made_anew_after_all_members_stopped(
    definitions: list[Wire],
) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:
        await w.make(*(member(name) for name in NAMES))
        await w.eventually(only(w, true("PodsReady")))
        before = w.workload_now()["metadata"]
        await w.delete("Workload", before["name"])
        await w.eventually(
            only(w, lambda one: one["metadata"]["uid"] != before["uid"] and true("PodsReady")(one))
        )
        assert w.all(running)()
