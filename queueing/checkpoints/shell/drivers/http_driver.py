"""The driver HTTP: a signed POST asks each pod to save, and GETs poll how far it is.

Only the pod's own IP is called, at the port and path of the terms; redirects are not followed, and
every call ends within `CALL_S`, whatever the other side does.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import aiohttp
import msgspec

from queueing.checkpoints.memory import CheckpointMemory
from queueing.checkpoints.rules.record import Record
from queueing.checkpoints.rules.terms import Endpoint
from queueing.checkpoints.wire import names, pods
from queueing.checkpoints.wire.pods import SIGNATURE, TIMESTAMP, signature
from queueing.clock import Clock
from queueing.core.names import Key

CALL_S = 3.0
"""The timeout of one call, in seconds."""
POLL_S = 1.0
"""Seconds between two polls of a pod's answer; the reconciler keeps to it."""
_ANSWER_MAX = 64 * 1024
"""Bytes of an answer that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Callee:
    """Where one pod listens, and the key that calls to it are signed with."""

    pod: Key
    address: str
    endpoint: Endpoint
    key: str

    @property
    def url(self) -> str:
        shown = f"[{self.address}]" if ":" in self.address else self.address
        return f"http://{shown}:{self.endpoint.port}{self.endpoint.path}"


class HttpDriver:
    """Calls pods; their answers are kept in `CheckpointMemory.said`."""

    def __init__(self, checkpoints: CheckpointMemory, clock: Clock) -> None:
        self._checkpoints, self._clock = checkpoints, clock

    async def tell(self, record: Record, asked: Sequence[Key], *, cancelled: bool = False) -> str:
        """Post the request, or its cancellation, to the pods; return why some did not accept it.

        Empty when all did.
        """
        body = msgspec.json.encode(pods.request(record, cancelled=cancelled))
        replies = await self._call(record, asked, body)
        return "; ".join(f"pod {key}: {problem}" for key, (_, problem) in replies if problem)

    async def listen(self, record: Record, asked: Sequence[Key]) -> None:
        """Poll the pods' answers; a pod that does not answer keeps its last one."""
        for key, (text, _) in await self._call(record, asked, None):
            if text:
                self._checkpoints.said[key] = text

    async def _call(
        self, record: Record, asked: Sequence[Key], body: bytes | None
    ) -> list[tuple[Key, tuple[bytes, str]]]:
        callees = self._callees(record, asked)
        limits = aiohttp.ClientTimeout(total=CALL_S)
        async with (
            aiohttp.ClientSession(timeout=limits, cookie_jar=aiohttp.DummyCookieJar()) as session,
            asyncio.TaskGroup() as group,
        ):
            tasks = {
                key: group.create_task(self._exchange(session, callee, body))
                for key, callee in callees.items()
            }
        return [(key, task.result()) for key, task in tasks.items()]

    def _callees(self, record: Record, asked: Sequence[Key]) -> Mapping[Key, _Callee | str]:
        endpoint = record.request.terms.http
        found: dict[Key, _Callee | str] = {}
        for key in asked:
            pod = self._checkpoints.pods.get(key)
            secret = pod.metadata.annotations.get(names.KEY, "") if pod is not None else ""
            if pod is None or endpoint is None or not pod.status.pod_ip:
                found[key] = "it has no address"
            elif not secret:
                found[key] = f"it has no annotation {names.KEY}: it was started without"
            else:
                address = pod.status.pod_ip
                found[key] = _Callee(pod=key, address=address, endpoint=endpoint, key=secret)
        return found

    async def _exchange(
        self, session: aiohttp.ClientSession, callee: _Callee | str, body: bytes | None
    ) -> tuple[bytes, str]:
        """Return what a pod answered, and what went wrong; one of both is empty."""
        if isinstance(callee, str):
            return b"", callee
        method = "GET" if body is None else "POST"
        stamp = f"{self._clock.now():.0f}"
        sent = body or b""
        signed = signature(callee.key, stamp, method, callee.endpoint.path, sent)
        headers = {TIMESTAMP: stamp, SIGNATURE: signed, "Content-Type": "application/json"}
        call: dict[str, Any] = {"data": sent or None, "headers": headers, "allow_redirects": False}
        try:
            async with session.request(method, callee.url, **call) as response:
                text = await _read(response.content)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            return b"", str(error) or f"no answer within {CALL_S:g}s"
        if not HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
            return b"", f"it answered {response.status}"
        return text, ""


async def _read(content: aiohttp.StreamReader) -> bytes:
    """Return the first `_ANSWER_MAX` bytes of a body; one `read` returns only what has arrived."""
    text = b""
    while len(text) < _ANSWER_MAX and (part := await content.read(_ANSWER_MAX - len(text))):
        text += part
    return text
