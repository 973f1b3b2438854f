"""Requests to the API server: bytes in, bytes out, every one with a hard timeout.

Replies are not parsed here, so that a hot path decodes just what it uses. Failures are raised as
`KubeError`s.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import lru_cache
from http import HTTPStatus
from types import TracebackType
from typing import Self
from urllib.parse import urlencode

import aiohttp
import msgspec
from yarl import URL

from queueing.kube.config import Cluster
from queueing.kube.credentials import Grant
from queueing.kube.errors import LostError, UnauthorizedError, error_of
from queueing.kube.request import (
    JSON,
    METADATA,
    PLAIN,
    READ_TIMEOUT_S,
    WRITE_TIMEOUT_S,
    Body,
    Call,
    ListQuery,
    Request,
    WatchQuery,
    stated,
)
from queueing.kube.resources import Target
from queueing.kube.session import CONNECT_TIMEOUT_S, FAILURES, named, open_session

__all__ = [
    "PLAIN",
    "READ_TIMEOUT_S",
    "WRITE_TIMEOUT_S",
    "Body",
    "Call",
    "Client",
    "ListQuery",
    "Request",
    "WatchQuery",
]

_WHOLE_LIST_TIMEOUT_S = 120.0
_SERVER_SHARE = 0.9
"""The part of the timeout of a write after which the server itself gives up."""
_CONNECTING_SHARE = 0.9
"""The part of the timeout after which a request without a connection is known not to be sent."""
_WATCH_SILENCE_S = 150.0
_FRAME_MAX = 2**20


class Client:
    """A connection to one API server; use it as an async context manager.

    `connected` tells whether the last finished request got any answer. `write_timeout_s` bounds
    every write whose call says nothing else.
    """

    def __init__(
        self,
        cluster: Cluster,
        user_agent: str = "queueing",
        field_manager: str = "queueing",
        *,
        write_timeout_s: float = WRITE_TIMEOUT_S,
    ) -> None:
        self.cluster = cluster
        self.field_manager = field_manager
        self.write_timeout_s = write_timeout_s
        self.connected = True
        self._user_agent = user_agent
        self._session: aiohttp.ClientSession | None = None
        self._retired: list[aiohttp.ClientSession] = []
        self._certificate: bytes | None = None
        self._standing: Grant | None = None
        """What is presented until it is rejected, because it does not end at a known time."""

    async def __aenter__(self) -> Self:
        self._session = open_session(self.cluster, self._user_agent)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        current, self._session = self._session, None
        for session in (*self._retired, current):
            if session is not None:
                await session.close()
        self._retired.clear()

    async def get(self, target: Target, call: Call = PLAIN) -> bytes:
        """Read one object from the quorum."""
        return await self.send(Request("GET", target.path), call)

    async def get_metadata(self, target: Target, call: Call = PLAIN) -> bytes:
        """Read an object's metadata as the server last saw them, maybe a little late.

        That costs the server little however large the object is: it looks into its memory only.
        """
        latest = {"resourceVersion": "0"}
        return await self.send(Request("GET", target.path, latest, accept=METADATA), call)

    async def list_page(
        self, target: Target, query: ListQuery | None = None, call: Call = PLAIN
    ) -> bytes:
        """Read one page of a collection; a spent token raises GoneError."""
        query = query or ListQuery()
        if not query.limit and call.timeout_s is None:
            call = replace(call, timeout_s=_WHOLE_LIST_TIMEOUT_S)
        return await self.send(Request("GET", target.path, query.parameters()), call)

    async def create(self, target: Target, body: Body, call: Call = PLAIN) -> bytes:
        """Create an object in a collection, or POST to a subresource."""
        return await self._write("POST", target, body, call)

    async def patch_merge(self, target: Target, body: Body, call: Call = PLAIN) -> bytes:
        """Apply a JSON merge patch; with `metadata.resourceVersion` in it, only to that version."""
        return await self._write("PATCH", target, body, call, "application/merge-patch+json")

    async def patch_json(self, target: Target, body: Body, call: Call = PLAIN) -> bytes:
        """Apply a list of JSON patch operations."""
        return await self._write("PATCH", target, body, call, "application/json-patch+json")

    async def apply(self, target: Target, body: Body, call: Call = PLAIN) -> bytes:
        """Server-side apply, as the field manager of the call."""
        return await self._write("PATCH", target, body, call, "application/apply-patch+yaml")

    async def replace(self, target: Target, body: Body, call: Call = PLAIN) -> bytes:
        """Replace the object; with `metadata.resourceVersion` in it, only that version."""
        return await self._write("PUT", target, body, call)

    async def delete(
        self, target: Target, options: Body | None = None, call: Call = PLAIN
    ) -> bytes:
        """Delete an object; `options` is a DeleteOptions (preconditions, propagationPolicy)."""
        return await self._write("DELETE", target, {} if options is None else options, call)

    async def delete_all(self, target: Target, label_selector: str, call: Call = PLAIN) -> bytes:
        """Delete what a selector chooses of a collection, in one request.

        Raises ValueError for an empty selector, which would choose everything.
        """
        if not label_selector:
            raise ValueError(f"{target.label}: all of it would be deleted")
        query = ListQuery(label_selector=label_selector, limit=0)
        return await self.send(Request("DELETE", target.path, query.parameters()), call)

    async def _write(
        self, method: str, target: Target, body: Body, call: Call, content_type: str = JSON
    ) -> bytes:
        timeout = self.write_timeout_s if call.timeout_s is None else call.timeout_s
        manager = "" if method == "DELETE" else call.field_manager or self.field_manager
        query = _query_of_write(timeout, manager, dry_run=call.dry_run, force=call.force)
        encoded = body if isinstance(body, bytes) else msgspec.json.encode(body)
        return await self.send(Request(method, target.path, query, encoded, content_type), call)

    async def send(self, request: Request, call: Call = PLAIN) -> bytes:
        """Send any request and return the reply's body; raises a KubeError for all but success."""
        timeout = call.timeout_s
        if timeout is None:
            timeout = READ_TIMEOUT_S if request.method == "GET" else self.write_timeout_s
        grant = self._standing or await self._grant()
        try:
            return await self._exchange(request, call, timeout, grant)
        except UnauthorizedError:
            # It came before anything happened.
            if await self._renewed(grant) is grant:
                raise
        except LostError as error:
            # A read may meet a kept connection that the server has closed; asking once more harms
            # nobody.
            if request.method != "GET" or isinstance(error.__cause__, TimeoutError):
                raise
        return await self._exchange(request, call, timeout, await self._grant())

    async def _exchange(
        self, request: Request, call: Call, timeout_s: float, grant: Grant
    ) -> bytes:
        connecting_s = min(CONNECT_TIMEOUT_S, timeout_s * _CONNECTING_SHARE)
        limits = aiohttp.ClientTimeout(total=None, sock_connect=connecting_s)
        try:
            # Not aiohttp's total: a task that is cancelled in the moment in which that runs out
            # would not hear of it. The end of a term cancels all that is under way, and after a
            # pause of the process many timeouts run out in that very moment.
            async with (
                asyncio.timeout(timeout_s),
                self._open(request, call, limits, grant) as response,
            ):
                body = await response.read()
        except FAILURES as failure:
            self.connected = False
            raise named(failure, request.label) from failure
        self.connected = True
        if response.status >= HTTPStatus.MULTIPLE_CHOICES:
            raise error_of(response.status, body, response.headers.get("Retry-After", ""))
        return body

    @asynccontextmanager
    async def watch(
        self, target: Target, query: WatchQuery
    ) -> AsyncGenerator[AsyncIterator[bytes]]:
        """Open a watch and give its bytes as they come; the chunks know nothing of lines.

        Silence of 150 s means a dead connection, since the server sends a bookmark each minute.
        """
        request = Request("GET", target.path, query.parameters())
        limits = aiohttp.ClientTimeout(
            total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=_WATCH_SILENCE_S
        )
        grant = await self._grant()
        what = f"watch {target.path}"
        try:
            response = await self._open(request, PLAIN, limits, grant)
        except FAILURES as failure:
            raise named(failure, what) from failure
        try:
            self.connected = True
            if response.status != HTTPStatus.OK:
                if response.status == HTTPStatus.UNAUTHORIZED:
                    await self._renewed(grant)
                try:
                    body = await response.read()
                except FAILURES as failure:
                    raise named(failure, what) from failure
                raise error_of(response.status, body, response.headers.get("Retry-After", ""))
            yield _chunks(response, what)
        finally:
            response.close()

    @asynccontextmanager
    async def handed_on(self, request: Request) -> AsyncGenerator[aiohttp.ClientResponse]:
        """Give an answer as it comes, whatever its status, for somebody else; it may last.

        Raises a KubeError where there is none.
        """
        limits = aiohttp.ClientTimeout(
            total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=_WATCH_SILENCE_S
        )
        grant = await self._grant()
        try:
            response = await self._open(request, PLAIN, limits, grant)
        except FAILURES as failure:
            raise named(failure, request.label) from failure
        try:
            yield response
        finally:
            response.close()

    @asynccontextmanager
    async def websocket(
        self, target: Target, query: Sequence[tuple[str, str]], protocol: str
    ) -> AsyncGenerator[aiohttp.ClientWebSocketResponse]:
        """Open a connection in both directions, with one subprotocol.

        Raises a KubeError when the server will not have it.
        """
        if self._session is None:
            raise RuntimeError("the client is not open: use `async with Client(...)`")
        grant = await self._grant()
        headers = {"Authorization": grant.authorization} if grant.authorization else {}
        url = f"{self.cluster.server}{target.path}?{urlencode(query)}"
        try:
            opened = await self._session.ws_connect(
                URL(url, encoded=True),
                protocols=(protocol,),
                headers=headers,
                proxy=self.cluster.proxy,
                max_msg_size=_FRAME_MAX,
                server_hostname=self.cluster.server_name,
                timeout=aiohttp.ClientWSTimeout(ws_close=CONNECT_TIMEOUT_S),
            )
        except FAILURES as failure:
            match failure:
                case aiohttp.WSServerHandshakeError(status=status, message=told) if (
                    status >= HTTPStatus.BAD_REQUEST
                ):
                    message = msgspec.json.encode({"message": f"{status} {told}"})
                    raise error_of(status, message, "") from failure
                case _:
                    raise named(failure, f"open {target.path}") from failure
        try:
            yield opened
        finally:
            await opened.close()

    def _open(
        self, request: Request, call: Call, limits: aiohttp.ClientTimeout, grant: Grant
    ) -> "aiohttp.client._RequestContextManager":
        if self._session is None:
            raise RuntimeError("the client is not open: use `async with Client(...)`")
        headers = {"Authorization": grant.authorization} if grant.authorization else {}
        if request.body:
            headers["Content-Type"] = request.content_type
        if request.accept:
            headers["Accept"] = request.accept
        if call.traceparent:
            headers["traceparent"] = call.traceparent
        query = f"?{_encoded(tuple(request.query.items()))}" if request.query else ""
        return self._session.request(
            request.method,
            URL(f"{self.cluster.server}{request.path}{query}", encoded=True),
            data=request.body or None,
            headers=headers,
            timeout=limits,
            allow_redirects=False,
            proxy=self.cluster.proxy,
            server_hostname=self.cluster.server_name,
        )

    async def _grant(self) -> Grant:
        """Return what to present; a rotated client certificate needs a new session.

        The old session keeps its running requests and is closed with the client.
        """
        grant = await self.cluster.credentials.current()
        if self._session is not None and grant.certificate != self._certificate:
            if self._certificate is not None:
                self._retired.append(self._session)
                self._session = open_session(self.cluster, self._user_agent)
            self._certificate = grant.certificate
        self._standing = grant if grant.refresh_at is None else None
        return grant

    async def _renewed(self, rejected: Grant) -> Grant:
        """Return another grant than one that was rejected; the same if there is none."""
        self._standing = None
        return await self.cluster.credentials.renewed(rejected)


@lru_cache(maxsize=64)
def _query_of_write(
    timeout_s: float, manager: str, *, dry_run: bool, force: bool
) -> Mapping[str, str]:
    """Return the query of a write.

    The server gives up before we do, so that a write that we called lost cannot land much later.
    """
    return stated(
        timeout=f"{timeout_s * _SERVER_SHARE:.3f}s",
        dryRun="All" if dry_run else "",
        force="true" if force else "",
        fieldManager=manager,
    )


@lru_cache(maxsize=64)
def _encoded(query: tuple[tuple[str, str], ...]) -> str:
    """Most requests are writes, whose queries are a handful."""
    return urlencode(query)


async def _chunks(response: aiohttp.ClientResponse, what: str) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.content.iter_any():
            yield chunk
    except FAILURES as failure:
        raise named(failure, what) from failure
