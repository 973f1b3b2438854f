"""A little server in the pod as the channel: the queue posts signed requests, and reads answers.

The pod template hands the key over by an environment variable that reads the pod's annotation:
`fieldRef: {fieldPath: "metadata.annotations['queueing.dev/checkpoint-key']"}`.
"""

import hmac
import threading
import time
from collections.abc import Mapping
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from queueing_checkpoint.channels import Heard
from queueing_checkpoint.messages import Notice
from queueing_checkpoint.pod import PodChannel

PORT_VARIABLE = "QUEUEING_CHECKPOINT_PORT"
KEY_VARIABLE = "QUEUEING_CHECKPOINT_KEY"
AGE_MAX_S = 300.0
_BODY_MAX = 64 * 1024
_CALL_S = 10.0


class ListenerChannel:
    """Listens on a port; requests that are not signed with the key are refused."""

    def __init__(
        self, key: str, port: int = 0, host: str = "", *, pod: PodChannel | None = None
    ) -> None:
        self._key, self._answer, self._pod = key, b"", pod
        self._heard: Heard = _nobody
        self._server = ThreadingHTTPServer((host, port), self._handler())
        self._server.daemon_threads = True

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "ListenerChannel | None":
        """Return the channel when the surroundings name a port and a key."""
        port, key = environment.get(PORT_VARIABLE, ""), environment.get(KEY_VARIABLE, "")
        if not (port.isdecimal() and key):
            return None
        return cls(key, int(port), pod=PodChannel.of(environment))

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    def listen(self, heard: Heard, ended: threading.Event) -> None:
        self._heard = heard
        serving = threading.Thread(target=self._server.serve_forever, daemon=True)
        serving.start()
        ended.wait()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, text: str) -> None:
        self._answer = text.encode()

    def idle(self, since: float | None) -> None:
        """Say so by the own pod, where that may be patched: nobody asks over HTTP."""
        if self._pod is not None:
            self._pod.idle(since)

    def take(self, body: bytes) -> bool:
        """Take a request in; False for what is none."""
        notice = Notice.read(body.decode("utf-8", "replace"))
        if notice is not None:
            self._heard(notice)
        return notice is not None

    def is_signed(self, method: str, path: str, headers: Mapping[str, Any], body: bytes) -> bool:
        """Say whether a request was made with the key, and lately."""
        stamp = str(headers.get("X-Queueing-Timestamp") or "")
        if not stamp.isdecimal() or abs(time.time() - int(stamp)) > AGE_MAX_S:
            return False
        signed = f"{stamp}\n{method}\n{path}\n".encode() + body
        want = "sha256=" + hmac.new(self._key.encode(), signed, sha256).hexdigest()
        return hmac.compare_digest(want, str(headers.get("X-Queueing-Signature") or ""))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        channel = self

        class Handler(BaseHTTPRequestHandler):
            """Answers the two calls."""

            def setup(self) -> None:  # type: ignore[explicit-override] # no typing.override in 3.11
                super().setup()
                self.connection.settimeout(_CALL_S)

            def do_POST(self) -> None:
                length = self.headers.get("Content-Length") or "0"
                size = int(length) if length.isdecimal() else _BODY_MAX + 1
                body = self.rfile.read(size) if size <= _BODY_MAX else b""
                if not channel.is_signed("POST", self.path, dict(self.headers), body):
                    self._reply(403)
                else:
                    self._reply(202 if channel.take(body) else 400)

            def do_GET(self) -> None:
                if not channel.is_signed("GET", self.path, dict(self.headers), b""):
                    self._reply(403)
                else:
                    self._reply(200, channel._answer)

            def _reply(self, status: int, body: bytes = b"") -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_request(self, *_: Any) -> None:  # type: ignore[explicit-override] # likewise
                """Say nothing: the output is the work's own."""

        return Handler


def _nobody(notice: Notice) -> None:
    """Hear a request before anybody listens: it is asked again."""
