import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from queueing.observe.trace_ids import trace_id_of
from tests.checkpoints.shell.save_harness import (
    Pods,
    checkpoint,
    objects,
    phase,
    saving,
    says,
    urgent,
)
from tests.controller.harness import FLAVOR, LOCAL_QUEUE, MakeWorld, cluster_queue, job, true
from tests.controller.test_kinds import (
    JOB_SET,
    ON,
    create,
    define,
    ended,
    job_set,
    runs,
    status,
    until,
)


@dataclass
class Collector:
    """A receiver of OTLP over HTTP."""

    url: str = ""
    spans: list[Span] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        found = ExportTraceServiceRequest.FromString(await request.read())
        for resource in found.resource_spans:
            for scope in resource.scope_spans:
                self.spans += scope.spans
        body = ExportTraceServiceResponse().SerializeToString()
        return web.Response(body=body, content_type="application/x-protobuf")


@asynccontextmanager
async def collecting() -> AsyncIterator[Collector]:
    collector = Collector()
    app = web.Application()
    app.router.add_post("/v1/traces", collector.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    collector.url = f"http://{host}:{port}"
    try:
        yield collector
    finally:
        await runner.cleanup()


@asynccontextmanager
async def hanging() -> AsyncIterator[tuple[str, asyncio.Event]]:
    """Run a collector that takes connections and says nothing; yield its address.

    The event is set when somebody has asked it for the first time.
    """
    asked, over = asyncio.Event(), asyncio.Event()

    async def take(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await over.wait()
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    try:
        yield f"http://{host}:{port}", asked
    finally:
        over.set()
        server.close()


SUBMITTER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def test_an_admission_is_told_in_the_trace_of_its_submitter(world: MakeWorld) -> None:
    async with collecting() as collector:
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        async with world(environment=environment) as w:
            submitted = job("a", seconds=20)
            submitted["metadata"]["annotations"]["traceparent"] = SUBMITTER
            await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE, submitted)
            running = await w.until("Job", "a", lambda one: not one["spec"]["suspend"])
            done = await w.workload("a", true("Finished"))
    spans = {span.name: span for span in collector.spans}
    cycles = {span.span_id for span in collector.spans if span.name == "cycle"}
    assert set(spans) == {
        "admission",
        "queued",
        "attempt",
        "cycle",
        "status write",
        "unsuspend",
        "pods scheduled",
        "pods ready",
    }
    mine = [span for span in collector.spans if span.name != "cycle"]
    assert {span.trace_id.hex() for span in mine} == {SUBMITTER.split("-")[1]}
    whole = spans["admission"]
    assert whole.parent_span_id.hex() == SUBMITTER.split("-")[2]
    pods = running["spec"]["template"]["metadata"]
    assert pods["annotations"]["traceparent"].split("-")[1:3] == [
        whole.trace_id.hex(),
        whole.span_id.hex(),
    ]
    assert {link.span_id for link in spans["attempt"].links} <= cycles
    assert done["metadata"]["annotations"]["traceparent"] == SUBMITTER
    assert spans["queued"].parent_span_id == whole.span_id
    assert spans["attempt"].parent_span_id == spans["queued"].span_id


async def test_pods_get_the_trace_of_their_submitter_where_nothing_is_exported(
    world: MakeWorld,
) -> None:
    async with world() as w:
        submitted = job("a", seconds=20)
        submitted["metadata"]["annotations"]["traceparent"] = SUBMITTER
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE, submitted)
        running = await w.until("Job", "a", lambda one: not one["spec"]["suspend"])
    assert running["spec"]["template"]["metadata"]["annotations"]["traceparent"] == SUBMITTER


async def test_a_collector_that_never_answers_delays_no_admission(
    world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    async with (
        hanging() as (url, asked),
        world(environment={"OTEL_EXPORTER_OTLP_ENDPOINT": url}) as w,
    ):
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE, job("first", seconds=1))
        await w.workload("first", true("Admitted"))
        await asked.wait()
        # It hangs in the event loop of the controller: had that waited, nobody would answer.
        await w.make(job("second", seconds=1))
        await w.workload("second", true("Finished"))


async def test_so_is_the_admission_of_another_kind(world: MakeWorld) -> None:
    async with collecting() as collector:
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        async with world(environment=environment, **ON) as w:
            await define(w, JOB_SET)
            await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE)
            await create(w, JOB_SET, job_set("a", annotations={"traceparent": SUBMITTER}))
            started = await until(w, JOB_SET, "a", runs)
            ready = {"replicatedJobsStatus": [{"name": "workers", "active": 2, "ready": 2}]}
            await status(w, JOB_SET, "a", {"status": ready})
            await w.workload("a", true("PodsReady"))
            await status(w, JOB_SET, "a", ended("Completed"))
            done = await w.workload("a", true("Finished"))
    (replicated,) = started["spec"]["replicatedJobs"]
    pods = replicated["template"]["spec"]["template"]["metadata"]
    spans = {span.name: span for span in collector.spans if span.name != "cycle"}
    assert {"admission", "queued", "unsuspend", "pods ready"} <= set(spans)
    assert {span.trace_id.hex() for span in spans.values()} == {SUBMITTER.split("-")[1]}
    assert pods["annotations"]["traceparent"].split("-")[2] == spans["admission"].span_id.hex()
    assert done["metadata"]["annotations"]["traceparent"] == SUBMITTER


async def test_a_preemption_tells_how_its_victim_was_asked_saved_and_drained(
    world: MakeWorld,
) -> None:
    asked = {"answer": "Saved", "uri": "s3://b/3", "step": 3}
    async with collecting() as collector:
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        async with world(environment=environment) as w, asyncio.TaskGroup() as group:
            playing = group.create_task(Pods(w, says(asked)).run())
            await w.make(*objects(), saving())
            train = await w.workload("train", true("PodsReady"))
            await w.make(urgent())
            needed = await w.workload("urgent", true("PodsReady"))
            await checkpoint(w, phase("Requeued"))
            await w.delete("Job", "urgent")
            await w.until("Job", "train", lambda one: not one["spec"]["suspend"])
            playing.cancel()
    victim = trace_id_of(train["metadata"]["uid"])
    preemptor = trace_id_of(needed["metadata"]["uid"])
    here = [span for span in collector.spans if span.trace_id.hex() == preemptor]
    there = [span for span in collector.spans if span.trace_id.hex() == victim]
    (whole,) = [span for span in here if span.name == "victim"]
    (own,) = [span for span in there if span.name == "eviction"]
    for spans, above in ((here, whole), (there, own)):
        parts = {one.name: one for one in spans if one.parent_span_id == above.span_id}
        before = {"select", "notify", "ack", "suspend", "drain"}
        assert before <= set(parts) <= before | {"release"}, "it saved at once"
        assert parts["select"].start_time_unix_nano == own.start_time_unix_nano
        assert parts["select"].end_time_unix_nano == parts["notify"].start_time_unix_nano
    assert "release" in {one.name for one in there}, "its own trace waits for the end"
    told = {one.key: one.value.string_value for one in own.attributes}
    assert told["queueing.outcome"] == "Saved"
    assert told["queueing.driver"] == "Annotation"
    assert {"queueing.cohort", "queueing.save_s", "queueing.attempts"} <= set(told)
    assert [one.trace_id.hex() for one in own.links] == [preemptor]
    assert [one.span_id for one in whole.links] == [own.span_id]
    (above,) = [span for span in here if span.name == "preemption"]
    assert whole.parent_span_id == above.span_id
