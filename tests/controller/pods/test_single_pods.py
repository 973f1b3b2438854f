"""Pods that are queued by themselves, on the embedded API server."""

from collections.abc import Callable

import pytest

from queueing.translate.labels import MANAGED
from tests.controller.harness import MakeWorld, Wire, false, job, true
from tests.controller.pods.pod_harness import ON, deleting, gated, phase, pod, setup

URGENT = {"kueue.x-k8s.io/priority-class": "high"}


async def test_a_pod_waits_for_quota_runs_and_ends(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await w.make(*setup("1"), pod("first"))
        first = await w.until("Pod", "first", phase("Running"))
        await w.make(pod("second", seconds=1))
        meta, spec = first["metadata"], first["spec"]
        assert spec["nodeSelector"] == {"pool": "any"}
        assert {"key": "t", "operator": "Exists"} in spec["tolerations"]
        assert meta["labels"]["kueue.x-k8s.io/podset"] == "main"
        workload = await w.workload("first", true("PodsReady"))
        assert workload["metadata"]["name"].startswith("pod-first-")
        assert meta["annotations"]["kueue.x-k8s.io/workload"] == workload["metadata"]["name"]
        (pod_set,) = workload["spec"]["podSets"]
        assert (pod_set["name"], pod_set["count"]) == ("main", 1)
        assert "metadata" not in pod_set["template"]
        waiting = await w.workload("second", false("QuotaReserved"))
        assert gated(await w.get("Pod", "second")), waiting

        await w.end_pod("first")
        await w.workload("first", true("Finished", "Succeeded"))
        await w.until("Pod", "second", phase("Succeeded"))
        for name in ("first", "second"):
            await w.until("Pod", name, lambda one: "finalizers" not in one["metadata"])


async def test_the_workload_of_a_pod_holds_all_that_the_pod_has(world: MakeWorld) -> None:
    """Kueue compares containers in full, and makes templates of it that must be valid."""
    token = {"name": "kube-api-access-x7k2p"}
    given = {
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [{**token, "mountPath": "/var/run"}],
    }
    made = pod("one")
    (container,) = made["spec"]["containers"]
    made["spec"] |= {
        "volumes": [{**token, "emptyDir": {}}],
        "containers": [{**container, **given}],
        "initContainers": [{**given, "name": "first", "image": "x"}],
        "schedulerName": "default-scheduler",
    }
    async with world(**ON) as w:
        await w.make(*setup("0"), made)
        await w.workload("one", of_pod(await w.get("Pod", "one")))
        await w.patch(
            "Pod", "one", {"spec": {"containers": [{**container, **given, "image": "y"}]}}
        )
        await w.workload("one", of_pod(await w.get("Pod", "one")))


def of_pod(one: Wire) -> Callable[[Wire], bool]:
    """Say whether the template of a Workload is a pod, but for its gates."""
    return lambda workload: (
        {**workload["spec"]["podSets"][0]["template"]["spec"], "schedulingGates": None}
        == {**one["spec"], "schedulingGates": None}
    )


async def test_the_workload_of_a_pod_that_fails_says_so(world: MakeWorld) -> None:
    async with world(**ON) as w:
        failing = {"queueing.dev/simulate-failure": "true"}
        await w.make(*setup(), pod("bad", seconds=1, annotations=failing))
        await w.workload("bad", true("Finished", "Failed"))


async def test_quota_of_a_preempted_pod_is_free_when_it_has_ended(world: MakeWorld) -> None:
    async with world(**ON) as w:
        draining = {"queueing.dev/simulate-drain-seconds": "20"}
        await w.make(*setup("1"), pod("victim", annotations=draining))
        await w.until("Pod", "victim", phase("Running"))
        await w.make(job("urgent", labels=URGENT))
        victim = await w.until("Pod", "victim", deleting)
        (target,) = (c for c in victim["status"]["conditions"] if c["type"] == "TerminationTarget")
        assert target["reason"] == "WorkloadEvictedDueToPreempted"
        evicted = await w.workload("victim", true("Evicted", "Preempted"))
        assert true("QuotaReserved")(evicted)
        assert (await w.get("Job", "urgent"))["spec"]["suspend"]
        await w.until("Job", "urgent", lambda one: not one["spec"]["suspend"])
        await w.until_gone("Pod", "victim")
        await w.until_gone("Workload", evicted["metadata"]["name"])


@pytest.mark.parametrize("running", [True, False], ids=["that runs", "that waits"])
async def test_a_pod_goes_with_its_workload(world: MakeWorld, running: bool) -> None:
    async with world(**ON) as w:
        await w.make(*setup("1" if running else "0"), pod("one"))
        if running:
            await w.until("Pod", "one", phase("Running"))
        workload = await w.workload("one", true("PodsReady") if running else lambda _: True)
        await w.delete("Workload", workload["metadata"]["name"])
        await w.until_gone("Pod", "one")
        await w.until_gone("Workload", workload["metadata"]["name"])


@pytest.mark.parametrize("held", [True, False], ids=["with our finalizer", "without"])
async def test_the_workload_of_a_deleted_pod_goes(world: MakeWorld, held: bool) -> None:
    async with world(**ON) as w:
        await w.make(*setup(), pod("one", finalizers=(MANAGED,) if held else ()))
        await w.until("Pod", "one", phase("Running"))
        workload = await w.workload("one", true("Admitted"))
        await w.delete("Pod", "one")
        await w.until_gone("Pod", "one")
        await w.until_gone("Workload", workload["metadata"]["name"])


async def test_labels_that_are_asked_for_are_copied_into_the_workload(world: MakeWorld) -> None:
    copying = {**ON["integrations"], "labelKeysToCopy": ["team"]}
    async with world(integrations=copying) as w:
        await w.make(*setup("1"), pod("one", team="vision"))
        found = await w.workload("one", true("Admitted"))
        assert found["metadata"]["labels"]["team"] == "vision"


async def test_pods_are_left_alone_where_they_are_not_queued(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(*setup(), pod("one"), job("after", seconds=1))
        await w.workload("after", true("Finished"))
        assert gated(await w.get("Pod", "one"))


async def test_a_pod_of_something_that_is_queued_in_its_place_is_let_go(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await w.make(*setup("1"), job("above", managedBy="example.com/another"))
        above = await w.get("Job", "above")
        middle = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "rs"}
        owner = {"apiVersion": "batch/v1", "kind": "Job", "uid": above["metadata"]["uid"]}
        below = pod("below")
        below["metadata"]["ownerReferences"] = [
            middle,
            {**owner, "name": "above", "controller": True},
        ]
        await w.make(below)
        free = await w.until("Pod", "below", lambda one: not gated(one))
        assert "finalizers" not in free["metadata"]
        assert MANAGED not in free["metadata"]["labels"]


async def test_a_pod_whose_gate_somebody_else_removes_is_deleted(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await w.make(*setup("0"), pod("hasty"))
        await w.workload("hasty", lambda _: True)
        await w.patch("Pod", "hasty", {"spec": {"schedulingGates": None}})
        await w.until_gone("Pod", "hasty")
