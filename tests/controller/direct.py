"""A client of an embedded server in the same process.

What a controller does with its API server is the same over connections and without. They took most
of the CPU time of a controller that was started for one test, since it follows some thirty kinds.
`tests/kube` tests the way over HTTP, and so do the worlds of `test_faults` and those of controllers
that are killed before each of their writes here. What else may kill one, as storms of changes do,
has a dead controller's requests refused.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from urllib.parse import unquote

from typing_extensions import override

from queueing.apiserver.failures import ApiFailure
from queueing.apiserver.server import EmbeddedServer
from queueing.apiserver.wire.bodies import refusal
from queueing.apiserver.wire.call import HttpRequest
from queueing.apiserver.wire.dispatch import answer, watched
from queueing.apiserver.wire.watching import lines, watcher_of
from queueing.kube.client import PLAIN, Call, Client, Request, WatchQuery
from queueing.kube.config import Cluster
from queueing.kube.errors import KubeError, LostError, error_of
from queueing.kube.resources import Target


class DirectClient(Client):
    """Has its requests and watches answered by the server's own functions."""

    def __init__(self, server: EmbeddedServer, user_agent: str = "queueing") -> None:
        super().__init__(Cluster.plain(server.url), user_agent)
        self._server, self._agent = server, user_agent

    @override
    async def send(self, request: Request, call: Call = PLAIN) -> bytes:
        await asyncio.sleep(0)
        asked = self._call(request)
        await self._interfere(asked)
        try:
            made = await answer(self._server.api, asked)
        except ApiFailure as failure:
            raise _refused(failure) from failure
        return made.body

    @override
    @asynccontextmanager
    async def watch(
        self, target: Target, query: WatchQuery
    ) -> AsyncGenerator[AsyncIterator[bytes]]:
        asked = self._call(Request("GET", target.path, query.parameters()))
        await self._interfere(asked)
        try:
            kind = watched(self._server.api, asked)
            assert kind is not None
            watcher = watcher_of(kind)
        except ApiFailure as failure:
            raise _refused(failure) from failure
        async with aclosing(lines(watcher)) as chunks:
            yield chunks

    async def _interfere(self, asked: HttpRequest) -> None:
        fault = await self._server.intercept(asked) if self._server.intercept else None
        if fault is None:
            return
        assert not fault.after, "an answer is lost on a connection only"
        if fault.drop:
            raise LostError(f"{asked.method} {asked.path}: dropped")
        made = fault.reply()
        raise error_of(made.status, made.body, made.headers.get("Retry-After", ""))

    def _call(self, request: Request) -> HttpRequest:
        return HttpRequest(
            method=request.method,
            path=unquote(request.path),
            query=request.query,
            content_type=request.content_type,
            accept=request.accept,
            user_agent=self._agent,
            body=request.body,
        )


def _refused(failure: ApiFailure) -> KubeError:
    made = refusal(failure)
    return error_of(made.status, made.body, made.headers.get("Retry-After", ""))
