"""Owners that the watch has not shown yet: whoever queues in the place of a job is known first."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from queueing.apiserver.server import Fault, serve
from queueing.apiserver.wire.call import HttpRequest
from queueing.controller.jobs.ancestry import Ancestry
from queueing.controller.jobs.owners import Owners
from queueing.controller.stores.objects import Objects
from queueing.kinds.owners import OwnerGoneError
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.errors import NotPermittedError
from queueing.kube.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
from queueing.translate.jobs.composition import JobKind
from queueing.translate.jobs.view import JobView
from tests.batch_jobs import batch_job
from tests.controller.unheard import Unheard, unheard_writes

EXAMPLES = Path(__file__).parents[3] / "examples" / "kinds"
EXPERIMENTS = Resource("lab.example.com", "v1", "experiments", "Experiment")
KIND = JobKind(api_version="lab.example.com/v1", kind="Experiment", plural="experiments")


@dataclass
class Learned:
    """Owners of a cluster in which a QueueableKind describes Experiments."""

    owners: Owners
    client: Client
    ancestry: Ancestry
    denied: bool = False
    absorbed: list[JobKind] = field(default_factory=list)


@asynccontextmanager
async def cluster() -> AsyncIterator[tuple[Learned, JobView]]:
    """Yield what is learned, and a Job that an Experiment controls."""
    denied: list[Learned] = []

    async def deny(request: HttpRequest) -> Fault | None:
        refused = any(one.denied for one in denied) and "/experiments/" in request.path
        told = 'experiments "sweep" is forbidden: User "queueing" cannot get them'
        return Fault(status=403, reason="Forbidden", message=told) if refused else None

    async with serve(intercept=deny) as server, Client(Cluster.plain(server.url)) as client:
        server.load([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}])
        definition = yaml.safe_load((EXAMPLES / "definition.yaml").read_text())
        await client.create(CUSTOM_RESOURCE_DEFINITIONS.within(), definition)
        thing = yaml.safe_load((EXAMPLES / "example.yaml").read_text())
        thing["metadata"] = {"name": "sweep", "namespace": "team"}
        reply = await client.create(EXPERIMENTS.within("team"), thing)
        unheard = Unheard()
        writes = unheard_writes(client, unheard)
        objects = Objects()
        objects.kinds[KIND.group_kind] = KIND
        ancestry = Ancestry(objects, lambda _job: True)
        found = Learned(Owners(objects, writes, ancestry), client, ancestry, absorbed=unheard.jobs)
        denied.append(found)
        yield found, below(msgspec.json.decode(reply))


def below(above: dict[str, Any]) -> JobView:
    meta = above["metadata"]
    names = {"apiVersion": above["apiVersion"], "kind": above["kind"], "name": meta["name"]}
    owner = {**names, "uid": meta["uid"], "controller": True}
    metadata = {"name": "j", "namespace": "team", "uid": "u", "ownerReferences": [owner]}
    template = {"spec": {"containers": [{"name": "c"}]}}
    return batch_job({"metadata": metadata, "spec": {"template": template}})


async def test_an_owner_of_a_described_kind_is_read_before_its_job_is_queued_by_itself() -> None:
    async with cluster() as (found, child):
        await found.owners.learn(child)
        assert found.absorbed == [KIND]


async def test_an_owner_that_another_controller_queues_is_queued_in_the_place_of_its_jobs() -> None:
    async with cluster() as (found, child):
        objects = found.ancestry.objects
        assert found.ancestry.ancestor_of(child) is None
        objects.external[KIND.group_kind] = objects.kinds.pop(KIND.group_kind)
        await found.owners.learn(child)
        assert found.absorbed == []
        above = found.ancestry.ancestor_of(child)
        assert above is not None
        assert above.metadata.name == "sweep"
        assert not found.ancestry.is_admitted(above)


async def test_an_owner_that_another_controller_queues_must_be_readable() -> None:
    async with cluster() as (found, child):
        objects = found.ancestry.objects
        objects.external[KIND.group_kind] = objects.kinds.pop(KIND.group_kind)
        found.denied = True
        with pytest.raises(NotPermittedError):
            await found.owners.learn(child)


async def test_an_owner_that_may_not_be_read_any_more_holds_up_no_job() -> None:
    async with cluster() as (found, child):
        found.denied = True
        await found.owners.learn(child)
        assert found.absorbed == []


async def test_an_owner_that_does_not_exist_is_told_of() -> None:
    async with cluster() as (found, child):
        await found.client.delete(EXPERIMENTS.at("sweep", "team"))
        with pytest.raises(OwnerGoneError, match="workload owner not found: Experiment sweep"):
            await found.owners.learn(child)


async def test_a_later_life_of_an_owners_name_is_not_waited_for() -> None:
    async with cluster() as (found, child):
        await found.client.delete(EXPERIMENTS.at("sweep", "team"))
        thing = yaml.safe_load((EXAMPLES / "example.yaml").read_text())
        thing["metadata"] = {"name": "sweep", "namespace": "team"}
        await found.client.create(EXPERIMENTS.within("team"), thing)
        await found.owners.learn(child)
        assert found.absorbed == []
