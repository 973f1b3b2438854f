"""Jobs of other kinds than batch/v1: definitions that come and go, owners, and bad objects."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
import yaml

from queueing.kinds import paths
from queueing.kinds.registry import kind_of
from queueing.kube.errors import NotFoundError
from queueing.kube.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
from queueing_api.queueing.v1alpha1.queueable_kind import KindResource
from tests.controller.harness import (
    FLAVOR,
    LOCAL_QUEUE,
    WAIT_S,
    MakeWorld,
    Wire,
    World,
    cluster_queue,
    false,
    job,
    true,
)
from tests.kinds.rows import ROWS, SAMPLES, sample

JOB_SET, TRAIN_JOB = "jobset.x-k8s.io/jobset", "trainer.kubeflow.org/trainjob"
NESTED = [
    ("ray.io/rayjob", "ray.io/raycluster"),
    ("ray.io/rayservice", "ray.io/raycluster"),
    ("workload.codeflare.dev/appwrapper", JOB_SET),
    ("workload.codeflare.dev/appwrapper", "kubeflow.org/pytorchjob"),
]
RUNTIMES = Resource(
    "trainer.kubeflow.org",
    "v1alpha1",
    "clustertrainingruntimes",
    "ClusterTrainingRuntime",
    namespaced=False,
)
ON: dict[str, Any] = {"integrations": {"frameworks": ["batch/job", JOB_SET]}}
KEPT = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def named(framework: str) -> KindResource:
    return kind_of(framework).spec.resource


def resource(framework: str) -> Resource:
    one = named(framework)
    return Resource(one.group, one.version, one.plural, one.kind)


def definition(framework: str) -> Wire:
    return defined(named(framework))


def defined(one: KindResource, *, namespaced: bool = True) -> Wire:
    """Return a definition that keeps every field."""
    version = {
        "name": one.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": KEPT},
        "subresources": {"status": {}},
    }
    names = {"kind": one.kind, "plural": one.plural, "singular": one.kind.lower()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{one.plural}.{one.group}"},
        "spec": {
            "group": one.group,
            "names": names,
            "scope": "Namespaced" if namespaced else "Cluster",
            "versions": [version],
        },
    }


def job_set(name: str, *, replicas: Any = 2, queue: str = "lq", **metadata: Any) -> Wire:
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}
    template = {"spec": {"template": {"spec": {"containers": [container]}}}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {
            "name": name,
            "namespace": "team",
            "labels": {"kueue.x-k8s.io/queue-name": queue} if queue else {},
            **metadata,
        },
        "spec": {
            "suspend": True,
            "replicatedJobs": [{"name": "workers", "replicas": replicas, "template": template}],
        },
    }


def queued_sample(framework: str) -> Wire:
    """Return an object as its users write it, in the queue of these tests."""
    (row,) = (row for row in ROWS if row.framework == framework)
    thing = sample(row)
    labels = {"kueue.x-k8s.io/queue-name": "lq"}
    name = thing["metadata"]["name"]
    return {**thing, "metadata": {"name": name, "namespace": "team", "labels": labels}}


async def create(world: World, framework: str, body: Wire) -> Wire:
    reply = await world.client.create(resource(framework).within("team"), body)
    return dict(msgspec.json.decode(reply))


async def until(world: World, framework: str, name: str, holds: Callable[[Wire], bool]) -> Wire:
    last: Wire = {}

    async def look() -> Wire | None:
        nonlocal last
        last = dict(
            msgspec.json.decode(await world.client.get(resource(framework).at(name, "team")))
        )
        return last if holds(last) else None

    found = await world.found(look)
    assert found is not None, f"{name} stayed {last}"
    return found


def runs(one: Wire) -> bool:
    return not one["spec"].get("suspend")


async def define(world: World, framework: str) -> None:
    await serve(world, named(framework))


async def serve(world: World, one: KindResource, *, namespaced: bool = True) -> None:
    """Define a kind, and wait until it is served."""
    body = defined(one, namespaced=namespaced)
    await world.client.create(CUSTOM_RESOURCE_DEFINITIONS.within(), body)
    served = Resource(one.group, one.version, one.plural, one.kind)
    ends = world.clock.monotonic() + WAIT_S
    while world.clock.monotonic() < ends:
        try:
            await world.client.list_page(served.within())
        except NotFoundError:
            await asyncio.sleep(0.02)
        else:
            return
    raise AssertionError(f"{one.kind} is not served")


async def test_a_kind_whose_definition_appears_is_queued(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await w.make(FLAVOR, cluster_queue("4"), LOCAL_QUEUE, job("first"))
        await w.workload("first", true("Admitted"))
        await define(w, JOB_SET)
        await create(w, JOB_SET, job_set("set"))
        found = await w.workload("set", true("Admitted"))
        assert [(one["name"], one["count"]) for one in found["spec"]["podSets"]] == [("workers", 2)]
        started = await until(w, JOB_SET, "set", runs)
        (replicated,) = started["spec"]["replicatedJobs"]
        pod = replicated["template"]["spec"]["template"]
        assert pod["metadata"]["labels"]["kueue.x-k8s.io/podset"] == "workers"
        assert pod["spec"]["nodeSelector"] == {"pool": "any"}


async def test_a_kind_whose_definition_goes_away_leaves_no_quota_behind(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await define(w, JOB_SET)
        await w.make(FLAVOR, cluster_queue("2"), LOCAL_QUEUE)
        await create(w, JOB_SET, job_set("set"))
        await until(w, JOB_SET, "set", runs)
        await w.make(job("next", cpu="2"))
        name = definition(JOB_SET)["metadata"]["name"]
        await w.client.delete(CUSTOM_RESOURCE_DEFINITIONS.at(name))
        await w.workload("next", true("Admitted"))


async def test_a_kind_that_is_not_listed_is_left_alone(world: MakeWorld) -> None:
    async with world() as w:
        await define(w, JOB_SET)
        await w.make(FLAVOR, cluster_queue("4"), LOCAL_QUEUE)
        await create(w, JOB_SET, job_set("set"))
        await w.make(job("after"))
        await w.workload("after", true("Admitted"))
        assert len(await w.list("Workload")) == 1


async def test_a_workload_left_of_a_kind_that_is_not_listed_goes_with_its_owner(
    world: MakeWorld,
) -> None:
    async with world() as w:
        await define(w, JOB_SET)
        await w.make(FLAVOR, cluster_queue("2"), LOCAL_QUEUE)
        owner = await create(w, JOB_SET, job_set("set"))
        await w.make(left_of(owner), job("waits", cpu="2"))
        await w.until("Workload", "left", lambda _: True)
        await w.client.delete(resource(JOB_SET).at("set", "team"))
        await w.until_gone("Workload", "left")


async def test_the_jobs_of_a_job_set_are_queued_with_it(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await define(w, JOB_SET)
        await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE)
        above = await create(w, JOB_SET, job_set("set"))
        await w.workload("set", lambda _: True)
        child = job("set-workers-0", suspend=False)
        child["metadata"]["ownerReferences"] = [owned_by(above)]
        await w.make(child)
        # There is no quota for two pods, so that what belongs to the JobSet must not run.
        await w.until("Job", "set-workers-0", lambda one: one["spec"]["suspend"])
        assert await owners(w, "kind") == ["JobSet"]


async def test_what_an_object_that_has_ended_leaves_running_is_stopped(world: MakeWorld) -> None:
    async with world(**ON) as w:
        above, _ = await with_child(w)
        await status(w, JOB_SET, "set", ended("Completed"))
        await w.workload("set", true("Finished"))
        left = job("set-workers-1", suspend=False)
        left["metadata"]["ownerReferences"] = [owned_by(above)]
        await w.make(left)
        await w.until("Job", "set-workers-1", lambda one: one["spec"]["suspend"])


async def test_what_has_ended_below_an_object_is_left_as_it_is(world: MakeWorld) -> None:
    async with world(**ON) as w:
        _, child = await with_child(w)
        await w.patch("Job", child, ended("Complete"), "status")
        await w.patch("ClusterQueue", "cq", {"spec": {"stopPolicy": "HoldAndDrain"}})
        await until(w, JOB_SET, "set", lambda one: not runs(one))
        await w.workload("set", false("QuotaReserved"))
        assert runs(await w.get("Job", child))


async def with_child(w: World) -> tuple[Wire, str]:
    """Start a JobSet with one Job, which runs; return the JobSet and the name of the Job."""
    await define(w, JOB_SET)
    await w.make(FLAVOR, cluster_queue("4"), LOCAL_QUEUE)
    above = await create(w, JOB_SET, job_set("set"))
    await until(w, JOB_SET, "set", runs)
    child = job("set-workers-0", suspend=False)
    child["metadata"]["ownerReferences"] = [owned_by(above)]
    await w.make(child)
    return above, "set-workers-0"


def ended(condition: str) -> Wire:
    return {"status": {"conditions": [{"type": condition, "status": "True", "reason": "Done"}]}}


async def status(w: World, framework: str, name: str, body: Wire) -> None:
    target = resource(framework).at(name, "team", "status")
    await w.client.patch_merge(target, msgspec.json.encode(body))


async def test_a_job_set_that_runs_before_it_is_admitted_is_stopped(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await define(w, JOB_SET)
        await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE)
        eager = job_set("eager")
        eager["spec"]["suspend"] = False
        await create(w, JOB_SET, eager)
        await until(w, JOB_SET, "eager", lambda one: not runs(one))
        await w.workload("eager", lambda _: True)


async def test_one_whose_number_of_pods_changes_while_it_runs_is_queued_anew(
    world: MakeWorld,
) -> None:
    async with world(**ON) as w:
        await define(w, JOB_SET)
        await w.make(FLAVOR, cluster_queue("4"), LOCAL_QUEUE, job("beside"))
        await create(w, JOB_SET, job_set("set"))
        first = await w.workload("set", true("Admitted"))
        await until(w, JOB_SET, "set", runs)
        (part,) = job_set("set", replicas=3)["spec"]["replicatedJobs"]
        target = resource(JOB_SET).at("set", "team")
        await w.client.patch_merge(target, {"spec": {"replicatedJobs": [part]}})

        def is_new(one: Wire) -> bool:
            (pod_set,) = one["spec"]["podSets"]
            differs = one["metadata"]["uid"] != first["metadata"]["uid"]
            return differs and pod_set["count"] == 3 and true("Admitted")(one)

        await w.workload("set", is_new)
        await until(w, JOB_SET, "set", runs)
        assert not (await w.get("Job", "beside"))["spec"]["suspend"]


@pytest.mark.parametrize(("above", "below"), NESTED)
async def test_what_belongs_to_a_queued_object_is_charged_once(
    world: MakeWorld, above: str, below: str
) -> None:
    async with world(integrations={"frameworks": ["batch/job", above, below]}) as w:
        await define(w, above)
        await define(w, below)
        await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE)
        owner = await create(w, above, queued_sample(above))
        child = queued_sample(below)
        child["metadata"] |= {"name": "child", "ownerReferences": [owned_by(owner)]}
        suspend = paths.steps(kind_of(below).spec.suspend.field or "")
        paths.put(child, suspend, value=False)
        await create(w, below, child)
        await until(w, below, "child", lambda one: paths.value_at(one, suspend) is True)
        await w.workload(owner["metadata"]["name"], lambda _: True)
        assert await owners(w, "kind") == [owner["kind"]]


async def test_owners_of_kinds_that_are_not_listed_are_looked_through(world: MakeWorld) -> None:
    listed = {"integrations": {"frameworks": ["batch/job", TRAIN_JOB]}}
    async with world(**listed) as w:
        await define(w, JOB_SET)
        await define(w, TRAIN_JOB)
        await w.make(FLAVOR, cluster_queue("8"), LOCAL_QUEUE)
        top = {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "TrainJob",
            "metadata": {
                "name": "train",
                "namespace": "team",
                "labels": {"kueue.x-k8s.io/queue-name": "lq"},
            },
            "spec": {"suspend": True, "runtimeRef": {"name": "missing"}},
        }
        above = await create(w, TRAIN_JOB, top)
        between = await create(
            w, JOB_SET, job_set("train", queue="", ownerReferences=[owned_by(above)])
        )
        child = job("train-node-0", suspend=False)
        child["metadata"]["ownerReferences"] = [owned_by(between)]
        await w.make(child)
        await w.until("Job", "train-node-0", lambda one: one["spec"]["suspend"])
        assert await w.list("Workload") == []


async def test_a_ray_job_that_ray_refuses_holds_no_quota_until_it_does_no_more(
    world: MakeWorld,
) -> None:
    ray = "ray.io/rayjob"
    async with world(integrations={"frameworks": ["batch/job", ray]}) as w:
        await define(w, ray)
        await w.make(FLAVOR, cluster_queue("9"), LOCAL_QUEUE)
        thing = queued_sample(ray)
        thing["spec"] |= {"submissionMode": "HTTPMode", "suspend": True}
        name = (await create(w, ray, thing))["metadata"]["name"]
        await until(w, ray, name, runs)
        refused = {"status": {"jobDeploymentStatus": "ValidationFailed"}}
        await status(w, ray, name, refused)
        held = await w.workload(name, false("QuotaReserved", "OnHold"))
        (told,) = (one for one in held["status"]["conditions"] if one["type"] == "QuotaReserved")
        assert told["message"] == "Job is on hold"
        assert "admission" not in held["status"]
        # Suspended, it would be judged anew, and refused again as soon as it is admitted.
        assert runs(await until(w, ray, name, lambda _: True))

        await w.patch("ClusterQueue", "cq", {"spec": {"stopPolicy": "Hold"}})
        await status(w, ray, name, {"status": {"jobDeploymentStatus": ""}})
        await until(w, ray, name, lambda one: not runs(one))
        await w.workload(name, false("QuotaReserved", "Suspended"))
        await w.patch("ClusterQueue", "cq", {"spec": {"stopPolicy": "None"}})
        await until(w, ray, name, runs)


async def test_what_is_wrapped_and_not_charged_for_is_told(world: MakeWorld) -> None:
    wrapper = "workload.codeflare.dev/appwrapper"
    async with world(integrations={"frameworks": ["batch/job", wrapper]}) as w:
        await define(w, wrapper)
        await w.make(FLAVOR, cluster_queue("9"), LOCAL_QUEUE)
        thing = queued_sample(wrapper)
        del thing["spec"]["components"][2]["podSets"]
        await create(w, wrapper, thing)
        await w.workload("bundle", true("Admitted"))
        (told,) = [one["note"] for one in await events(w, "Uncharged")]
        assert "spec.components[2], a Pool of example.com/v1" in told


async def test_a_train_job_runs_on_by_its_workload_when_its_runtime_is_deleted(
    world: MakeWorld,
) -> None:
    async with world(integrations={"frameworks": ["batch/job", TRAIN_JOB]}) as w:
        for one in kind_of(TRAIN_JOB).hooks.related_kinds:
            beside = defined(one.resource, namespaced=one.namespaced)
            await w.client.create(CUSTOM_RESOURCE_DEFINITIONS.within(), beside)
        await define(w, TRAIN_JOB)
        await w.make(FLAVOR, cluster_queue("9"), LOCAL_QUEUE)
        runtime = yaml.safe_load((SAMPLES / "trainjob-runtime.yaml").read_text())
        await w.client.create(RUNTIMES.within(), runtime)
        train = queued_sample(TRAIN_JOB)
        del train["spec"]["trainer"]["resourcesPerNode"]
        await create(w, TRAIN_JOB, train)
        before = await until(w, TRAIN_JOB, "finetune", lambda _: True)
        await until(w, TRAIN_JOB, "finetune", runs)
        await w.client.delete(RUNTIMES.at("torch-distributed"))
        (told,) = await events(w, "Unreadable")
        assert "runtime 'torch-distributed' not found" in told["note"]
        ready = [{"name": name, "ready": 1} for name in ("dataset-initializer", "node")]
        await status(w, TRAIN_JOB, "finetune", {"status": {"jobsStatus": ready}})
        workload = await w.workload("finetune", true("PodsReady"))
        assert runs(await until(w, TRAIN_JOB, "finetune", lambda _: True))
        await w.patch("ClusterQueue", "cq", {"spec": {"stopPolicy": "HoldAndDrain"}})
        await w.until_gone("Workload", workload["metadata"]["name"])  # it cannot start again
        stopped = await until(w, TRAIN_JOB, "finetune", lambda one: not runs(one))
        assert stopped["spec"] == before["spec"]


async def test_what_cannot_be_read_is_told_and_holds_up_nobody(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await define(w, JOB_SET)
        await w.make(FLAVOR, cluster_queue("4"), LOCAL_QUEUE)
        await create(w, JOB_SET, job_set("odd", replicas=-1))
        await create(w, JOB_SET, job_set("good"))
        await until(w, JOB_SET, "good", runs)
        (told,) = await events(w, "Unreadable")
        assert told["regarding"]["name"] == "odd"
        assert "spec.replicatedJobs[0]: -1 is no count" in told["note"]
        assert await owners(w, "name") == ["good"]


async def test_quota_comes_back_though_a_template_quotes_our_mark(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await define(w, JOB_SET)
        await w.make(FLAVOR, cluster_queue("4"), LOCAL_QUEUE)
        body = job_set("set")
        (replicated,) = body["spec"]["replicatedJobs"]
        (container,) = replicated["template"]["spec"]["template"]["spec"]["containers"]
        field = {"fieldPath": "metadata.annotations['kueue.x-k8s.io/workload']"}
        container["env"] = [{"name": "WORKLOAD", "valueFrom": {"fieldRef": field}}]
        await create(w, JOB_SET, body)
        await until(w, JOB_SET, "set", runs)
        await w.patch("ClusterQueue", "cq", {"spec": {"stopPolicy": "HoldAndDrain"}})
        await w.workload("set", false("QuotaReserved"))


async def test_two_objects_of_one_name_are_two_jobs(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await define(w, JOB_SET)
        await w.make(FLAVOR, cluster_queue("4"), LOCAL_QUEUE, job("same"))
        await create(w, JOB_SET, job_set("same"))
        await until(w, JOB_SET, "same", runs)
        await w.until("Job", "same", runs)
        assert sorted(await owners(w, "kind")) == ["Job", "JobSet"]


def left_of(owner: Wire) -> Wire:
    """Return a Workload that an earlier controller made of an object."""
    template = {"spec": {"containers": [{"name": "c", "image": "x"}], "restartPolicy": "Never"}}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": "left",
            "namespace": "team",
            "labels": {"kueue.x-k8s.io/job-uid": owner["metadata"]["uid"]},
            "finalizers": ["kueue.x-k8s.io/resource-in-use"],
            "ownerReferences": [owned_by(owner)],
        },
        "spec": {
            "queueName": "lq",
            "podSets": [{"name": "workers", "count": 2, "template": template}],
        },
    }


def owned_by(above: Wire) -> Wire:
    return {
        "apiVersion": above["apiVersion"],
        "kind": above["kind"],
        "name": above["metadata"]["name"],
        "uid": above["metadata"]["uid"],
        "controller": True,
    }


async def owners(world: World, field: str) -> list[str]:
    """Return the names or kinds of the owners of all Workloads."""
    return [one["metadata"]["ownerReferences"][0][field] for one in await world.list("Workload")]


async def events(world: World, reason: str) -> list[Wire]:
    """Wait for Events of a reason, which are written a little later, and return them."""

    async def look() -> list[Wire] | None:
        return [one for one in await world.list("Event") if one["reason"] == reason] or None

    found = await world.found(look)
    assert found is not None, f"no such event: {await world.list('Event')}"
    return found
