"""What the start of a Job with devices asks of the API server, and when it is not made yet."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
import yaml

from queueing.apiserver.server import Fault, serve
from queueing.apiserver.wire.call import HttpRequest
from queueing.controller.jobs.start_errors import DevicesRefusedError
from queueing.controller.writing.events import Events
from queueing.core.names import Key
from queueing.core.settings import Compatibility
from queueing.devices.memory.objects import DeviceMemory
from queueing.devices.shell.claims import Claims
from queueing.devices.shell.flavor_conditions import FlavorConditions
from queueing.devices.shell.starting import DeviceStart, named_by
from queueing.devices.wire import objects as wire
from queueing.devices.wire.names import INJECT_TEMPLATE, PLAN
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.errors import NotSentError
from queueing.kube.events import EventNote, Regarding
from queueing.kube.resources import (
    CUSTOM_RESOURCE_DEFINITIONS,
    DEVICE_FLAVORS,
    RESOURCE_CLAIM_TEMPLATES,
)
from queueing.translate.inbound.manifests import read
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload
from tests.batch_jobs import batch_job
from tests.controller.harness import CRDS
from tests.controller.unheard import unheard_writes
from tests.devices.fleet import device_class, device_flavor, gpus, pod_template

Wire = dict[str, Any]
TEMPLATES = "resourceclaimtemplates"


class Server:
    """An API server that counts what is created, and refuses what it is told to."""

    def __init__(self) -> None:
        self.tried: list[str] = []
        self.refuses = False

    async def answer(self, call: HttpRequest) -> Fault | None:
        if call.method == "POST" and TEMPLATES in call.path:
            self.tried.append("dry run" if "dryRun" in call.query else "create")
            if self.refuses:
                return Fault(status=422)
        return None


class Notebook:
    """Keeps the events that were recorded."""

    def __init__(self) -> None:
        self.reasons: list[str] = []

    def record(self, regarding: Regarding, note: EventNote) -> None:
        self.reasons.append(f"{regarding.kind}: {note.reason}")


@asynccontextmanager
async def starting(
    server: Server, injects: Callable[[], bool] = lambda: True
) -> AsyncIterator[DeviceStart]:
    async with (
        serve(intercept=server.answer) as running,
        Client(Cluster.plain(running.url)) as client,
    ):
        running.load([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}])
        writes = unheard_writes(client)
        memory = DeviceMemory()
        memory.flavors["h100"] = read(wire.DeviceFlavor, device_flavor())
        memory.classes["gpu"] = read(wire.DeviceClass, device_class())
        memory.join_rules()
        events = Events(Notebook(), Compatibility.QUEUEING)
        yield DeviceStart(memory, Claims(memory, writes), events, injects)


def admitted(number: int) -> tuple[JobView, Workload]:
    name, template = f"train-{number}", pod_template(gpus(1))
    meta: Wire = {"name": name, "namespace": "team", "uid": f"job-{number}"}
    job = batch_job({"metadata": meta, "spec": {"suspend": True, "template": template}})
    assigned = {"name": "main", "count": 1, "flavors": {"nvidia.com/gpu": "h100"}}
    workload = read(
        Workload,
        {
            "metadata": {"name": f"job-{name}", "namespace": "team", "uid": f"workload-{number}"},
            "spec": {"podSets": [{"name": "main", "count": 1, "template": template}]},
            "status": {"admission": {"clusterQueue": "cq", "podSetAssignments": [assigned]}},
        },
    )
    return job, workload


async def test_what_many_jobs_ask_for_alike_is_tried_once_even_when_they_start_together() -> None:
    server = Server()
    async with starting(server) as start:
        await asyncio.gather(*(start.prepare(*admitted(number)) for number in range(5)))
        await start.prepare(*admitted(5))
    assert server.tried.count("dry run") == 1
    assert server.tried.count("create") == 6


async def test_a_spec_is_tried_again_when_the_server_refuses_it_after_all() -> None:
    server = Server()
    async with starting(server) as start:
        await start.prepare(*admitted(0))
        server.refuses = True
        with pytest.raises(DevicesRefusedError):
            await start.prepare(*admitted(1))
        server.refuses = False
        await start.prepare(*admitted(2))
    assert server.tried == ["dry run", "create", "create", "dry run", "create"]


async def test_a_template_of_somebody_else_with_our_name_is_left_alone_and_named() -> None:
    async with starting(Server()) as start:
        job, workload = admitted(0)
        (wanted,) = start.realise(job, workload).objects
        meta = {"name": wanted["metadata"]["name"], "namespace": "team"}
        target = RESOURCE_CLAIM_TEMPLATES.within("team")
        await start.claims.writes.client.create(target, {**wanted, "metadata": meta})
        with pytest.raises(DevicesRefusedError, match="is not of this admission") as refused:
            await start.prepare(job, workload)
        assert refused.value.reason == "NameConflict"
        found = RESOURCE_CLAIM_TEMPLATES.at(meta["name"], "team")
        assert b"ownerReferences" not in await start.claims.writes.client.get(found)


async def test_a_slots_template_of_an_earlier_start_is_replaced_once_nobody_holds_it() -> None:
    async with starting(Server()) as start:
        job, workload = admitted(0)
        (wanted,) = start.realise(job, workload).objects
        name, meta = wanted["metadata"]["name"], wanted["metadata"]
        earlier = {**meta, "annotations": {**meta["annotations"], PLAN: "another"}}
        del earlier["ownerReferences"]  # no such Job is there
        target = RESOURCE_CLAIM_TEMPLATES.within("team")
        await start.claims.writes.client.create(target, {**wanted, "metadata": earlier})
        held = {
            "metadata": {"name": "held", "namespace": "team", "labels": meta["labels"]},
            "status": {"allocation": {"devices": {"results": []}}},
        }
        start.memory.put_claim(read(wire.ResourceClaim, held))
        with pytest.raises(NotSentError, match="whose pods are not gone yet"):
            await start.prepare(job, workload)
        start.memory.drop_claim(Key("team/held"))
        with pytest.raises(NotSentError, match="is being replaced"):
            await start.prepare(job, workload)
        await start.prepare(job, workload)
        known = start.memory.templates[Key(f"team/{name}")].metadata
        assert known.annotations[PLAN] == meta["annotations"][PLAN]


async def test_a_flavor_that_a_device_plugin_serves_needs_no_class() -> None:
    async with starting(Server()) as start:
        client = start.claims.writes.client
        (definition,) = CRDS.glob("queueing.dev_deviceflavors.yaml")
        await client.create(
            CUSTOM_RESOURCE_DEFINITIONS.within(), yaml.safe_load(definition.read_text())
        )
        plain = {"name": "nvidia.com/gpu", "strategy": "Native"}
        for made in (device_flavor(), device_flavor("plain", "plain", plain)):
            await client.create(DEVICE_FLAVORS.within(), made)
            reply = await client.get(DEVICE_FLAVORS.at(made["metadata"]["name"]))
            start.memory.flavors[made["metadata"]["name"]] = msgspec.json.decode(
                reply, type=wire.DeviceFlavor
            )
        start.memory.classes.clear()
        start.memory.join_rules()
        await FlavorConditions(start.memory, start.claims.writes, lambda: 0.0, ("h100",)).write()
        told = {}
        for name in ("h100", "plain"):
            found = msgspec.json.decode(await client.get(DEVICE_FLAVORS.at(name)))
            (told[name],) = found["status"]["conditions"]
        assert (told["plain"]["status"], told["plain"]["reason"]) == ("True", "Ready")
        assert told["plain"]["message"].endswith("once there is a ResourceFlavor plain")
        assert (told["h100"]["status"], told["h100"]["reason"]) == ("False", "DeviceClassNotFound")
        assert "DeviceClass gpu.nvidia.com of nvidia.com/gpu" in told["h100"]["message"]


async def test_a_job_is_not_started_before_its_pods_would_get_their_claims() -> None:
    works: list[bool] = []
    called: list[str] = []
    heard = asyncio.Event()

    def attend(uid: str) -> None:
        called.append(uid)
        heard.set()

    async with starting(Server(), lambda: bool(works)) as start, asyncio.timeout(10):
        job, workload = admitted(0)
        calling = asyncio.create_task(start.call_postponed(attend))
        with pytest.raises(NotSentError, match="does not give pods their claims yet"):
            await start.prepare(job, workload)
        assert not called
        works.append(True)
        await heard.wait()
        changes = await start.prepare(job, workload)
        calling.cancel()
    assert called == [workload.metadata.uid]
    assert changes.gates == ("queueing.dev/claims",)


def test_what_running_pods_name_is_needed_whatever_the_rules_say() -> None:
    job, _ = admitted(0)
    template = dict(pod_template(gpus(1)))
    template["metadata"] = {"annotations": {INJECT_TEMPLATE: "made,more"}}
    claims = [
        {"name": "slot", "resourceClaimTemplateName": "slot"},
        {"name": "shared", "resourceClaimName": "shared"},
    ]
    template["spec"] = {**template["spec"], "resourceClaims": claims}
    started = batch_job({"metadata": {"name": "train"}, "spec": {"template": template}})
    assert list(named_by(started, {INJECT_TEMPLATE: ""})) == ["made", "more", "slot", "shared"]
    assert list(named_by(job, {INJECT_TEMPLATE: ""})) == []
