"""Groups of pods, on the embedded API server."""

from queueing.translate.labels import MANAGED
from tests.controller.harness import MakeWorld, Wire, World, false, job, true
from tests.controller.pods.pod_harness import (
    GROUP,
    ON,
    TOTAL,
    deleting,
    gated,
    member,
    phase,
    setup,
)

URGENT = {"kueue.x-k8s.io/priority-class": "high"}
WAITING = "WaitingForReplacementPods"


async def all_are(w: World, names: list[str], value: str) -> None:
    for name in names:
        await w.until("Pod", name, phase(value))


async def test_a_group_is_admitted_when_all_its_pods_are_there_and_ends_with_them(
    world: MakeWorld,
) -> None:
    async with world(**ON) as w:
        await w.make(*setup("4"), member("a", 3), member("b", 3))
        await w.event("has fewer runnable pods than expected: 2 of 3")
        assert await w.list("Workload") == []

        await w.make(member("c", 3, cpu="2"))
        workload = await w.until("Workload", "crew", true("Admitted"))
        meta = workload["metadata"]
        assert meta["annotations"]["kueue.x-k8s.io/is-group-workload"] == "true"
        assert {one["name"] for one in meta["ownerReferences"]} == {"a", "b", "c"}
        assert not any(one.get("controller") for one in meta["ownerReferences"])
        pod_sets = workload["spec"]["podSets"]
        assert sorted(one["count"] for one in pod_sets) == [1, 2]
        assert [one["name"] for one in pod_sets] == sorted(one["name"] for one in pod_sets)
        await all_are(w, ["a", "b", "c"], "Running")
        first = await w.get("Pod", "a")
        role = first["metadata"]["annotations"]["kueue.x-k8s.io/role-hash"]
        assert role == first["metadata"]["labels"]["kueue.x-k8s.io/podset"]
        await w.until("Workload", "crew", true("PodsReady"))

        def has_given_back(one: Wire) -> bool:
            free: list[Wire] = one.get("status", {}).get("reclaimablePods", [])
            return free == [{"name": role, "count": 2}]

        for name in ("a", "b"):
            await w.end_pod(name)
        await w.until("Workload", "crew", has_given_back)
        await w.end_pod("c")
        done = await w.until("Workload", "crew", true("Finished", "Succeeded"))
        (end,) = (c for c in done["status"]["conditions"] if c["type"] == "Finished")
        assert end["message"] == "Pods succeeded: 3/3."
        for name in ("a", "b", "c"):
            await w.until("Pod", name, lambda one: "finalizers" not in one["metadata"])


async def test_a_preempted_group_waits_for_other_pods_in_place_of_those_that_ran(
    world: MakeWorld,
) -> None:
    async with world(**ON) as w:
        await w.make(*setup("2"), member("a", 2), member("b", 2))
        await all_are(w, ["a", "b"], "Running")
        await w.make(job("urgent", cpu="2", seconds=5, labels=URGENT))
        await w.until("Workload", "crew", true(WAITING, "Preempted"))
        await w.until("Job", "urgent", true("Complete"))
        workload = await w.get("Workload", "crew")
        assert false("QuotaReserved")(workload)
        assert deleting(await w.get("Pod", "a"))

        await w.make(member("c", 2), member("d", 2))
        await all_are(w, ["c", "d"], "Running")
        assert false(WAITING)(await w.get("Workload", "crew"))
        for name in ("a", "b"):
            await w.until_gone("Pod", name)


async def test_a_failed_pod_is_replaced_while_the_others_run(world: MakeWorld) -> None:
    async with world(**ON) as w:
        failing = {"queueing.dev/simulate-failure": "true"}
        await w.make(*setup("2"), member("a", 2), member("b", 2, seconds=1, annotations=failing))
        await w.until("Workload", "crew", true(WAITING, "PodsFailed"))
        assert MANAGED in (await w.get("Pod", "b"))["metadata"]["finalizers"]
        await w.make(member("c", 2))
        await all_are(w, ["a", "c"], "Running")
        await w.until("Pod", "b", lambda one: "finalizers" not in one["metadata"])
        await w.until("Workload", "crew", false(WAITING))


async def test_a_pod_too_many_is_deleted(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await w.make(*setup("2"), member("a", 1))
        await w.until("Pod", "a", phase("Running"))
        await w.make(member("b", 1))
        await w.until_gone("Pod", "b")
        assert phase("Running")(await w.get("Pod", "a"))


async def test_a_group_that_may_not_be_retried_ends_when_its_pods_have(world: MakeWorld) -> None:
    async with world(**ON) as w:
        notes = {
            "queueing.dev/simulate-failure": "true",
            "kueue.x-k8s.io/retriable-in-group": "false",
        }
        await w.make(*setup("2"), *(member(one, 2, seconds=1, annotations=notes) for one in "ab"))
        done = await w.until("Workload", "crew", true("Finished", "Succeeded"))
        (end,) = (c for c in done["status"]["conditions"] if c["type"] == "Finished")
        assert end["message"] == "Pods succeeded: 0/2."


async def test_a_fast_group_begins_with_its_first_pod(world: MakeWorld) -> None:
    async with world(**ON) as w:
        notes = {"kueue.x-k8s.io/pod-group-fast-admission": "true"}
        await w.make(*setup("2"), member("a", 2, annotations=notes))
        await w.until("Pod", "a", phase("Running"))
        (pod_set,) = (await w.get("Workload", "crew"))["spec"]["podSets"]
        assert pod_set["count"] == 2
        await w.make(member("b", 2, annotations=notes))
        await w.until("Pod", "b", phase("Running"))


async def test_a_serving_group_never_ends(world: MakeWorld) -> None:
    async with world(**ON) as w:
        notes = {"kueue.x-k8s.io/pod-group-serving": "true"}
        await w.make(*setup("1"), member("a", 1, seconds=1, annotations=notes))
        await w.until("Pod", "a", phase("Succeeded"))
        await w.make(job("after", cpu="0", seconds=1))
        await w.workload("after", true("Finished"))
        assert not true("Finished")(await w.get("Workload", "crew"))


async def test_the_pods_of_a_group_go_with_its_workload(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await w.make(*setup("2"), member("a", 2), member("b", 2))
        await all_are(w, ["a", "b"], "Running")
        await w.delete("Workload", "crew")
        for kind, name in (("Pod", "a"), ("Pod", "b"), ("Workload", "crew")):
            await w.until_gone(kind, name)


async def test_a_group_all_of_whose_pods_are_deleted_is_over(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await w.make(*setup("2"), member("a", 2), member("b", 2))
        await all_are(w, ["a", "b"], "Running")
        for name in ("a", "b"):
            await w.delete("Pod", name)
        for kind, name in (("Pod", "a"), ("Pod", "b"), ("Workload", "crew")):
            await w.until_gone(kind, name)


async def test_a_group_that_cannot_be_one_says_which_field_is_wrong(world: MakeWorld) -> None:
    async with world(**ON) as w:
        mine = {"annotations": {"kueue.x-k8s.io/role-hash": "mine"}}
        other = {"kueue.x-k8s.io_queue-name": "other"}
        await w.make(
            *setup("2"),
            member("a", 2, "counts"),
            member("b", 3, "counts"),
            member("c", 2, "queues"),
            member("d", 2, "queues", **other),
            member("e", 2, "roles", **mine),
            member("f", 2, "roles", cpu="3", **mine),
            member("g", 1, "uncounted", annotations={TOTAL: "many"}),
        )
        await w.event("pods 'a' and 'b' has different 'kueue.x-k8s.io/pod-group-total-count'")
        await w.event("pods 'c' and 'd' has different queue names: lq!=other")
        await w.event("both the role 'mine' in metadata.annotations[kueue.x-k8s.io/role-hash]")
        await w.event("failed to extract 'kueue.x-k8s.io/pod-group-total-count' annotation")
        for name in "abcdefg":
            assert gated(await w.get("Pod", name))


async def test_a_workload_that_was_not_made_for_a_group_is_left_alone(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await w.make(*setup("2"), member("a", 1, "own"))
        made = await w.until("Workload", "own", true("Admitted"))
        taken = {
            "apiVersion": made["apiVersion"],
            "kind": "Workload",
            "metadata": {"name": "crew", "namespace": "team"},
            "spec": {"queueName": "lq", "podSets": made["spec"]["podSets"]},
        }
        await w.make(taken, member("b", 1))
        await w.event('A Workload named "crew" already exists but is not a pod group workload')
        assert gated(await w.get("Pod", "b"))
        assert GROUP in (await w.get("Pod", "b"))["metadata"]["annotations"]
