"""The mark by which pods are watched: what happens when somebody takes it away."""

from typing import Any

import pytest

from queueing.translate.labels import IS_GROUP_WORKLOAD, JOB_UID, MANAGED
from tests.controller.harness import KUEUE, MakeWorld, Wire, World, false, true
from tests.controller.pods.pod_harness import GROUP, ON, gated, member, phase, pod, setup

UNMARKED: Wire = {"metadata": {"labels": {MANAGED: None}}}
ELSEWHERE: dict[str, Any] = {
    "matchLabels": {"kubernetes.io/metadata.name": "elsewhere"},
}


def marked(one: Wire) -> bool:
    return bool(one["metadata"]["labels"].get(MANAGED) == "true")


async def lose_mark(w: World, name: str) -> None:
    """Take the mark of a pod away, and wait until it is there again."""
    before = await w.get("Pod", name)
    await w.patch("Pod", name, UNMARKED)

    def is_back(one: Wire) -> bool:
        changed = one["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"]
        return changed and marked(one)

    await w.until("Pod", name, is_back)


async def test_a_running_pod_that_loses_its_mark_holds_its_quota_until_it_ends(
    world: MakeWorld,
) -> None:
    async with world(**ON) as w:
        await w.make(*setup("1"), pod("first"))
        await w.until("Pod", "first", phase("Running"))
        await w.make(pod("second", seconds=1))
        await w.workload("second", false("QuotaReserved"))
        await lose_mark(w, "first")
        await w.event("was taken away, and is there again")
        assert true("QuotaReserved")(await w.workload("first", lambda _: True))
        assert gated(await w.get("Pod", "second"))
        await w.end_pod("first")
        await w.until("Pod", "second", phase("Succeeded"))
        for name in ("first", "second"):
            await w.until("Pod", name, lambda one: "finalizers" not in one["metadata"])


async def test_a_pod_that_waits_loses_its_mark_and_is_started_all_the_same(
    world: MakeWorld,
) -> None:
    async with world(**ON) as w:
        await w.make(*setup("0"), pod("one", seconds=1))
        await w.workload("one", false("QuotaReserved"))
        await lose_mark(w, "one")
        await w.patch("ClusterQueue", "cq", {"spec": setup("1")[1]["spec"]})
        await w.until("Pod", "one", phase("Succeeded"))


@pytest.mark.parametrize("what", ["mark", "group"])
async def test_a_group_keeps_a_member_that_loses_its_mark_or_the_name_of_the_group(
    world: MakeWorld, what: str
) -> None:
    async with world(**ON) as w:
        await w.make(*setup("2"), member("a", 2), member("b", 2))
        for name in ("a", "b"):
            await w.until("Pod", name, phase("Running"))
        await w.until("Workload", "crew", true("PodsReady"))
        if what == "mark":
            await lose_mark(w, "a")
            assert not true("WaitingForReplacementPods")(await w.get("Workload", "crew"))
            assert (await w.get("Pod", "a"))["status"]["phase"] == "Running"
        else:
            # It is of no role any more: the group is not what was admitted.
            await w.patch("Pod", "a", {"metadata": {"annotations": {GROUP: None}}})
            for name in ("a", "b"):
                await w.until_gone("Pod", name)
            await w.until_gone("Workload", "crew")


@pytest.mark.parametrize("alone", [True, False], ids=["by itself", "in a group"])
async def test_a_pod_that_lost_its_mark_while_nobody_led_is_found_by_its_workload(
    world: MakeWorld, *, alone: bool
) -> None:
    async with world(**ON) as w:
        await w.make(*setup("1"))
        lost = pod("one") if alone else member("one", 1, group="crew")
        del lost["metadata"]["labels"][MANAGED]
        await w.make(lost)
        uid = (await w.get("Pod", "one"))["metadata"]["uid"]
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "one", "uid": uid, "controller": alone}
        pod_set = {"name": "main", "count": 1, "template": {"spec": lost["spec"]}}
        await w.make(
            {
                "apiVersion": KUEUE,
                "kind": "Workload",
                "metadata": {
                    "name": "crew",
                    "namespace": "team",
                    "labels": {JOB_UID: uid} if alone else {},
                    "annotations": {} if alone else {IS_GROUP_WORKLOAD: "true"},
                    "ownerReferences": [owner],
                },
                "spec": {"queueName": "lq", "podSets": [pod_set]},
            }
        )
        await w.until("Pod", "one", marked)


async def test_marked_pods_of_namespaces_that_are_not_managed_are_left_alone(
    world: MakeWorld,
) -> None:
    async with world(managedJobsNamespaceSelector=ELSEWHERE, **ON) as w:
        made = [pod("alone"), member("a", 2), member("b", 2)]
        for one in made:
            del one["spec"]["schedulingGates"]
        await w.make(*setup(), *made)
        for one in made:
            await w.until("Pod", one["metadata"]["name"], phase("Running"))
        await w.patch("Pod", "alone", UNMARKED)
        for one in made:
            found = await w.get("Pod", one["metadata"]["name"])
            assert "deletionTimestamp" not in found["metadata"]
        assert await w.list("Workload") == []
        assert not marked(await w.get("Pod", "alone"))
