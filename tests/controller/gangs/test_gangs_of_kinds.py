"""Gangs whose members are of several kinds: a JobSet and a Job, and any other kind with a Job."""

from collections.abc import Callable
from typing import Any

import pytest

from queueing.apiserver.server import Fault
from queueing.apiserver.wire.call import HttpRequest
from queueing.kinds.registry import JOB, QUEUED, kind_of
from queueing.kube.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
from tests.controller.gangs.gang_harness import GANG, SIZE, GangWorld, gang_world, member
from tests.controller.gangs.test_gangs import HIGH, PREEMPTING, as_it_came, only, running, state
from tests.controller.harness import LOCAL_QUEUE, Wire, cluster_queue, false, job, true
from tests.controller.test_kinds import (
    JOB_SET,
    ON,
    RUNTIMES,
    TRAIN_JOB,
    create,
    define,
    defined,
    ended,
    job_set,
    owned_by,
    queued_sample,
    resource,
    runs,
    serve,
    status,
    until,
)
from tests.kinds.rows import ROWS, Row, loaded, unplace, viewed

OTHERS = [row for row in ROWS if row.framework in QUEUED - {JOB} and row.stopped_by == "suspension"]
QUEUE = cluster_queue("3")
PLENTY = ("cpu", "memory", "nvidia.com/gpu", "google.com/tpu")
RUNS = {"status": {"replicatedJobsStatus": [{"name": "workers", "active": 2, "ready": 2}]}}


def of_gang(thing: Wire, size: str = "2") -> Wire:
    """Make an object a member of the gang `g`."""
    meta = thing["metadata"]
    meta["labels"] = {**meta["labels"], GANG: "g"}
    meta["annotations"] = {**meta.get("annotations", {}), SIZE: size}
    return thing


async def make_two(w: GangWorld, **more: Any) -> Wire:
    """Make a gang of a JobSet of two pods and a Job of one; return the JobSet."""
    await define(w, JOB_SET)
    made = await create(w, JOB_SET, of_gang(job_set("set")))
    await w.make(member("feed", size="2", **more))
    return made


async def run_two(w: GangWorld, **more: Any) -> Wire:
    made = await make_two(w, **more)
    await until(w, JOB_SET, "set", runs)
    await status(w, JOB_SET, "set", RUNS)
    await w.eventually(only(w, true("PodsReady")))
    return made


def a_start(call: HttpRequest) -> bool:
    return call.method == "PATCH" and b"false" in call.body


async def test_a_job_set_and_a_job_are_admitted_and_started_as_one(
    definitions: list[Wire],
) -> None:
    async with gang_world(definitions, QUEUE, LOCAL_QUEUE, **ON) as w:
        await run_two(w)
        found = w.workload_now()["spec"]["podSets"]
        assert [(one["name"], one["count"]) for one in found] == [("feed", 1), ("set-workers", 2)]
        starts = [one for one in w.writes if "PATCH" in one and "/job" in one]
        assert sorted(starts[:2]) == ["PATCH dry team/jobs/feed", "PATCH dry team/jobsets/set"]
        assert sorted(starts[2:]) == ["PATCH team/jobs/feed", "PATCH team/jobsets/set"]
        (replicated,) = (await until(w, JOB_SET, "set", runs))["spec"]["replicatedJobs"]
        pods = replicated["template"]["spec"]["template"]
        assert pods["metadata"]["labels"]["kueue.x-k8s.io/podset"] == "set-workers"
        assert pods["spec"]["nodeSelector"] == {"pool": "any"}


async def test_it_waits_for_its_job_set_and_each_member_says_so(definitions: list[Wire]) -> None:
    async with gang_world(definitions, QUEUE, LOCAL_QUEUE, **ON) as w:
        await w.make(member("feed", size="2"))
        await w.eventually(w.all(lambda one: state(one) == "Incomplete: 1 of 2 Jobs exist: feed"))
        await define(w, JOB_SET)
        await create(w, JOB_SET, of_gang(job_set("set"), size="3"))
        told = "the Jobs disagree on the gang-size: 2 (feed); 3 (JobSet set)"
        await w.eventually(w.all(lambda one: told in state(one)))
        await until(w, JOB_SET, "set", lambda one: told in state(one))


@pytest.mark.parametrize("refused", ["jobs/feed", "jobsets/set"])
@pytest.mark.parametrize("dry", [True, False])
async def test_a_member_that_is_refused_keeps_or_stops_the_other(
    definitions: list[Wire], refused: str, *, dry: bool
) -> None:
    refusal = Fault(status=422, reason="Invalid", message="denied by the house")
    async with gang_world(definitions, QUEUE, LOCAL_QUEUE, **ON) as w:

        def refuse(call: HttpRequest) -> Fault | None:
            here = call.path.endswith(refused) and call.dry_run is dry
            return refusal if a_start(call) and here else None

        w.fault = refuse
        before = await make_two(w)
        await w.eventually(only(w, false("Requeued", "GangInterrupted")))
        assert w.all(as_it_came)()
        await until(w, JOB_SET, "set", lambda one: one["spec"] == before["spec"])
        assert false("QuotaReserved")(w.workload_now())


async def test_it_is_preempted_and_comes_back_as_one(definitions: list[Wire]) -> None:
    queue = cluster_queue("3", preemption=PREEMPTING)
    async with gang_world(definitions, queue, LOCAL_QUEUE, HIGH, **ON) as w:
        before = await run_two(w)
        labels = {"kueue.x-k8s.io/priority-class": "high"}
        await w.make(job("urgent", labels=labels))
        await until(w, JOB_SET, "set", lambda one: one["spec"] == before["spec"])
        await status(w, JOB_SET, "set", {"status": {"replicatedJobsStatus": []}})
        await w.eventually(lambda: running(w.guard.jobs["urgent"]))
        assert as_it_came(w.guard.jobs["feed"])
        await w.finish("urgent")
        await until(w, JOB_SET, "set", runs)
        await w.eventually(lambda: running(w.guard.jobs["feed"]))


async def test_quota_of_a_member_of_another_kind_that_is_done_is_given_back(
    definitions: list[Wire],
) -> None:
    async with gang_world(definitions, QUEUE, LOCAL_QUEUE, **ON) as w:
        await run_two(w)
        done = [{"name": "workers", "succeeded": 1, "active": 1, "ready": 1}]
        await status(w, JOB_SET, "set", {"status": {"replicatedJobsStatus": done}})
        await w.eventually(only(w, gives_back(1)))
        await status(w, JOB_SET, "set", ended("Completed"))
        await w.eventually(only(w, gives_back(2)))
        await w.make(job("next", cpu="2", seconds=2))
        await w.workload("next", true("Finished"))
        assert running(w.guard.jobs["feed"])


def gives_back(count: int) -> Callable[[Wire], bool]:
    given = [{"name": "set-workers", "count": count}]
    return lambda one: (
        [
            each
            for each in one.get("status", {}).get("reclaimablePods", [])
            if each["name"] == "set-workers"
        ]
        == given
    )


@pytest.mark.parametrize(
    ("condition", "seconds", "reason"),
    [
        pytest.param("Completed", 2, "Succeeded", id="all succeed"),
        pytest.param("Failed", 600, "Failed", id="the JobSet fails"),
    ],
)
async def test_it_ends_as_one(
    definitions: list[Wire], condition: str, seconds: float, reason: str
) -> None:
    async with gang_world(definitions, QUEUE, LOCAL_QUEUE, **ON) as w:
        await make_two(w, seconds=seconds)
        await until(w, JOB_SET, "set", runs)
        await status(w, JOB_SET, "set", ended(condition))
        await w.eventually(only(w, true("Finished", reason)))
        await w.until("ClusterQueue", "cq", lambda one: one["status"]["reservingWorkloads"] == 0)
        if reason == "Failed":
            assert as_it_came(w.guard.jobs["feed"])


async def test_a_job_set_that_is_deleted_stops_the_job(definitions: list[Wire]) -> None:
    async with gang_world(definitions, QUEUE, LOCAL_QUEUE, **ON) as w:
        await run_two(w)
        await w.client.delete(resource(JOB_SET).at("set", "team"))
        await w.eventually(lambda: w.all(as_it_came)() and not w.guard.workloads)
        await create(w, JOB_SET, of_gang(job_set("set")))
        await w.eventually(w.all(running))


async def test_what_a_member_makes_runs_while_the_gang_is_admitted(
    definitions: list[Wire],
) -> None:
    async with gang_world(definitions, QUEUE, LOCAL_QUEUE, **ON) as w:
        above = await run_two(w)
        child = member("set-workers-0", size="2", suspend=False)
        child["metadata"]["ownerReferences"] = [owned_by(above)]
        await w.make(child)
        await w.patch("ClusterQueue", "cq", {"spec": {"stopPolicy": "HoldAndDrain"}})
        await w.eventually(lambda: not running(w.guard.jobs["set-workers-0"]))
        found = w.workload_now()
        assert len(found["metadata"]["ownerReferences"]) == 2
        assert true("Evicted")(found), "it was stopped before"
        w.guard.violations.clear()  # it was no member, though it has the label


def plenty(pods: int) -> Wire:
    """Return a queue with room for so many pods, of whatever they ask."""
    quotas = [{"name": "pods", "nominalQuota": pods}]
    quotas += [{"name": one, "nominalQuota": "1000Gi"} for one in PLENTY]
    flavor = {"name": "default", "resources": quotas}
    groups = [{"coveredResources": ["pods", *PLENTY], "flavors": [flavor]}]
    return cluster_queue(resourceGroups=groups)


async def make_related(w: GangWorld, row: Row) -> None:
    """Make the object that an object of a row cannot be read without."""
    thing = loaded(row.related)
    (kind,) = (
        one.resource
        for one in kind_of(row.framework).hooks.related_kinds
        if one.resource.kind == thing["kind"]
    )
    where = Resource(kind.group, kind.version, kind.plural, kind.kind).within()
    await w.client.create(where, thing)


@pytest.mark.parametrize("row", OTHERS, ids=[one.framework for one in OTHERS])
async def test_an_object_of_any_kind_starts_and_stops_with_a_job(
    definitions: list[Wire], row: Row
) -> None:
    gates = {"SparkApplicationIntegration": True}
    on: Wire = {"integrations": {"frameworks": [JOB, row.framework]}, "featureGates": gates}
    name, pods = row.framework, sum(row.pod_sets.values()) + 1
    async with gang_world(definitions, plenty(pods), LOCAL_QUEUE, HIGH, **on) as w:
        # No other place than the samples ask for, nor another priority.
        change = {"spec": {"nodeLabels": {"pool": None, "zone": "a"}}}
        await w.patch("ResourceFlavor", "default", change)
        labels = {"kueue.x-k8s.io/priority-class": "high"}
        await define(w, name)
        for one in kind_of(name).hooks.related_kinds:
            await serve(w, one.resource, namespaced=one.namespaced)
        if row.related:
            await make_related(w, row)
        thing = of_gang(queued_sample(name))
        unplace(thing)
        thing["metadata"]["labels"] |= labels
        made = await create(w, name, thing)
        await w.make(member("feed", size="2", labels=labels))
        named = made["metadata"]["name"]
        await w.eventually(lambda: running(w.guard.jobs["feed"]))
        await until(w, name, named, lambda one: not viewed(row, one).suspended)
        await w.patch("ClusterQueue", "cq", {"spec": {"stopPolicy": "HoldAndDrain"}})
        await w.eventually(only(w, false("QuotaReserved")))
        await until(w, name, named, lambda one: one["spec"] == made["spec"])
        assert as_it_came(w.guard.jobs["feed"])


async def test_a_gang_runs_on_when_the_runtime_of_its_train_job_is_deleted(
    definitions: list[Wire],
) -> None:
    on: dict[str, Any] = {"integrations": {"frameworks": [JOB, TRAIN_JOB]}}
    async with gang_world(definitions, cluster_queue("9"), LOCAL_QUEUE, **on) as w:
        for one in kind_of(TRAIN_JOB).hooks.related_kinds:
            beside = defined(one.resource, namespaced=one.namespaced)
            await w.client.create(CUSTOM_RESOURCE_DEFINITIONS.within(), beside)
        await define(w, TRAIN_JOB)
        await w.client.create(RUNTIMES.within(), loaded("trainjob-runtime"))
        train = of_gang(queued_sample(TRAIN_JOB))
        del train["spec"]["trainer"]["resourcesPerNode"]
        await create(w, TRAIN_JOB, train)
        await w.make(member("feed", size="2"))
        await until(w, TRAIN_JOB, "finetune", runs)
        await w.client.delete(RUNTIMES.at("torch-distributed"))
        await w.event("runtime 'torch-distributed' not found")
        ready = [{"name": name, "ready": 1} for name in ("dataset-initializer", "node")]
        await status(w, TRAIN_JOB, "finetune", {"status": {"jobsStatus": ready}})
        await w.eventually(only(w, true("PodsReady")))
        assert not true("Evicted")(w.workload_now())
        assert runs(await until(w, TRAIN_JOB, "finetune", lambda _: True))
