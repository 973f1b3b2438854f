"""Kinds that admins describe: which of several descriptions is used, and what is said of others."""

from copy import deepcopy
from pathlib import Path

import msgspec
import yaml

from queueing.kube.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
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
KIND = "QueueableKind"


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
