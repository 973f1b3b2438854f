"""A receiver of OpenTelemetry's spans over HTTP, in a thread of the tests."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from typing_extensions import override

from e2e.components import HOST

NANO = 1_000_000_000


@dataclass(slots=True)
class Collector:
    """Where spans are sent, and what came."""

    url: str
    spans: list[Span] = field(default_factory=list)

    def of(self, trace_id: str) -> list[Span]:
        """Return the spans of a trace."""
        return [one for one in list(self.spans) if one.trace_id.hex() == trace_id]


def covered_s(spans: Iterable[Span]) -> float:
    """Return how many seconds are within at least one of some spans."""
    covered, until_ns = 0, 0
    for one in sorted(spans, key=lambda each: each.start_time_unix_nano):
        began = max(one.start_time_unix_nano, until_ns)
        covered += max(one.end_time_unix_nano - began, 0)
        until_ns = max(until_ns, one.end_time_unix_nano)
    return covered / NANO


@contextmanager
def collecting() -> Iterator[Collector]:
    """Run a collector."""
    found: list[Span] = []

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            for of in ExportTraceServiceRequest.FromString(self.rfile.read(length)).resource_spans:
                for scope in of.scope_spans:
                    found.extend(scope.spans)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        @override
        def log_message(self, format: str, *args: object) -> None:
            del format, args

    with ThreadingHTTPServer((HOST, 0), Taking) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield Collector(f"http://{HOST}:{server.server_address[1]}", found)
        finally:
            server.shutdown()
            thread.join()
