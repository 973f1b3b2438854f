"""Pods that were created before anything gave them their claims: tried, and made anew."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from queueing.apiserver.server import Fault, serve
from queueing.apiserver.wire.call import HttpRequest
from queueing.controller.admission_policies.injection import Injecting, Trial, tried
from queueing.devices.shell.pod_replacement import TRACKING, PodReplacement
from queueing.devices.wire.delays import Pod, left_gated
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.resources import PODS
from tests.controller.unheard import unheard_writes

Wire = dict[str, Any]
GATE = "queueing.dev/claims"


def pod(name: str, **spec: Any) -> Wire:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "j"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "team",
            "labels": {"queueing.dev/inject": "true"},
            "ownerReferences": [{**owner, "controller": True}],
            "finalizers": [TRACKING, "example.com/other"],
        },
        "spec": {
            "containers": [{"name": "c", "image": "i"}],
            "schedulingGates": [{"name": GATE}],
            **spec,
        },
        "status": {"phase": "Pending"},
    }


def read(wire: Wire) -> Pod:
    return msgspec.convert(wire, Pod)


def changed(**metadata: Any) -> Wire:
    made = pod("a")
    return {**made, "metadata": {**made["metadata"], **metadata}}


@pytest.mark.parametrize(
    ("found", "left"),
    [
        pytest.param(pod("a"), True, id="gated and never on a node"),
        pytest.param(pod("a", nodeName="n0"), False, id="on a node"),
        pytest.param(pod("a", schedulingGates=[{"name": "other"}]), False, id="another's gate"),
        pytest.param(pod("a", schedulingGates=[]), False, id="no gate"),
        pytest.param({**pod("a"), "status": {"phase": "Failed"}}, False, id="it ended"),
        pytest.param(changed(labels={}), False, id="not to be injected"),
        pytest.param(changed(ownerReferences=[]), False, id="nobody's"),
        pytest.param(changed(deletionTimestamp="2026-01-01T00:00:00Z"), False, id="on its way out"),
    ],
)
def test_only_pods_of_the_job_that_never_ran_are_left_gated(found: Wire, *, left: bool) -> None:
    assert bool(left_gated([read(found)], "j")) is left
    assert not left_gated([read(found)], "of another job")


class Server:
    """An API server that notes what becomes of pods."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.fault: Fault | None = None

    async def answer(self, call: HttpRequest) -> Fault | None:
        if "/pods" in call.path and call.method != "GET":
            self.calls.append(call.method)
            return self.fault
        return None


@asynccontextmanager
async def running(server: Server) -> AsyncIterator[Client]:
    async with (
        serve(intercept=server.answer) as started,
        Client(Cluster.plain(started.url)) as client,
    ):
        names = ("team", "kueue-system")
        started.load(
            [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": one}} for one in names]
        )
        yield client


def remake_with(client: Client, result: Injecting, doubts: list[str]) -> PodReplacement:
    writes = unheard_writes(client)

    async def trial() -> Trial:
        """End like this: the embedded server knows no policies."""
        return Trial(result)

    return PodReplacement(writes, trial, lambda: doubts.append("doubt"))


@pytest.mark.parametrize(
    ("fault", "result"),
    [
        pytest.param(None, Injecting.FAILS, id="nothing changes pods"),
        pytest.param(Fault(status=500), Injecting.FAILS, id="the webhook is away"),
        pytest.param(Fault(status=403), Injecting.UNKNOWN, id="we may not try"),
    ],
)
async def test_what_cannot_be_tried_is_no_failure(fault: Fault | None, result: Injecting) -> None:
    server = Server()
    server.fault = fault
    async with running(server) as client:
        assert (await tried(client, "kueue-system")).result is result


@pytest.mark.parametrize(
    ("result", "doubted"),
    [
        pytest.param(Injecting.FAILS, True, id="new ones would be gated too"),
        pytest.param(Injecting.UNKNOWN, False, id="nobody knows"),
    ],
)
async def test_pods_are_left_alone_unless_new_ones_get_their_claims(
    result: Injecting, *, doubted: bool
) -> None:
    server, doubts = Server(), list[str]()
    async with running(server) as client:
        assert await remake_with(client, result, doubts).remake([read(pod("a"))]) == 0
    assert (server.calls, bool(doubts)) == ([], doubted)


async def test_a_pod_is_deleted_as_it_was_seen_and_its_job_counts_no_failure() -> None:
    async with running(Server()) as client:
        made, seen = remake_with(client, Injecting.WORKS, []), []
        for name in ("a", "b"):
            asked = changed(name=name, ownerReferences=[])  # no such Job is there
            reply = await client.create(PODS.within("team"), asked)
            seen.append(msgspec.json.decode(reply, type=Pod))
        change = {"metadata": {"labels": {"changed": "meanwhile"}}}
        await client.patch_merge(PODS.at("b", "team"), change)
        assert await made.remake(seen) == 1
        left = msgspec.json.decode(await client.list_page(PODS.within("team")))["items"]
    gone, kept = sorted(left, key=lambda one: str(one["metadata"]["name"]))
    assert gone["metadata"]["finalizers"] == ["example.com/other"]
    assert gone["metadata"]["deletionTimestamp"]
    assert TRACKING in kept["metadata"]["finalizers"]
    assert "deletionTimestamp" not in kept["metadata"]
