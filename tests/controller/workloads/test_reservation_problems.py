"""Reservations that contradict their surroundings: said on the Workload until put right."""

import copy

from tests.controller.harness import (
    FLAVOR,
    KUEUE,
    LOCAL_QUEUE,
    MakeWorld,
    Wire,
    World,
    cluster_queue,
    job,
    true,
)

AT = "2090-01-01T00:00:00Z"
"""Before then no pods are late."""
SOUND: Wire = {
    "name": "main",
    "count": 2,
    "flavors": {"cpu": "default"},
    "resourceUsage": {"cpu": "2"},
}


async def hold(world: World, name: str, queue: str, assignment: Wire | None = None) -> None:
    """Make a Workload of two pods, and write a reservation into its status."""
    containers = [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]
    pod_set = {"name": "main", "count": 2, "template": {"spec": {"containers": containers}}}
    await world.make(
        {
            "apiVersion": KUEUE,
            "kind": "Workload",
            "metadata": {"name": name, "namespace": "team"},
            "spec": {"queueName": "elsewhere", "podSets": [pod_set]},
        }
    )
    told = {"status": "True", "lastTransitionTime": AT, "message": "by hand"}
    status = {
        "admission": {
            "clusterQueue": queue,
            "podSetAssignments": [{**SOUND, **(assignment or {})}],
        },
        "conditions": [
            {"type": kind, "reason": kind, **told} for kind in ("QuotaReserved", "Admitted")
        ],
    }
    await world.patch("Workload", name, {"status": status}, "status")


def reservation(workload: Wire) -> tuple[str, str, str]:
    """Return since when quota is reserved, why that says so, and in which words."""
    [found] = [one for one in workload["status"]["conditions"] if one["type"] == "QuotaReserved"]
    return found["lastTransitionTime"], found["reason"], found["message"]


async def test_what_a_status_holds_wrongly_is_said_and_counted_as_it_stands(
    world: MakeWorld,
) -> None:
    wrong: dict[str, tuple[Wire, str]] = {
        "flavor": ({"flavors": {"cpu": "ghost"}}, "ClusterQueue cq has no cpu of flavor ghost"),
        "pods": ({"name": "ghost"}, "spec.podSets has no ghost"),
        "count": ({"count": 4, "resourceUsage": {"cpu": "4"}}, "4 pods hold quota"),
        "share": ({"resourceUsage": {"cpu": "2001m"}}, "is not a multiple of 2"),
        "amount": ({"resourceUsage": {"cpu": "-1"}}, "-1 must be greater than or equal to 0"),
    }
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("20"), LOCAL_QUEUE)
        await hold(w, "sound", "cq")
        for name, (assignment, _) in wrong.items():
            await hold(w, name, "cq", assignment)
        for name, (_, words) in wrong.items():
            found = await w.until("Workload", name, true("QuotaReserved", "Misconfigured"))
            since, _, message = reservation(found)
            assert (since, words in message) == (AT, True), message
        assert reservation(await w.get("Workload", "sound"))[1:] == ("QuotaReserved", "by hand")
        # 2 of the sound one, 2 of a pod set that is not asked for, 4, 2.001, and what is asked for.
        queue = await w.until("ClusterQueue", "cq", lambda one: _used(one) == "12001m")
        assert queue["status"]["reservingWorkloads"] == 6
        await w.make(job("beside"))
        await w.workload("beside", true("Admitted"))


def _used(queue: Wire) -> str:
    reserved = queue.get("status", {}).get("flavorsReservation", [])
    flavors = {one["name"]: one["resources"] for one in reserved}
    return next((str(one["total"]) for one in flavors.get("default", ())), "")


async def test_a_reservation_in_a_queue_that_is_gone_says_so_until_the_queue_is_back(
    world: MakeWorld,
) -> None:
    async with world() as w:
        await w.make(FLAVOR)
        await hold(w, "lost", "cq")
        found = await w.until("Workload", "lost", true("QuotaReserved", "Misconfigured"))
        assert "ClusterQueue cq doesn't exist" in reservation(found)[2]
        await w.make(cluster_queue("2"))
        found = await w.until("Workload", "lost", true("QuotaReserved", "QuotaReserved"))
        assert reservation(found) == (AT, "QuotaReserved", "Quota reserved in ClusterQueue cq")
        await w.until("ClusterQueue", "cq", lambda one: _used(one) == "2")
        await w.delete("ClusterQueue", "cq")
        await w.patch("ClusterQueue", "cq", {"metadata": {"finalizers": None}})
        await w.until("Workload", "lost", true("QuotaReserved", "Misconfigured"))


async def test_a_flavor_taken_off_its_queue_is_missed_by_those_who_hold_it(
    world: MakeWorld,
) -> None:
    async with world() as w:
        whole = cluster_queue("2")
        other = copy.deepcopy(whole)
        other["spec"]["resourceGroups"][0]["flavors"][0]["name"] = "other"
        await w.make(FLAVOR, whole, LOCAL_QUEUE, job("a"))
        await w.workload("a", true("Admitted"))
        await w.patch("ClusterQueue", "cq", {"spec": other["spec"]})
        found = await w.workload("a", true("QuotaReserved", "Misconfigured"))
        assert "ClusterQueue cq has no cpu of flavor default" in reservation(found)[2]
        await w.patch("ClusterQueue", "cq", {"spec": whole["spec"]})
        await w.workload("a", true("QuotaReserved", "QuotaReserved"))
        await w.until("ClusterQueue", "cq", lambda one: _used(one) == "1")
