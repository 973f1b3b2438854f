"""Planned spans as OpenTelemetry's, over OTLP/HTTP. The only module that imports the SDK.

Spans are handed over ready-made, with ids and times of their own. A thread of the SDK sends them in
batches, and drops them when the collector does not keep up. Headers, timeouts and certificates come
from the OTEL_* variables.
"""

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from queueing.observe.spans import SpanPlan
from queueing.observe.trace_ids import SpanRef

_NANO = 1_000_000_000


class OtlpSink:
    """Sends spans to one endpoint, the full URL with its path."""

    def __init__(self, endpoint: str, version: str) -> None:
        own = Resource({"service.name": "queueing", "service.version": version})
        # What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say replaces our own words.
        self._resource = own.merge(OTELResourceDetector().detect())
        self._scope = InstrumentationScope("queueing", version)
        self._processor = BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint))

    def send(self, plan: SpanPlan) -> None:
        timed = plan.timed
        span = ReadableSpan(
            timed.name,
            context=_context(plan.ref),
            parent=None if plan.parent is None else _context(plan.parent),
            resource=self._resource,
            attributes=timed.attributes,
            events=[
                Event(note.name, dict(note.attributes), int(note.at * _NANO))
                for note in timed.notes
            ],
            links=[Link(_context(ref, remote=True)) for ref in plan.links],
            kind=SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR, timed.failure) if timed.failure else Status(),
            start_time=int(timed.began * _NANO),
            end_time=int(timed.ended * _NANO),
            instrumentation_scope=self._scope,
        )
        self._processor.on_end(span)

    def close(self) -> None:
        self._processor.shutdown()  # type: ignore[no-untyped-call]


def _context(ref: SpanRef, *, remote: bool = False) -> SpanContext:
    """Make the SDK's context: a planned span is a kept one, a link is as its owner decided."""
    sampled = ref.sampled if remote else True
    flags = TraceFlags(TraceFlags.SAMPLED if sampled else TraceFlags.DEFAULT)
    return SpanContext(int(ref.trace_id, 16), int(ref.span_id, 16), remote, flags)
