"""Which kinds are followed, while definitions and what is wanted change."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import msgspec

from queueing.apiserver.server import Fault, serve
from queueing.apiserver.wire.call import HttpRequest
from queueing.controller.intake.kinds import Kinds, KindState
from queueing.controller.intake.pump import Pump
from queueing.controller.stores.objects import Objects
from queueing.controller.work_queues import Unattended
from queueing.core.facts import Fact
from queueing.kinds.registry import JOB, kind_of
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.reflector import Added
from queueing.kube.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
from queueing.translate.inbound.manifests import read
from queueing.translate.transformations import ResourceRules
from queueing.translate.wire.workloads import Workload
from tests.controller.harness import WAIT_S
from tests.controller.intake.test_pump import Queues
from tests.controller.test_kinds import JOB_SET, TRAIN_JOB, definition, job_set, resource
from tests.kinds.rows import ROWS, loaded, sample

OF = ("jobset.x-k8s.io", "JobSet")


@dataclass
class Nobody:
    """An engine that only counts facts."""

    facts: list[Fact] = field(default_factory=list)

    def observe(self, fact: Fact) -> bool:
        self.facts.append(fact)
        return True


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not holds():
            await asyncio.sleep(0.01)


@asynccontextmanager
async def following() -> AsyncIterator[asyncio.TaskGroup]:
    """Lend a group of tasks, and end the reflectors in it."""
    async with asyncio.TaskGroup() as group:
        yield group
        for task in asyncio.all_tasks():
            if task.get_name().startswith("reflector"):
                task.cancel()


async def test_a_kind_is_followed_exactly_while_it_is_wanted_and_served() -> None:
    async with serve() as server, Client(Cluster.plain(server.url)) as client:
        team = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
        server.load([team])
        objects = Objects()
        pump = Pump(objects, Nobody(), Unattended(), ResourceRules())
        kinds = Kinds(client, pump, objects)
        told: list[tuple[str, str]] = []
        kinds.changed.append(told.append)
        async with following() as group:
            kinds.activate(kind_of(JOB_SET))
            await kinds.follow(group)
            assert kinds.state(OF) == (KindState.NOT_SERVED, "")
            await client.create(CUSTOM_RESOURCE_DEFINITIONS.within(), definition(JOB_SET))
            await until(lambda: kinds.state(OF)[0] is KindState.ACTIVE)
            await client.create(resource(JOB_SET).within("team"), job_set("set"))
            await until(lambda: len(objects.jobs) == 1)
            kinds.retire(OF)
            assert kinds.state(OF)[0] is KindState.NOT_SERVED
            assert not objects.jobs
            kinds.activate(kind_of(JOB_SET))
            await until(lambda: len(objects.jobs) == 1)
            name = definition(JOB_SET)["metadata"]["name"]
            await client.delete(CUSTOM_RESOURCE_DEFINITIONS.at(name))
            await until(lambda: not objects.jobs)
            assert set(told) == {OF}


async def test_an_event_is_read_in_its_own_version_though_a_later_one_is_known() -> None:
    """A watch goes on from there: what happened to others in between must come."""
    async with serve() as server, Client(Cluster.plain(server.url)) as client:
        objects = Objects()
        pump = Pump(objects, Nobody(), Unattended(), ResourceRules())
        kinds = Kinds(client, pump, objects)
        kinds.activate(kind_of(JOB))
        async with following() as group:
            await kinds.follow(group)
            read = pump.readers[kind_of(JOB).names.group_kind]
            early, late = (
                msgspec.json.encode({"metadata": {"name": "j", "uid": "u", "resourceVersion": one}})
                for one in ("120", "150")
            )
            pump.put_anew(read(late))
            assert read(early).metadata.resource_version == "120"
            assert read(late) is objects.jobs[read(late).key]


async def test_a_term_does_not_begin_before_its_jobs_are_known() -> None:
    refused, allowed = asyncio.Event(), asyncio.Event()

    async def forbidden(request: HttpRequest) -> Fault | None:
        if not request.path.endswith("/jobs") or allowed.is_set():
            return None
        refused.set()
        return Fault(status=401)

    async with serve(intercept=forbidden) as server, Client(Cluster.plain(server.url)) as client:
        objects = Objects()
        kinds = Kinds(client, Pump(objects, Nobody(), Unattended(), ResourceRules()), objects)
        kinds.activate(kind_of(JOB))
        async with following() as group:
            known = group.create_task(kinds.follow(group))
            await refused.wait()
            await until(lambda: kinds.state(kind_of(JOB).names.group_kind)[0] is KindState.REFUSED)
            assert not known.done()
            allowed.set()
            await known


async def test_objects_are_read_once_all_is_known_that_they_cannot_be_read_without() -> None:
    asked, listed = asyncio.Event(), asyncio.Event()

    async def late(request: HttpRequest) -> Fault | None:
        if request.path.endswith("/clustertrainingruntimes") and request.method == "GET":
            asked.set()
            await listed.wait()
        return None

    async with serve(intercept=late) as server, Client(Cluster.plain(server.url)) as client:
        server.load([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}])
        (row,) = (row for row in ROWS if row.framework == TRAIN_JOB)
        runtime = loaded(row.related)
        group, version = "trainer.kubeflow.org", "v1alpha1"
        runtimes = Resource(group, version, "clustertrainingruntimes", runtime["kind"], False)
        await client.create(CUSTOM_RESOURCE_DEFINITIONS.within(), definition(TRAIN_JOB))
        await client.create(CUSTOM_RESOURCE_DEFINITIONS.within(), defined(runtimes))
        await client.create(runtimes.within(), runtime)
        await client.create(resource(TRAIN_JOB).within("team-a"), sample(row))
        objects = Objects()
        kinds = Kinds(client, Pump(objects, Nobody(), Unattended(), ResourceRules()), objects)
        kinds.activate(kind_of(TRAIN_JOB))
        async with following() as group_of_tasks:
            known = group_of_tasks.create_task(kinds.follow(group_of_tasks))
            await asked.wait()
            await client.list_page(resource(TRAIN_JOB).within())
            assert not objects.jobs
            listed.set()
            await known
            (job,) = objects.jobs.values()
            assert job.problem == ""


async def test_workloads_are_looked_at_when_the_definition_of_their_kind_is_gone() -> None:
    owner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "set"}
    metadata = {
        "name": "left",
        "namespace": "team",
        "uid": "w",
        "resourceVersion": "1",
        "labels": {"kueue.x-k8s.io/job-uid": "gone"},
        "ownerReferences": [{**owner, "uid": "gone", "controller": True}],
    }
    left = read(Workload, {"metadata": metadata, "spec": {"podSets": []}})
    async with serve() as server, Client(Cluster.plain(server.url)) as client:
        looks: list[str] = []
        pump = Pump(Objects(), Nobody(), Queues(looks), ResourceRules())
        kinds = Kinds(client, pump, Objects())
        kinds.activate(kind_of(JOB_SET))
        await client.create(CUSTOM_RESOURCE_DEFINITIONS.within(), definition(JOB_SET))
        async with following() as group:
            await kinds.follow(group)
            pump.on_workload(Added(left))
            looks.clear()
            name = definition(JOB_SET)["metadata"]["name"]
            await client.delete(CUSTOM_RESOURCE_DEFINITIONS.at(name))
            await until(lambda: "workload team/left" in looks)


def defined(one: Resource) -> dict[str, object]:
    """Return the definition of a kind of the whole cluster."""
    kept = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": kept}
    version = {"name": one.version, "served": True, "storage": True, "schema": schema}
    names = {"kind": one.kind, "plural": one.plural, "singular": one.kind.lower()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{one.plural}.{one.group}"},
        "spec": {"group": one.group, "names": names, "scope": "Cluster", "versions": [version]},
    }
