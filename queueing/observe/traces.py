"""Sends planned spans to an OpenTelemetry collector, if the standard OTEL_* variables ask for it.

The SDK is imported only when tracing is configured.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from queueing.observe.spans import SpanPlan
from queueing.observe.trace_ids import SpanRef, parse_traceparent, trace_id_of

_DEFAULT_ENDPOINT = "http://localhost:4318"
_LOW_64 = (1 << 64) - 1
_DEFAULT_SAMPLER = "parentbased_always_on"


class TraceConfigurationError(ValueError):
    """A variable has a value that cannot be followed; the message names it and the way out."""


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """Where spans go, and which share of the traces is kept."""

    endpoint: str
    ratio: float = 1.0
    follows_parent: bool = True

    def keeps(self, trace_id: str, submitter: SpanRef | None = None) -> bool:
        """Tell whether this trace is recorded: as the submitter decided, else by its own id."""
        if self.follows_parent and submitter is not None:
            return submitter.sampled
        return (int(trace_id, 16) & _LOW_64) < self.ratio * (_LOW_64 + 1)


def settings_from(environment: Mapping[str, str]) -> TraceSettings | None:
    """Read the variables; None when tracing is not asked for or turned off."""
    exporter = environment.get("OTEL_TRACES_EXPORTER", "").strip()
    base = environment.get("OTEL_EXPORTER_OTLP_ENDPOINT", "").strip()
    exact = environment.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "").strip()
    if environment.get("OTEL_SDK_DISABLED", "").lower() == "true" or exporter == "none":
        return None
    if not (exporter or base or exact):
        return None
    if exporter not in {"", "otlp"}:
        raise TraceConfigurationError(
            f"OTEL_TRACES_EXPORTER={exporter}: only otlp and none are supported"
        )
    _check_protocol(environment)
    ratio, follows_parent = _sampler(environment)
    endpoint = exact or f"{(base or _DEFAULT_ENDPOINT).rstrip('/')}/v1/traces"
    return TraceSettings(endpoint, ratio, follows_parent)


def _check_protocol(environment: Mapping[str, str]) -> None:
    general = environment.get("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
    protocol = environment.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", general)
    if protocol != "http/protobuf":
        raise TraceConfigurationError(
            f"OTEL_EXPORTER_OTLP_PROTOCOL={protocol}: only http/protobuf is supported; "
            "point the endpoint at the collector's HTTP port, usually 4318"
        )


def _sampler(environment: Mapping[str, str]) -> tuple[float, bool]:
    """Return the share that is kept and whether a submitter's decision goes first."""
    name = environment.get("OTEL_TRACES_SAMPLER", _DEFAULT_SAMPLER).strip() or _DEFAULT_SAMPLER
    follows_parent = name.startswith("parentbased_")
    share = _SHARES.get(name.removeprefix("parentbased_"))
    if share is None:
        known = ", ".join(sorted(_SHARES))
        raise TraceConfigurationError(
            f"OTEL_TRACES_SAMPLER={name}: use one of {known}, with or without parentbased_"
        )
    return share(environment.get("OTEL_TRACES_SAMPLER_ARG", "1")), follows_parent


def _ratio(text: str) -> float:
    try:
        ratio = float(text)
    except ValueError:
        ratio = -1.0
    if not 0.0 <= ratio <= 1.0:
        raise TraceConfigurationError(
            f"OTEL_TRACES_SAMPLER_ARG={text}: must be a number from 0 to 1"
        )
    return ratio


_SHARES: Mapping[str, Callable[[str], float]] = {
    "always_on": lambda _: 1.0,
    "always_off": lambda _: 0.0,
    "traceidratio": _ratio,
}


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
        return self._settings.keeps(trace_id_of(uid, traceparent), parse_traceparent(traceparent))

    def keeps_trace(self, trace_id: str) -> bool:
        """Tell the same of a trace that belongs to no workload."""
        return self._settings.keeps(trace_id)

    def export(self, plans: Iterable[SpanPlan]) -> None:
        """Hand spans over for sending; returns at once."""
        for plan in plans:
            self._sink.send(plan)

    async def close(self) -> None:
        """Send what is left, without holding up the event loop."""
        await asyncio.to_thread(self._sink.close)
