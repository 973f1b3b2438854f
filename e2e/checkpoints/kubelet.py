"""What stands for a kubelet where the API server runs a command in a pod of a simulated node."""

import asyncio
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from e2e import certificates
from e2e.components import HOST
from queueing.testing.ports import free_ports

PROTOCOL = "v4.channel.k8s.io"
START_S = 30.0


@dataclass(slots=True)
class Kubelet:
    """Runs every command with success; keeps what it was asked."""

    port: int
    output: str
    asked: list[tuple[str, list[str]]] = field(default_factory=list)
    """Path and words of each command."""

    async def attend(self, request: web.Request) -> web.StreamResponse:
        """Run a command."""
        self.asked.append((request.path, request.query.getall("command")))
        socket = web.WebSocketResponse(protocols=(PROTOCOL,))
        await socket.prepare(request)
        await socket.send_bytes(b"\x01" + self.output.encode())
        await socket.send_bytes(b"\x03" + json.dumps({"status": "Success"}).encode())
        await socket.close()
        return socket

    async def serve(self, tls: ssl.SSLContext, up: threading.Event, over: threading.Event) -> None:
        """Serve until the event is set."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.attend)
        runner = web.AppRunner(app, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, HOST, self.port, ssl_context=tls).start()
            up.set()
            await asyncio.to_thread(over.wait)
        finally:
            await runner.cleanup()


@contextmanager
def kubelet(folder: Path, output: str) -> Iterator[Kubelet]:
    """Lend a kubelet that listens on this machine, in a thread of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    authority = certificates.authority(folder, "kubelet")
    pair = certificates.issue(folder, "kubelet", issuer=authority, hosts=(HOST,))
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(pair.certificate_file, pair.key_file)
    (port,) = free_ports(1)
    made, up, over = Kubelet(port, output), threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(made.serve(tls, up, over)))
    thread.start()
    try:
        assert up.wait(START_S), "the kubelet did not start"
        yield made
    finally:
        over.set()
        thread.join(START_S)
