"""The embedded server itself: memory, loop and port put together."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import yaml
from aiohttp import web

from queueing.apiserver.admission.conversion import Converter
from queueing.apiserver.admission.webhooks import WebhookAdmission
from queueing.apiserver.failures import ApiFailure
from queueing.apiserver.memory.collection import Collector, expire_events
from queueing.apiserver.memory.history import WatchEvent, WatchEventType
from queueing.apiserver.memory.journal import Journal
from queueing.apiserver.memory.store import Store
from queueing.apiserver.memory.writes import StoreWrites
from queueing.apiserver.resources.definition import defined_kind
from queueing.apiserver.resources.resource import Resource
from queueing.apiserver.tree import Object, dig, name_of
from queueing.apiserver.wire.api import Api
from queueing.apiserver.wire.bodies import Reply, refusal
from queueing.apiserver.wire.call import HttpRequest
from queueing.apiserver.wire.dispatch import answer, watched
from queueing.apiserver.wire.watching import Watcher, lines, watcher_of

_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
_EXPIRY_EVERY_S = 60.0
"""Seconds between two looks for Events whose time is over."""


class AddressError(Exception):
    """The address to listen on cannot be used; the message names it and says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An answer in place of the server's own: a status, or a cut connection."""

    status: int = 500
    reason: str = "InternalError"
    message: str = "fault"
    retry_after: int | None = None
    drop: bool = False
    after: bool = False

    def reply(self) -> Reply:
        failure = ApiFailure(
            self.status, self.reason, self.message, retryAfterSeconds=self.retry_after
        )
        return refusal(failure)


Intercept = Callable[[HttpRequest], Awaitable[Fault | None]]


@dataclass(slots=True, eq=False)
class EmbeddedServer:
    """A running server; made by `serve`."""

    api: Api
    collector: Collector
    intercept: Intercept | None = None
    url: str = ""
    _watchers: dict[int, Watcher] = field(default_factory=dict)
    _sweeping: bool = False

    @property
    def store(self) -> Store:
        return self.api.store

    def kubeconfig(self) -> str:
        """Return a kubeconfig that points here."""
        name = "queueing-embedded"
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": {"server": self.url}}],
            "users": [{"name": name, "user": {"token": "embedded"}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        }
        return yaml.safe_dump(document, sort_keys=False)

    def load(self, documents: Iterable[Object]) -> None:
        """Create or replace objects in process, definitions first; no webhook is asked."""
        first = ("CustomResourceDefinition", "Namespace")
        for document in sorted(documents, key=lambda item: item.get("kind") not in first):
            self.api.writes.create_or_replace(document)

    def drop_watches(self) -> None:
        """End every open watch, as a restarting server does.

        Raises RuntimeError when none is open: of clients in this process we know no watch.
        """
        if not self._watchers:
            raise RuntimeError("no watch is open over a connection")
        self.end_watches()

    def end_watches(self) -> None:
        """End the watches that are open, if any."""
        for watcher in tuple(self._watchers.values()):
            watcher.close()

    def changed(self, resource: Resource, event: WatchEvent) -> None:
        """Follow a change of the memory: kinds appear and go, garbage is swept soon."""
        if resource.key == _DEFINITIONS:
            if event.change is WatchEventType.DELETED:
                self.store.catalog.drop(name_of(event.after))
            else:
                self.store.catalog.add(defined_kind(event.after))
        if self.collector.note(resource, event) and not self._sweeping:
            self._sweeping = True
            asyncio.get_running_loop().call_soon(self._sweep)

    def _sweep(self) -> None:
        if self.collector.sweep():
            asyncio.get_running_loop().call_soon(self._sweep)
        else:
            self._sweeping = False

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one HTTP request."""
        call = await _read(request)
        fault = await self.intercept(call) if self.intercept else None
        if fault is not None and not fault.after:
            return _spoiled(request, fault)
        try:
            watch = watched(self.api, call)
            if watch is not None:
                return await self._stream(request, watcher_of(watch))
            made = await answer(self.api, call)
        except ApiFailure as failure:
            made = refusal(failure)
        if fault is not None:
            return _spoiled(request, fault)
        return _response(made)

    async def _stream(self, request: web.BaseRequest, watcher: Watcher) -> web.StreamResponse:
        response = web.StreamResponse(
            headers={"Content-Type": "application/json", "Cache-Control": "no-cache, private"}
        )
        await response.prepare(request)
        self._watchers[id(watcher)] = watcher
        try:
            async for chunk in lines(watcher):
                if chunk:
                    await response.write(chunk)
            await response.write_eof()
        except (ConnectionError, aiohttp.ClientConnectionError):
            watcher.close()
        finally:
            self._watchers.pop(id(watcher), None)
        return response


async def _read(request: web.BaseRequest) -> HttpRequest:
    headers = request.headers
    body = await request.content.read() if request.body_exists else b""
    return HttpRequest(
        method=request.method,
        path=request.path,
        query=request.query,
        content_type=headers.get("Content-Type", "application/json"),
        accept=headers.get("Accept", ""),
        user_agent=headers.get("User-Agent", ""),
        body=body,
    )


def _response(made: Reply) -> web.Response:
    response = web.Response(status=made.status, body=made.body, headers=made.headers)
    response.headers["Content-Type"] = made.content_type
    for warning in dict.fromkeys(made.warnings):
        escaped = warning.replace("\\", "\\\\").replace('"', '\\"')
        response.headers.add("Warning", f'299 - "{escaped}"')
    return response


def _spoiled(request: web.BaseRequest, fault: Fault) -> web.Response:
    if fault.drop and request.transport is not None:
        request.transport.abort()
    return _response(fault.reply())


@asynccontextmanager
async def serve(  # noqa: PLR0913 - the keyword-only settings of one server
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    data: Path | None = None,
    clock: Callable[[], float] = time.time,
    history: int = 20_000,
    bookmark_seconds: float = 10.0,
    intercept: Intercept | None = None,
    services: Mapping[str, str] | None = None,
) -> AsyncIterator[EmbeddedServer]:
    """Serve on loopback until the block ends.

    `services` maps "namespace/name" of a Service that webhooks name to a base URL; `data` is a
    SQLite file that keeps everything; `history` is how many events per kind a watch can catch up.
    """
    store = Store(history=history)
    writes = StoreWrites(store, clock)
    journal = Journal(data) if data else None
    async with aiohttp.ClientSession() as session:
        reachable = dict(services or {})
        api = Api(
            store=store,
            writes=writes,
            admission=WebhookAdmission(store, session, reachable),
            converter=Converter(session, reachable),
            clock=clock,
            bookmark_seconds=bookmark_seconds,
        )
        server = EmbeddedServer(api, Collector(store, writes), intercept)
        store.on_change(server.changed)
        if journal:
            _restore(server, journal)
            store.keep_in(lambda kind, place, obj: journal.keep(kind, place, obj, store.version))
        _seed(server)
        try:
            with _expiring(writes):
                async with _listening(server, host, port):
                    yield server
        finally:
            if journal:
                journal.close()


@contextmanager
def _expiring(writes: StoreWrites) -> Iterator[None]:
    """Delete Events whose time is over, every minute until the block ends."""
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle

    def look_later() -> None:
        nonlocal timer
        timer = loop.call_later(_EXPIRY_EVERY_S, look)

    def look() -> None:
        expire_events(writes)
        look_later()

    look_later()
    try:
        yield
    finally:
        timer.cancel()


@asynccontextmanager
async def _listening(server: EmbeddedServer, host: str, port: int) -> AsyncIterator[None]:
    runner = web.ServerRunner(web.Server(server.handle, access_log=None), shutdown_timeout=1.0)
    await runner.setup()
    site = web.TCPSite(runner, host, port)
    try:
        await site.start()
    except OSError as error:
        await runner.cleanup()
        problem = os.strerror(error.errno or 0)
        raise AddressError(f"cannot listen on {host}:{port}: {problem}") from error
    address: Any = runner.addresses[0]
    server.url = f"http://{address[0]}:{address[1]}"
    try:
        yield
    finally:
        server.end_watches()
        with suppress(asyncio.CancelledError):
            await runner.cleanup()


def _seed(server: EmbeddedServer) -> None:
    """Every cluster has these namespaces."""
    kind = server.store.catalog.builtin("", "namespaces")
    for name in _NAMESPACES:
        if server.store.peek(kind, "", name) is None:
            server.api.writes.create(
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            )


def _restore(server: EmbeddedServer, journal: Journal) -> None:
    store = server.store
    for key, obj in journal.objects():
        if key == _DEFINITIONS:
            store.catalog.add(defined_kind(obj))
        resource = store.catalog.by_key(key)
        if resource is not None:
            store.restore(resource, obj)
            event = WatchEvent(
                int(dig(obj, "metadata", "resourceVersion", default="0")),
                WatchEventType.ADDED,
                None,
                obj,
            )
            server.collector.note(resource, event)
    store.version = max(store.version, journal.version())
    store.compact()
