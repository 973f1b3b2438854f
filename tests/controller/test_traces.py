from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from queueing.observe.trace_ids import trace_id_of
from tests.controller.harness import FLAVOR, LOCAL_QUEUE, MakeWorld, cluster_queue, job, true


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


SUBMITTER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def test_an_admission_is_one_trace_that_links_to_its_submitter(world: MakeWorld) -> None:
    async with collecting() as collector:
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        async with world(environment=environment) as w:
            submitted = job("a", seconds=2)
            submitted["metadata"]["annotations"]["traceparent"] = SUBMITTER
            await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE, submitted)
            running = await w.until("Job", "a", lambda one: not one["spec"]["suspend"])
            done = await w.workload("a", true("Finished"))
    pods = running["spec"]["template"]["metadata"]
    assert pods["annotations"]["traceparent"] == SUBMITTER
    spans = {span.name: span for span in collector.spans}
    assert set(spans) == {
        "admission",
        "queued",
        "attempt",
        "status write",
        "unsuspend",
        "pods ready",
    }
    trace = bytes.fromhex(trace_id_of(done["metadata"]["uid"]))
    assert {span.trace_id for span in collector.spans} == {trace}
    whole = spans["admission"]
    assert whole.links[0].trace_id.hex() == SUBMITTER.split("-")[1]
    assert spans["queued"].parent_span_id == whole.span_id
    assert spans["attempt"].parent_span_id == spans["queued"].span_id
