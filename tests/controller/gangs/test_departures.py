"""Quota of a gang whose members are deleted while their pods still end."""

from typing import Any

import pytest

from tests.controller.gangs.gang_harness import (
    ON_FAILURE,
    GangWorld,
    conditions,
    gang_world,
    is_over,
    member,
    owner_uids,
)
from tests.controller.gangs.test_gangs import NAMES, only, running
from tests.controller.harness import LOCAL_QUEUE, Wire, cluster_queue, job, true

DRAIN_S = 150.0
"""Of the simulation, which runs fifty times as fast: three seconds, of which one is not watched."""


def slow(name: str, **more: Any) -> Wire:
    """Return a member whose pods take long to end."""
    made = member(name, **more)
    template = made["spec"]["template"]
    template["metadata"]["annotations"]["queueing.dev/simulate-drain-seconds"] = str(DRAIN_S)
    template["spec"]["terminationGracePeriodSeconds"] = int(2 * DRAIN_S)
    return made


async def start(w: GangWorld, *gang: Wire) -> None:
    """Have a gang run that uses all of the quota, and another Job wait for it."""
    await w.make(*gang)
    await w.eventually(only(w, true("PodsReady")))
    await w.make(job("next", cpu="3"))
    await w.eventually(lambda: len(w.guard.workloads) == 2)


def pods_of(w: GangWorld, *jobs: str) -> list[str]:
    """Return the pods of these Jobs that use anything: that run, or are being ended."""
    return [
        name
        for name, one in w.guard.pods.items()
        if name.rpartition("-")[0] in jobs
        and one.get("status", {}).get("phase") not in ("Succeeded", "Failed")
    ]


async def pods_left_when_the_next_starts(w: GangWorld) -> list[str]:
    """Wait until the quota is given away, and return what is left of the gang's pods then."""
    await w.eventually(lambda: running(w.guard.jobs["next"]))
    return pods_of(w, *NAMES)


def members_named(w: GangWorld) -> int:
    """Return how many Jobs the gang's Workload still names as its owners."""
    return max(
        (len(owner_uids(one)) for one in w.guard.workloads.values() if is_of_gang(one)), default=0
    )


def is_of_gang(workload: Wire) -> bool:
    return bool(workload["metadata"]["name"].startswith("gang-"))


async def test_quota_is_kept_until_the_pods_of_a_deleted_member_have_ended(
    definitions: list[Wire],
) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:
        await start(w, member("a"), slow("b"), member("c"))
        await w.delete("Job", "b")
        assert await pods_left_when_the_next_starts(w) == []


async def test_quota_is_kept_until_the_pods_of_all_members_have_ended_when_all_are_deleted(
    definitions: list[Wire],
) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:
        await start(w, *(slow(name) for name in NAMES))
        for name in NAMES:
            await w.delete("Job", name)
        assert await pods_left_when_the_next_starts(w) == []
        await w.eventually(lambda: not any(map(is_of_gang, w.guard.workloads.values())))


async def test_the_next_controller_knows_of_pods_whose_job_no_object_names_any_more(
    definitions: list[Wire],
) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:
        await start(w, member("a"), slow("b"), member("c"))
        await w.delete("Job", "b")
        await w.eventually(lambda: members_named(w) == 2)
        await w.restart()
        assert pods_of(w, "b"), "they ended before the next controller came"
        assert await pods_left_when_the_next_starts(w) == []


async def test_quota_is_kept_while_a_member_is_deleted_after_its_pods(
    definitions: list[Wire],
) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:
        await start(w, member("a"), slow("b"), member("c"))
        await w.delete("Job", "b", "Foreground")
        assert await pods_left_when_the_next_starts(w) == []


async def test_pods_that_were_left_behind_keep_no_quota(definitions: list[Wire]) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:
        await start(w, *(slow(name) for name in NAMES))
        for name in NAMES:
            await w.delete("Job", name, "Orphan")
        assert len(await pods_left_when_the_next_starts(w)) == 3
        w.guard.violations.clear()  # the server takes the Workload from a Job before it goes
        await w.eventually(lambda: not any(map(is_of_gang, w.guard.workloads.values())))


async def test_a_gang_that_is_made_anew_need_not_wait_for_pods_of_the_old_one(
    definitions: list[Wire],
) -> None:
    async with gang_world(definitions, cluster_queue("6"), LOCAL_QUEUE) as w:
        await w.make(*(slow(name) for name in NAMES))
        await w.eventually(only(w, true("PodsReady")))
        before = w.workload_now()["metadata"]["name"]
        for name in NAMES:
            await w.delete("Job", name)
        await w.make(*(member(name) for name in NAMES))
        await w.eventually(lambda: len(w.guard.jobs) == 3 and w.all(running)())
        assert before in w.guard.workloads, "its pods had ended before the others ran"
        await w.eventually(lambda: before not in w.guard.workloads)
        await w.eventually(only(w, true("PodsReady")))


async def test_a_member_that_ended_may_be_deleted_and_nothing_waits_for_it(
    definitions: list[Wire],
) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:
        await w.make(member("a"), member("b", seconds=10), member("c", seconds=90))
        await w.eventually(lambda: "b" in w.guard.jobs and is_over(w.guard.jobs["b"]))
        await w.eventually(only(w, lambda one: "reclaimablePods" in one["status"]))
        await w.delete("Job", "b")
        await w.eventually(lambda: is_over(w.guard.jobs["c"]))
        assert "Evicted" not in conditions(w.workload_now())
        await w.delete("Job", "a")
        await w.eventually(lambda: not w.guard.workloads)


@pytest.mark.parametrize("policy", ["Fail", "Continue"])
async def test_a_gang_that_ends_by_a_failure_waits_for_a_deleted_member(
    definitions: list[Wire], policy: str
) -> None:
    choice = {ON_FAILURE: policy}
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:
        failing = member("a", seconds=30, annotations=choice, backoffLimit=0)
        failing["metadata"]["annotations"]["queueing.dev/simulate-failure"] = "true"
        await start(w, failing, slow("b", annotations=choice), member("c", annotations=choice))
        await w.delete("Job", "b")
        assert await pods_left_when_the_next_starts(w) == []
