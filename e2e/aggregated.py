"""Another API server behind the real one: the embedded one, which an APIService makes known."""

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from e2e.api import Api, holds
from e2e.certificates import authority, issue
from e2e.components import HOST
from e2e.installed import API_SERVICE
from e2e.wire import Object
from queueing.apiserver.server import serve

SERVICE = "other-server"
NAMESPACE = "default"
READY_S = 30.0


class Behind:
    """The embedded server with some objects, by TLS on a port of loopback, until `stop`."""

    def __init__(self, folder: Path, *objects: Object) -> None:
        made = issue(folder, SERVICE, issuer=authority(folder, SERVICE), hosts=("localhost",))
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(made.certificate_file, made.key_file)
        self._objects, self.port = objects, 0
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(READY_S)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(READY_S)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        async with serve() as server:
            server.load(self._objects)
            self._target = urlsplit(server.url).port
            front = await asyncio.start_server(self._join, HOST, 0, ssl=self._context)
            async with front:
                self.port = front.sockets[0].getsockname()[1]
                self._ready.set()
                await self._end.wait()

    async def _join(self, here: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        there, on = await asyncio.open_connection(HOST, self._target)
        try:
            with suppress(OSError):
                await asyncio.gather(_forward(here, on), _forward(there, back))
        finally:
            for one in (on, back):
                one.close()
                with suppress(OSError):
                    await one.wait_closed()


async def _forward(come: asyncio.StreamReader, go: asyncio.StreamWriter) -> None:
    while data := await come.read(65536):
        go.write(data)
        await go.drain()
    go.close()


@contextmanager
def served_behind(api: Api, folder: Path, definition: Object, namespace: str) -> Iterator[None]:
    """Have a kind served by another API server, in a namespace."""
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    behind = Behind(folder, definition, space)
    group, version = definition["spec"]["group"], definition["spec"]["versions"][0]["name"]
    name = f"{version}.{group}"
    api.apply(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": SERVICE, "namespace": NAMESPACE},
            "spec": {"type": "ExternalName", "externalName": "localhost"},
        }
    )
    api.apply(
        {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": name},
            "spec": {
                "group": group,
                "version": version,
                "groupPriorityMinimum": 100,
                "versionPriority": 100,
                "insecureSkipTLSVerify": True,
                "service": {"name": SERVICE, "namespace": NAMESPACE, "port": behind.port},
            },
        }
    )
    try:
        api.wait_one(API_SERVICE, name, lambda one: holds(one, "Available"), timeout_s=READY_S)
        yield
    finally:
        api.delete(API_SERVICE, name)
        api.delete("Service", SERVICE, NAMESPACE)
        behind.stop()
