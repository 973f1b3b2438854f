"""Kinds that admins describe: which of several descriptions is used, and what is said of others."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import msgspec
import yaml

from queueing.apiserver.resources.definition import defined_kind
from queueing.apiserver.server import Fault
from queueing.apiserver.wire.call import HttpRequest
from queueing.kube.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
from tests.controller.gangs.gang_harness import gang_world
from tests.controller.harness import (
    FLAVOR,
    LOCAL_QUEUE,
    MakeWorld,
    Wire,
    World,
    cluster_queue,
    false,
    true,
)

EXAMPLES = Path(__file__).parents[2] / "examples" / "kinds"
EXPERIMENTS = Resource("lab.example.com", "v1", "experiments", "Experiment")
KIND, NAME = "QueueableKind", "experiments.lab.example.com"
MARK = "kueue.x-k8s.io/workload"


def loaded(name: str) -> Wire:
    found: Wire = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text())
    return found


def description(name: str = "experiments.lab.example.com") -> Wire:
    found = loaded("description")
    return {**found, "metadata": {"name": name}}


def experiment() -> Wire:
    found = loaded("example")
    labels = {"kueue.x-k8s.io/queue-name": "lq"}
    found["metadata"] = {"name": "sweep", "namespace": "team", "labels": labels}
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "100m"}}}
    template = {"spec": {"containers": [container]}}
    trials = [{"name": "small", "workers": 2, "podTemplate": template}]
    return {**found, "spec": {"paused": True, "coordinator": template, "trials": trials}}


async def define(w: World) -> None:
    await w.client.create(CUSTOM_RESOURCE_DEFINITIONS.within(), loaded("definition"))


async def started(w: World) -> Wire:
    """Create an Experiment and wait until it is started."""
    await w.make(FLAVOR, cluster_queue("2"), LOCAL_QUEUE)
    await w.client.create(EXPERIMENTS.within("team"), experiment())
    await w.workload("sweep", true("Admitted"))
    found: Wire = msgspec.json.decode(await w.client.get(EXPERIMENTS.at("sweep", "team")))
    return found


async def test_a_described_kind_is_queued_without_a_restart(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(description())
        await w.until(KIND, "experiments.lab.example.com", false("Active", "NotServed"))
        await define(w)
        await w.until(KIND, "experiments.lab.example.com", true("Active", "Queued"))
        await started(w)


async def test_of_two_descriptions_of_a_kind_the_other_is_used_when_the_first_goes(
    world: MakeWorld,
) -> None:
    async with world() as w:
        await define(w)
        await w.make(description("first"))
        await w.until(KIND, "first", true("Active"))
        await w.make(description("second"))
        await w.until(KIND, "second", false("Active", "AlreadyDescribed"))
        await w.delete(KIND, "first")
        await w.until(KIND, "second", true("Active"))


async def test_a_built_in_kind_that_is_on_is_not_described_anew(world: MakeWorld) -> None:
    async with world() as w:
        jobs = description("jobs")
        jobs["spec"]["resource"] = {
            "group": "batch",
            "version": "v1",
            "kind": "Job",
            "plural": "jobs",
        }
        await w.make(jobs)
        await w.until(KIND, "jobs", false("Active", "AlreadyDescribed"))


async def test_a_kind_that_no_field_suspends_is_not_supported(world: MakeWorld) -> None:
    async with world() as w:
        gated = deepcopy(description("gated"))
        gated["spec"]["suspend"] = {"gate": "lab.example.com/waits"}
        await w.make(gated)
        await w.until(KIND, "gated", false("Active", "NotSupported"))


async def test_a_kind_whose_objects_have_several_workloads_is_not_supported(
    world: MakeWorld,
) -> None:
    async with world() as w:
        await define(w)
        several = deepcopy(description("several"))
        several["spec"]["groups"] = "size(object.spec.trials)"
        await w.make(several)
        await w.until(KIND, "several", false("Active", "NotSupported"))


async def test_a_mended_description_is_used(world: MakeWorld) -> None:
    async with world() as w:
        await define(w)
        wrong = description("mended")
        wrong["spec"]["ignored"] = "object.spec.nothing =="
        await w.make(wrong)
        await w.until(KIND, "mended", false("Active", "InvalidDescription"))
        await w.patch(KIND, "mended", {"spec": {"ignored": None}})
        await w.until(KIND, "mended", true("Active"))
        await started(w)


def paused(one: Wire) -> bool:
    return bool(one["spec"]["paused"])


async def until_experiment(w: World, holds: Callable[[Wire], bool]) -> Wire:
    last: Wire = {}

    async def look() -> Wire | None:
        nonlocal last
        last = dict(msgspec.json.decode(await w.client.get(EXPERIMENTS.at("sweep", "team"))))
        return last if holds(last) else None

    found = await w.found(look)
    assert found is not None, f"the Experiment stayed {last}"
    return found


def says(text: str) -> Callable[[Wire], bool]:
    """Say whether the condition Active has a text."""

    def holds(one: Wire) -> bool:
        conditions = one.get("status", {}).get("conditions", ())
        return any(text in condition["message"] for condition in conditions)

    return holds


async def test_a_description_stays_until_the_last_workload_of_its_kind_is_gone(
    definitions: list[Wire],
) -> None:
    async with gang_world(definitions, cluster_queue("2"), LOCAL_QUEUE) as w:
        await define(w)
        await w.make(description())
        await w.until(KIND, NAME, true("Active"))
        await w.client.create(EXPERIMENTS.within("team"), experiment())
        await w.workload("sweep", true("Admitted"))
        await w.delete(KIND, NAME)
        told = await w.until(KIND, NAME, true("Active", "Terminating"))
        assert says("1 Workload, such as team/experiment-sweep")(told)
        await w.restart()
        await w.client.delete(EXPERIMENTS.at("sweep", "team"))
        await w.until_gone("Workload", told_name(await w.list("Workload")))
        await w.until_gone(KIND, NAME)


def told_name(workloads: list[Wire]) -> str:
    return str(workloads[0]["metadata"]["name"]) if workloads else ""


async def test_a_description_that_cannot_be_kept_is_not_used(world: MakeWorld) -> None:
    told = 'queueablekinds "experiments" is forbidden: User "queueing" cannot patch resource'

    async def deny(call: HttpRequest) -> Fault | None:
        patches = call.method == "PATCH" and call.path.endswith(f"/queueablekinds/{NAME}")
        return Fault(status=403, reason="Forbidden", message=told) if patches else None

    async with world(intercept=deny) as w:
        await define(w)
        await w.make(description())
        found = await w.until(KIND, NAME, false("Active", "NotPermitted"))
        assert says("cannot be added")(found)


async def test_another_description_takes_over_from_one_that_is_being_deleted(
    world: MakeWorld,
) -> None:
    async with world() as w:
        await define(w)
        await w.make(description("first"))
        await w.until(KIND, "first", true("Active"))
        await started(w)
        await w.make(description("second"))
        await w.until(KIND, "second", false("Active", "AlreadyDescribed"))
        await w.delete(KIND, "first")
        await w.until_gone(KIND, "first")
        await w.until(KIND, "second", true("Active"))
        await w.patch("ClusterQueue", "cq", {"spec": {"stopPolicy": "HoldAndDrain"}})
        await w.workload("sweep", false("QuotaReserved"))


async def test_what_runs_is_stopped_by_the_last_good_description(definitions: list[Wire]) -> None:
    async with gang_world(definitions, cluster_queue("2"), LOCAL_QUEUE) as w:
        await define(w)
        await w.make(description())
        await w.until(KIND, NAME, true("Active"))
        await w.client.create(EXPERIMENTS.within("team"), experiment())
        before = await until_experiment(w, lambda _: True)
        await until_experiment(w, lambda one: not paused(one))
        await w.patch(KIND, NAME, {"spec": {"active": {"expression": "object.status.running >"}}})
        told = await w.until(KIND, NAME, false("Active", "InvalidDescription"))
        assert says("spec.active.expression")(told)
        assert says("the description in status.inUse stays in force")(told)
        assert "running" in told["status"]["inUse"]["active"]["expression"]
        await w.restart()
        await w.patch("ClusterQueue", "cq", {"spec": {"stopPolicy": "HoldAndDrain"}})
        stopped = await until_experiment(w, paused)
        assert stopped["spec"] == before["spec"]
        await w.workload("sweep", false("QuotaReserved"))


async def test_a_kind_without_a_definition_is_queued_when_the_api_server_lists_it(
    world: MakeWorld,
) -> None:
    async with world() as w:
        await w.make(description())
        told = await w.until(KIND, NAME, false("Active", "NotServed"))
        assert says("or APIService v1.lab.example.com")(told)
        w.server.store.catalog.add(defined_kind(loaded("definition")))
        await w.until(KIND, NAME, true("Active", "Queued"))
        await started(w)


async def test_what_cannot_be_read_at_its_stop_is_restored_when_it_can(world: MakeWorld) -> None:
    async with world() as w:
        await define(w)
        await w.make(description())
        await w.until(KIND, NAME, true("Active"))
        await started(w)
        (trial,) = (await until_experiment(w, lambda one: not paused(one)))["spec"]["trials"]
        first = (await w.workload("sweep", true("Admitted")))["metadata"]["uid"]
        unnamed = {key: value for key, value in trial.items() if key != "name"}
        await write(w, {"spec": {"trials": [unnamed]}})
        await until_experiment(w, paused)
        await w.workload("sweep", false("QuotaReserved"))
        await write(w, {"spec": {"trials": [{**unnamed, "name": "small"}]}})
        anew = await w.workload("sweep", lambda one: one["metadata"]["uid"] != first)
        template = anew["spec"]["podSets"][0]["template"]
        assert MARK not in template.get("metadata", {}).get("annotations", {})
        await until_experiment(w, lambda one: not paused(one))


async def write(w: World, change: Wire) -> None:
    await w.client.patch_merge(EXPERIMENTS.at("sweep", "team"), msgspec.json.encode(change))
