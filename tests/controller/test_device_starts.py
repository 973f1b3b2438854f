"""What the start of a Job with devices asks of the API server, and when it is not made yet."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from queueing.apiserver.server import Fault, serve
from queueing.apiserver.wire.call import Call
from queueing.controller.device_memory import DeviceMemory
from queueing.controller.devices.claiming import Claiming
from queueing.controller.devices.starting import DeviceStart, named_by
from queueing.controller.hand import Hand
from queueing.controller.records import Records
from queueing.controller.refusals import DevicesRefusedError
from queueing.core.settings import Compatibility
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.errors import NotSentError
from queueing.kube.events import EventNote, Regarding
from queueing.translate.devices.names import INJECT_TEMPLATE
from queueing.translate.inbound.manifests import read
from queueing.translate.wire import devices as wire
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload
from tests.translate.devices.fleet import device_class, device_flavor, gpus, pod_template

Wire = dict[str, Any]
TEMPLATES = "resourceclaimtemplates"


class Server:
    """An API server that counts what is created, and refuses what it is told to."""

    def __init__(self) -> None:
        self.tried: list[str] = []
        self.refuses = False

    async def answer(self, call: Call) -> Fault | None:
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
async def starting(server: Server, *, injects: bool = True) -> AsyncIterator[DeviceStart]:
    async with (
        serve(intercept=server.answer) as running,
        Client(Cluster.plain(running.url)) as client,
    ):
        running.load([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}])
        hand = Hand(
            client,
            lambda _seconds: True,
            workload=lambda _reply: None,
            job=lambda _reply: None,
        )
        memory = DeviceMemory()
        memory.flavors["h100"] = read(wire.DeviceFlavor, device_flavor())
        memory.classes["gpu"] = read(wire.DeviceClass, device_class())
        memory.join_rules()
        records = Records(Notebook(), Compatibility.QUEUEING)
        yield DeviceStart(memory, Claiming(memory, hand), records, lambda: injects)


def admitted(number: int) -> tuple[Job, Workload]:
    name, template = f"train-{number}", pod_template(gpus(1))
    meta: Wire = {"name": name, "namespace": "team", "uid": f"job-{number}"}
    job = read(Job, {"metadata": meta, "spec": {"suspend": True, "template": template}})
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


async def test_a_job_is_not_started_before_its_pods_would_get_their_claims() -> None:
    async with starting(Server(), injects=False) as start:
        with pytest.raises(NotSentError, match="does not give pods their claims yet"):
            await start.prepare(*admitted(0))
    async with starting(Server()) as start:
        changes = await start.prepare(*admitted(0))
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
    started = read(Job, {"metadata": {"name": "train"}, "spec": {"template": template}})
    assert list(named_by(started, {INJECT_TEMPLATE: ""})) == ["made", "more", "slot", "shared"]
    assert list(named_by(job, {INJECT_TEMPLATE: ""})) == []
