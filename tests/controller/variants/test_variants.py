"""Concurrent admission on a server: variants are made, one is admitted, and the others make way."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from queueing.apiserver.server import Fault
from queueing.apiserver.wire.call import HttpRequest
from tests.controller.harness import (
    FLAVOR,
    KUEUE,
    LOCAL_QUEUE,
    MakeWorld,
    Wire,
    World,
    cluster_queue,
    false,
    job,
    true,
)

GATED: Wire = {"featureGates": {"ConcurrentAdmission": True}}
HOSTNAME = "kubernetes.io/hostname"
FLAVORS = ("best", "good", "poor")
PARENT = "kueue.x-k8s.io/concurrent-admission-parent"
ALLOWED = "kueue.x-k8s.io/workload-allowed-resource-flavors"


def flavors() -> list[Wire]:
    return [{**FLAVOR, "metadata": {"name": one}} for one in FLAVORS]


def queue(quotas: dict[str, str], mode: str = "TryPreferredFlavors", **spec: Any) -> Wire:
    group = {
        "coveredResources": ["cpu"],
        "flavors": [
            {"name": one, "resources": [{"name": "cpu", "nominalQuota": quotas[one]}]}
            for one in quotas
        ],
    }
    policy: Wire = {"migration": {"mode": mode}}
    return cluster_queue(resourceGroups=[group], concurrentAdmissionPolicy=policy, **spec)


async def family(w: World, name: str) -> tuple[Wire, dict[str, Wire]]:
    """Return the Workload of a Job, and its variants by flavor."""
    found = await w.list("Workload")
    (parent,) = [one for one in found if one["metadata"]["ownerReferences"][0]["name"] == name]
    uid = parent["metadata"]["uid"]
    mine = [one for one in found if one["metadata"]["ownerReferences"][0]["uid"] == uid]
    return parent, {one["metadata"]["annotations"][ALLOWED]: one for one in mine}


def runs(one: Wire) -> bool:
    return not one["spec"]["suspend"] and one.get("status", {}).get("active", 0) > 0


def by(flavor: str) -> Callable[[Wire], bool]:
    """Say whether a Workload is admitted in a flavor."""

    def holds(one: Wire) -> bool:
        admission = one.get("status", {}).get("admission") or {}
        given = [each["flavors"]["cpu"] for each in admission.get("podSetAssignments", [])]
        return true("Admitted")(one) and given == [flavor]

    return holds


async def until_runs(w: World, name: str, flavor: str) -> None:
    await w.workload(name, by(flavor))
    await w.until("Job", name, runs)


async def test_a_job_runs_by_the_most_favorable_variant_that_fits(world: MakeWorld) -> None:
    quotas = {"best": "1", "good": "4", "poor": "4"}
    async with world(**GATED) as w:
        await w.make(*flavors(), queue(quotas), LOCAL_QUEUE, job("a", cpu="2"))
        await until_runs(w, "a", "good")
        parent, variants = await family(w, "a")
        assert parent["metadata"]["labels"][PARENT] == "true"
        assert set(variants) == set(FLAVORS)
        good = variants["good"]
        assert parent["status"]["admission"] == good["status"]["admission"]
        told = f"The variant {good['metadata']['name']} is admitted"
        said = {one["type"]: one["message"] for one in parent["status"]["conditions"]}
        assert (said["QuotaReserved"], said["Admitted"]) == (told, told)
        name = variants["poor"]["metadata"]["name"]
        await w.until("Workload", name, lambda one: not one["spec"]["active"])
        assert (await w.get("Workload", variants["best"]["metadata"]["name"]))["spec"]["active"]


async def test_a_job_moves_to_a_better_flavor_when_its_quota_is_free(
    world: MakeWorld,
) -> None:
    quotas = {"best": "2", "good": "2"}
    async with world(**GATED) as w:
        await w.make(*flavors(), queue(quotas), LOCAL_QUEUE, job("first", cpu="2"))
        await until_runs(w, "first", "best")
        await w.make(job("second", cpu="2"))
        await until_runs(w, "second", "good")
        _, variants = await family(w, "second")
        await w.delete("Job", "first")
        await until_runs(w, "second", "best")
        left = await w.until(
            "Workload", variants["good"]["metadata"]["name"], false("QuotaReserved")
        )
        assert true("Evicted", "FlavorMigration")(left) or true("Evicted", "Deactivated")(left)
        await w.event("due to migration to more favorable resource flavor")
        parent, _ = await family(w, "second")
        assert true("Admitted")(parent)


async def test_nothing_is_left_charged_when_a_job_has_ended(world: MakeWorld) -> None:
    quotas = {"best": "2", "good": "2"}
    async with world(**GATED) as w:
        await w.make(*flavors(), queue(quotas), LOCAL_QUEUE, job("a", cpu="2", seconds=1))
        await w.until("Job", "a", true("Complete"))
        for one in (await family(w, "a"))[1].values():
            done = await w.until("Workload", one["metadata"]["name"], true("Finished"))
            assert true("Finished", "Succeeded")(done)
        empty = lambda one: one.get("status", {}).get("reservingWorkloads", 1) == 0  # noqa: E731
        await w.until("ClusterQueue", "cq", empty)
        await w.delete("Job", "a")
        for one in await w.list("Workload"):
            await w.until_gone("Workload", one["metadata"]["name"])


async def test_the_first_admission_stays_where_a_queue_retains_it(world: MakeWorld) -> None:
    quotas = {"best": "2", "good": "2"}
    async with world(**GATED) as w:
        await w.make(
            *flavors(), queue(quotas, "RetainFirstAdmission"), LOCAL_QUEUE, job("first", cpu="2")
        )
        await w.until("Job", "first", runs)
        await w.make(job("second", cpu="2"))
        await w.until("Job", "second", runs)
        _, variants = await family(w, "second")
        best = variants["best"]["metadata"]["name"]
        await w.until("Workload", best, lambda one: not one["spec"]["active"])
        await w.event("RetainFirstAdmission: another Variant")


async def make_with_check(
    w: World, quotas: dict[str, str], *objects: Wire, on: tuple[str, ...] = ()
) -> None:
    """Make flavors, a queue with an admission check `on` some or all of them, and more."""
    check = {
        "apiVersion": KUEUE,
        "kind": "AdmissionCheck",
        "metadata": {"name": "provision"},
        "spec": {"controllerName": "example.com/provision"},
    }
    active = {"type": "Active", "status": "True", "reason": "Up", "message": ""}
    active["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    strategy = {"admissionChecks": [{"name": "provision", "onFlavors": list(on)}]}
    await w.make(check)
    await w.patch("AdmissionCheck", "provision", {"status": {"conditions": [active]}}, "status")
    await w.make(*flavors(), queue(quotas, admissionChecksStrategy=strategy), LOCAL_QUEUE)
    await w.make(*objects)


async def test_what_a_check_of_the_variant_adds_to_pods_is_added_to_those_of_the_job(
    world: MakeWorld,
) -> None:
    async with world(**GATED) as w:
        await make_with_check(w, {"best": "1", "good": "2"}, job("a", cpu="2"))
        parent = await w.workload("a", lambda _: True)
        name = parent["metadata"]["name"]
        good = await w.workload(name, true("QuotaReserved"))
        update = {"name": "main", "annotations": {"example.com/provision": "done"}}
        state = {**good["status"]["admissionChecks"][0], "state": "Ready"}
        told = {"status": {"admissionChecks": [{**state, "podSetUpdates": [update]}]}}
        await w.patch("Workload", good["metadata"]["name"], told, "status")
        started = await w.until("Job", "a", runs)
        notes = started["spec"]["template"]["metadata"]["annotations"]
        assert notes["example.com/provision"] == "done"


async def answer(w: World, name: str, state: str) -> None:
    """Answer the check of a variant."""
    found = await w.until("Workload", name, true("QuotaReserved"))
    told = {**found["status"]["admissionChecks"][0], "state": state}
    await w.patch("Workload", name, {"status": {"admissionChecks": [told]}}, "status")


def is_tried_again(one: Wire) -> bool:
    states = one["status"].get("admissionChecks", [])
    retried = [(each["state"], each.get("retryCount")) for each in states] == [("Pending", 1)]
    return retried and true("QuotaReserved")(one)


async def test_a_job_is_moved_to_a_better_flavor_only_when_the_checks_there_are_ready(
    world: MakeWorld,
) -> None:
    async with world(**GATED) as w:
        await make_with_check(w, {"best": "2", "good": "2"}, job("a", cpu="2"), on=("best",))
        await until_runs(w, "a", "good")
        variants = (await family(w, "a"))[1]
        best = variants["best"]["metadata"]["name"]
        await answer(w, best, "Retry")
        await w.until("Workload", best, is_tried_again)
        good = await w.get("Workload", variants["good"]["metadata"]["name"])
        assert true("Admitted")(good)
        assert not true("Evicted")(good)
        await answer(w, best, "Ready")
        await until_runs(w, "a", "best")


async def test_a_variant_that_waits_for_a_check_reserves_for_the_pods_that_are_asked_for_now(
    world: MakeWorld,
) -> None:
    async with world(**GATED) as w:
        await make_with_check(w, {"best": "1", "good": "8"}, job("a", cpu="2", completions=6))
        name = (await w.workload("a", lambda _: True))["metadata"]["name"]
        good = (await w.workload(name, true("QuotaReserved")))["metadata"]["name"]
        await w.patch("Job", "a", {"spec": {"parallelism": 3}})

        def reserves_for_three(one: Wire) -> bool:
            admission = one.get("status", {}).get("admission") or {}
            counts = [each["count"] for each in admission.get("podSetAssignments", [])]
            return counts == [3]

        found = await w.until("Workload", good, reserves_for_three)
        assert found["spec"]["podSets"][0]["count"] == 3
        await w.event("The parent asks for other pods than quota was reserved for")


async def make_node(w: World, name: str) -> None:
    meta = {"name": name, "labels": {HOSTNAME: name, "pool": "all", "disk": "ssd"}}
    await w.make({"apiVersion": "v1", "kind": "Node", "metadata": meta})
    ready = {"type": "Ready", "status": "True"}
    status = {"conditions": [ready], "allocatable": {"cpu": "4", "pods": "9"}}
    await w.patch("Node", name, {"status": status}, "status")


def hosts(one: Wire) -> list[str]:
    """Return the nodes that the pods of an admitted Workload were given."""
    (held,) = one["status"]["admission"]["podSetAssignments"]
    (part,) = held["topologyAssignment"]["slices"]
    (values,) = part["valuesPerLevel"]
    return [values["universal"]] if "universal" in values else values["individual"]["roots"]


async def test_a_job_gets_the_places_that_its_variant_is_given_for_those_on_a_failed_node(
    world: MakeWorld,
) -> None:
    levels = [{"nodeLabel": HOSTNAME}]
    topology = {"apiVersion": KUEUE, "kind": "Topology", "metadata": {"name": "hosts"}}
    placing = {"topologyName": "hosts", "nodeLabels": {"pool": "all"}}
    best = {**FLAVOR, "metadata": {"name": "best"}, "spec": placing}
    async with world(**GATED) as w:
        await make_node(w, "n1")
        await make_node(w, "n2")
        await w.make({**topology, "spec": {"levels": levels}}, best)
        await w.make(queue({"best": "4"}), LOCAL_QUEUE, job("a", cpu="2"))
        await until_runs(w, "a", "best")
        parent, _ = await family(w, "a")
        (lost,) = hosts(parent)
        (other,) = {"n1", "n2"} - {lost}
        await w.delete("Node", lost)
        moved = await w.workload("a", lambda one: hosts(one) == [other])
        assert not true("Evicted")(moved)
        assert hosts((await family(w, "a"))[1]["best"]) == [other]


async def test_without_the_gate_a_policy_means_nothing(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(*flavors(), queue({"best": "1", "good": "2"}), LOCAL_QUEUE)
        await w.make(job("a", cpu="2"))
        await w.until("Job", "a", runs)
        assert len(await w.list("Workload")) == 1


async def test_a_preempted_job_waits_in_all_flavors_again(world: MakeWorld) -> None:
    quotas = {"best": "2", "good": "0"}
    priority = {
        "apiVersion": KUEUE,
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": "urgent"},
        "value": 1000,
    }
    preemption = {"withinClusterQueue": "LowerPriority"}
    async with world(**GATED) as w:
        await w.make(*flavors(), queue(quotas, preemption=preemption), LOCAL_QUEUE, priority)
        await w.make(job("low", cpu="2"))
        await w.until("Job", "low", runs)
        urgent = {"kueue.x-k8s.io/priority-class": "urgent"}
        await w.make(job("high", cpu="2", labels=urgent))
        await w.until("Job", "high", runs)
        parent, variants = await family(w, "low")
        assert true("Evicted", "VariantEvicted")(parent)
        assert true("Preempted")(variants["best"])
        _, theirs = await family(w, "high")
        gates = theirs["best"]["status"]["preemptionGates"]
        assert [(one["name"], one["position"]) for one in gates] == [
            ("kueue.x-k8s.io/concurrent-admission", "Open")
        ]
        await w.delete("Job", "high")
        await w.until("Job", "low", runs)


async def test_a_variant_keeps_its_quota_until_it_is_known_that_its_parent_was_not_admitted(
    world: MakeWorld,
) -> None:
    calls: list[str] = []

    async def intercept(call: HttpRequest) -> Fault | None:
        if "/workloads/" not in call.path or call.user_agent.startswith("test"):
            return None
        of = "variant" if "-variant-" in call.path else "parent"
        body = json.loads(call.body or b"{}")
        admits = of == "parent" and "admission" in body.get("status", {})
        releases = of == "variant" and body.get("status", {}).get("admission", "") is None
        calls.append("admit" if admits else "release" if releases else f"{call.method} {of}")
        return Fault(drop=True) if admits else None

    async with world(**GATED, intercept=intercept) as w:
        await w.make(*flavors(), queue({"best": "2"}), LOCAL_QUEUE, job("a", cpu="2"))
        name = (await w.workload("a", lambda _: True))["metadata"]["name"]
        best = (await w.workload(name, true("Admitted")))["metadata"]["name"]
        async with asyncio.timeout(10):
            while "admit" not in calls:
                await asyncio.sleep(0.01)
        await w.patch("Workload", name, {"spec": {"active": False}})
        await w.until("Workload", best, false("QuotaReserved"))
        after = calls[len(calls) - calls[::-1].index("admit") :]
        assert "GET parent" in after[: after.index("release")]
