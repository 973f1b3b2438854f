from datetime import UTC, datetime

import pytest

from queueing.controller.configuration import lease_settings, write_timeout_s
from queueing_api.config.load import from_document
from tests.controller.harness import (
    CONFIGURATION,
    FLAVOR,
    LOCAL_QUEUE,
    MakeWorld,
    Wire,
    World,
    cluster_queue,
    false,
    job,
    true,
)


def running(one: Wire) -> bool:
    return one["spec"]["suspend"] is False


async def reserve_late(w: World, workload: Wire) -> None:
    """Write what a leader of before decided, without looking at what is held by now."""
    now = datetime.fromtimestamp(w.clock.now(), UTC).isoformat(timespec="seconds")
    conditions = [
        {"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": now}
        for kind in ("QuotaReserved", "Admitted")
    ]
    assignment = {"name": "main", "count": 1, "flavors": {"cpu": "default"}}
    admission = {
        "clusterQueue": "cq",
        "podSetAssignments": [{**assignment, "resourceUsage": {"cpu": "1"}}],
    }
    body = {"status": {"admission": admission, "conditions": conditions}}
    await w.patch("Workload", workload["metadata"]["name"], body, "status")


async def test_a_late_reservation_that_breaks_the_tree_never_starts(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE, job("first"))
        await w.until("Job", "first", running)
        await w.make(job("late"))
        waiting = await w.workload("late", false("QuotaReserved"))
        await reserve_late(w, waiting)
        withdrawn = await w.workload("late", true("Evicted", "Preempted"))
        assert "earlier leader" in str(withdrawn["status"]["conditions"])
        await w.workload("late", false("QuotaReserved"))
        found = await w.get("Job", "late")
        assert found["spec"]["suspend"] is True
        assert "startTime" not in found.get("status", {}), "it never ran"
        assert running(await w.get("Job", "first"))
        await w.delete("Job", "first")
        await w.until("Job", "late", running)


async def test_a_late_reservation_for_which_there_is_room_starts(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("2", stopPolicy="Hold"), LOCAL_QUEUE, job("late"))
        waiting = await w.workload("late", false("QuotaReserved"))
        await reserve_late(w, waiting)
        await w.patch("ClusterQueue", "cq", {"spec": {"stopPolicy": "None"}})
        await w.until("Job", "late", running)


async def test_a_quota_cut_withdraws_nothing_that_this_leader_admitted(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("2"), LOCAL_QUEUE, job("first"), job("second"))
        for name in ("first", "second"):
            await w.until("Job", name, running)
        flavor = {"name": "default", "resources": [{"name": "cpu", "nominalQuota": "1"}]}
        group = {"coveredResources": ["cpu"], "flavors": [flavor]}
        await w.patch("ClusterQueue", "cq", {"spec": {"resourceGroups": [group]}})
        await w.patch("Job", "second", {"spec": {"suspend": True}})
        await w.until("Job", "second", running)
        assert not true("Evicted")(await w.workload("second", true("Admitted")))


@pytest.mark.parametrize(
    ("election", "write_s"),
    [
        pytest.param({}, 3.0, id="the usual lease of 15 s: decided 18 s after the last sign"),
        pytest.param({"leaseDuration": "137s", "renewDeadline": "107s"}, 10.0, id="a long lease"),
        pytest.param(
            {"leaseDuration": "5s", "renewDeadline": "4s", "retryPeriod": "500ms"},
            1.0,
            id="a short lease",
        ),
    ],
)
def test_a_write_lasts_for_a_part_of_the_lease(election: Wire, write_s: float) -> None:
    wanted = {"leaderElection": {"leaderElect": True, **election}}
    configuration = from_document({**CONFIGURATION, **wanted})
    assert write_timeout_s(configuration) == pytest.approx(write_s)
    assert lease_settings(configuration, "me").write_timeout_s == pytest.approx(write_s)
