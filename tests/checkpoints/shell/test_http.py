"""Pods that are asked over HTTP, with the client library listening in them."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, contextmanager

import pytest

from queueing.checkpoints.memory import CheckpointMemory
from queueing.checkpoints.rules.record import Record, SaveRequest, StopCause
from queueing.checkpoints.rules.terms import Driver, Endpoint, Terms
from queueing.checkpoints.shell.drivers.http_driver import HttpDriver
from queueing.checkpoints.wire.objects import Pod
from queueing.testing.hand_clock import HandClock
from queueing.testing.ports import free_ports
from queueing.translate.inbound.manifests import read
from queueing_checkpoint import ListenerChannel, Notice
from tests.checkpoints.shell.save_harness import checkpoint, objects, phase, saving, urgent
from tests.controller.harness import MakeWorld, Wire, World, true

KEY = "queueing.dev/checkpoint-key"


async def started(at: World, port: int) -> Wire:
    """Have a Job run whose pod is at this machine's own address."""
    http = {"port": port, "path": "/save"}
    await at.make(*objects(driver="HTTP", http=http, ackDeadline="10s"), saving())
    job = await at.until("Job", "train", lambda one: one.get("status", {}).get("active", 0) > 0)
    (pod,) = await at.list("Pod")
    await at.until("Pod", pod["metadata"]["name"], lambda one: one["status"]["phase"] == "Running")
    body = {"status": {"podIP": "127.0.0.1"}}
    await at.patch("Pod", pod["metadata"]["name"], body, "status")
    return job


@contextmanager
def listening(key: str, port: int, heard: Callable[[Notice, ListenerChannel], None]):  # type: ignore[no-untyped-def]
    channel = ListenerChannel(key, port, "127.0.0.1")
    ended = threading.Event()
    thread = threading.Thread(
        target=channel.listen, args=(lambda notice: heard(notice, channel), ended)
    )
    thread.start()
    try:
        yield channel
    finally:
        ended.set()
        thread.join(10)


def saves(notice: Notice, channel: ListenerChannel) -> None:
    channel.answer(notice.answer("Saved", uri="s3://b/5", step=5))


async def test_a_pod_is_posted_to_and_its_answer_read(world: MakeWorld) -> None:
    (port,) = free_ports(1)
    async with world() as at:
        job = await started(at, port)
        key = job["spec"]["template"]["metadata"]["annotations"][KEY]
        with listening(key, port, saves):
            await at.make(urgent())
            found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == "Saved"
        assert found["status"]["checkpoint"]["uri"] == "s3://b/5"
        await at.workload("urgent", true("Admitted"))
        await at.until("Job", "train", lambda one: one["spec"]["suspend"])


async def test_a_pod_that_does_not_listen_is_given_up(world: MakeWorld) -> None:
    async with world() as at:
        await started(at, *free_ports(1))
        await at.make(urgent())
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == "Unresponsive"
        assert "pod team/train" in found["status"]["message"]


@asynccontextmanager
async def answering(port: int, reply: bytes) -> AsyncIterator[None]:
    """Answer every call with the same bytes, or never when there are none."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1024)
        if not reply:
            await asyncio.sleep(60)
        writer.write(reply)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", port)
    try:
        yield
    finally:
        server.close()


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        pytest.param(
            b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n",
            "500",
            id="an error",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            b"HTTP/1.1 302 Go\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
            "302",
            id="a redirect",
            marks=pytest.mark.slow,
        ),
        pytest.param(b"nonsense\r\n\r\n", "", id="no HTTP", marks=pytest.mark.slow),
    ],
)
async def test_a_hook_that_answers_nonsense_blocks_nobody(
    world: MakeWorld, reply: bytes, said: str
) -> None:
    (port,) = free_ports(1)
    async with world() as at, answering(port, reply):
        await started(at, port)
        await at.make(urgent())
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == "Unresponsive"
        assert said in found["status"]["message"]


async def test_an_answer_that_comes_in_parts_is_read_to_its_end() -> None:
    (port,) = free_ports(1)
    body = b'{"answer": "Saved", "uri": "s3://b/5"}'
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for part in (head, body[:10], body[10:]):
            await asyncio.sleep(0.05)
            writer.write(part)
            await writer.drain()
        writer.close()
        await writer.wait_closed()
        ended.set()

    memory = CheckpointMemory()
    driver = HttpDriver(memory, HandClock())
    terms = Terms(driver=Driver.HTTP, http=Endpoint(port=port, path="/save"))
    request = SaveRequest.made("r", 1, StopCause("Preempted"), terms=terms, now=0.0)
    meta = {"name": "a-0", "namespace": "team", "annotations": {KEY: "secret"}}
    pod = read(Pod, {"metadata": meta, "status": {"podIP": "127.0.0.1"}})
    memory.pods[pod.metadata.key] = pod
    server = await asyncio.start_server(serve, "127.0.0.1", port)
    try:
        await driver.listen(Record(request=request), [pod.metadata.key])
        async with asyncio.timeout(10):
            await ended.wait()
    finally:
        server.close()
    assert memory.said[pod.metadata.key] == body


def test_only_requests_that_are_signed_lately_are_heard() -> None:
    heard: list[Notice] = []
    channel = ListenerChannel("key", host="127.0.0.1")
    try:
        now, old = f"{time.time():.0f}", f"{time.time() - 3600:.0f}"
        for stamp in (now, old, "", "soon"):
            headers = {"X-Queueing-Timestamp": stamp, "X-Queueing-Signature": "sha256=00"}
            assert not channel.is_signed("POST", "/", headers, b"{}")
        assert heard == []
    finally:
        channel._server.server_close()
