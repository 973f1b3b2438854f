"""A gate before the API server: lets so many writes of a client through and holds the next.

A cable cuts between packets; this stops between two writes, exactly. What was held never arrives.
"""

import http.client
import json
import re
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from typing_extensions import override

from e2e.closing import Closing
from e2e.cluster import Cluster
from e2e.components import HOST
from e2e.wire import Access, tls_of

WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_HOP = frozenset({"transfer-encoding", "connection", "keep-alive", "content-length"})
_TIMEOUT_S = 330.0


@dataclass(frozen=True, slots=True)
class Blow:
    """A request that fails with a status, 0 for no answer at all; `late`: after it was done."""

    status: int = 0
    late: bool = False


class Gate(Closing):
    """Speaks plain HTTP on loopback, and to the API server as one identity."""

    def __init__(self, cluster: Cluster, identity: str) -> None:
        self._access: Access = cluster.accesses[identity]
        self._tls: ssl.SSLContext = tls_of(self._access)
        self._lock = threading.Lock()
        self._left: int | None = None
        self._counted = re.compile("")
        self._dropped = threading.Event()
        self.held = threading.Event()
        """A write was held: nothing more of what is counted gets through."""
        self.passed: list[str] = []
        """The counted writes that got through, in order."""
        self._server = ThreadingHTTPServer((HOST, 0), self._handler())
        self._server.daemon_threads = True
        self.port: int = self._server.server_port
        self.kubeconfig: Path = cluster.folder / f"gate-{self.port}.kubeconfig"
        here = replace(
            self._access,
            server=f"http://{HOST}:{self.port}",
            certificate="",
            key="",
            token="gate",
        )
        self.kubeconfig.write_text(here.kubeconfig())
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def hold_after(self, writes: int, counted: str) -> None:
        """Hold whatever is written to paths that the pattern `counted` finds, after so many."""
        with self._lock:
            self._left, self._counted = writes, re.compile(counted)
            self._dropped, self.passed = threading.Event(), []
            self.held.clear()

    def lift(self) -> None:
        """Drop what is held, and let everything through from now on."""
        with self._lock:
            self._left = None
            self._dropped.set()

    @override
    def close(self) -> None:
        self.lift()
        self._server.shutdown()
        self._server.server_close()

    def admit(self, method: str, path: str) -> bool:
        """Let a request pass, or hold it until it is dropped: False."""
        with self._lock:
            if self._left is None or method not in WRITES or not self._counted.search(path):
                return True
            if self._left > 0:
                self._left -= 1
                self.passed.append(f"{method} {path}")
                return True
            dropped = self._dropped
            self.held.set()
        dropped.wait(_TIMEOUT_S)
        return False

    def instead(self, method: str, path: str) -> Blow | None:
        """Say what happens instead of the answer to a request; None: nothing."""
        del method, path
        return None

    def connection(self) -> http.client.HTTPSConnection:
        address = urlsplit(self._access.server)
        return http.client.HTTPSConnection(
            address.hostname or HOST, address.port, context=self._tls, timeout=_TIMEOUT_S
        )

    @property
    def authorization(self) -> dict[str, str]:
        token = self._access.token
        return {"Authorization": f"Bearer {token}"} if token else {}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        gate = self

        class Handler(_Forward):
            at = gate

        return Handler


class _Forward(BaseHTTPRequestHandler):
    """Forwards one client connection's requests over one connection of its own."""

    at: Gate
    protocol_version = "HTTP/1.1"

    @override
    def handle(self) -> None:
        self._there = self.at.connection()
        # Either end may go at any time: that is what the tests are about.
        with suppress(OSError, http.client.HTTPException):
            super().handle()
        self._there.close()

    def forward(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else None
        if not self.at.admit(self.command, self.path):
            self.close_connection = True
            return
        blow = self.at.instead(self.command, self.path)
        if blow is not None and not blow.late:
            self._fail(blow)
            return
        headers = {
            key: value
            for key, value in self.headers.items()
            if key.lower() not in _HOP | {"host", "authorization"}
        }
        self._there.request(
            self.command, self.path, body=body, headers=headers | self.at.authorization
        )
        response = self._there.getresponse()
        if blow is not None:
            response.read()
            self._fail(blow)
            return
        self._answer(response)

    def _fail(self, blow: Blow) -> None:
        if not blow.status:
            self.close_connection = True
            return
        body = json.dumps({"kind": "Status", "code": blow.status, "message": "weather"}).encode()
        self.send_response_only(blow.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _answer(self, response: http.client.HTTPResponse) -> None:
        self.send_response_only(response.status)
        for key, value in response.getheaders():
            if key.lower() not in _HOP:
                self.send_header(key, value)
        if response.length is not None:
            data = response.read()
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while data := response.read1(65536):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the controller's log tells enough."""

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = forward  # noqa: N815 - the base's names
