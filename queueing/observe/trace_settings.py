"""Whether and where traces go, by the standard OTEL_* variables."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from queueing.observe.trace_ids import SpanRef

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
