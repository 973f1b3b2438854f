"""Sends planned spans to an OpenTelemetry collector.

The SDK is imported only when tracing is configured.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Protocol

from queueing.observe.spans import SpanPlan
from queueing.observe.trace_ids import parse_traceparent, trace_id_of
from queueing.observe.trace_settings import TraceSettings, settings_from


class SpanSink(Protocol):
    """Where planned spans go."""

    def send(self, plan: SpanPlan) -> None:
        """Take a span over; returns at once."""
        ...

    def close(self) -> None:
        """Send what is left; blocks for as long as the exporter's timeout at most."""
        ...


class Tracer:
    """Exports spans; there is none at all unless tracing is configured."""

    def __init__(self, settings: TraceSettings, sink: SpanSink) -> None:
        self._settings = settings
        self._sink = sink

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], version: str) -> "Tracer | None":
        """Return the tracer that the OTEL_* variables ask for; None means tracing is off."""
        settings = settings_from(environment)
        if settings is None:
            return None
        from queueing.observe.otlp import OtlpSink  # noqa: PLC0415 - only if configured: 0.2 s

        return cls(settings, OtlpSink(settings.endpoint, version))

    def keeps(self, uid: str, traceparent: str = "") -> bool:
        """Tell whether the workload's trace is recorded; ask before planning its spans."""
        return self._settings.keeps(trace_id_of(uid), parse_traceparent(traceparent))

    def export(self, plans: Iterable[SpanPlan]) -> None:
        """Hand spans over for sending; returns at once."""
        for plan in plans:
            self._sink.send(plan)

    async def close(self) -> None:
        """Send what is left, without holding up the event loop."""
        await asyncio.to_thread(self._sink.close)
