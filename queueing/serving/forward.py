"""Let the leader's replica answer what only it knows: it does not matter which replica is asked.

The leader says in its Lease where its visibility API listens. Another replica judges the user by
itself, asks there under the service account that both have, and hands the answer on. Invariant:
what was forwarded once is not forwarded again, so that two who take each other for the leader do
not ask each other for ever.
"""

import logging
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import aiohttp
import msgspec
from aiohttp import web

from queueing.kube.client import Client
from queueing.kube.errors import KubeError
from queueing.kube.lease_record import ADDRESS
from queueing.kube.resources import Target
from queueing.serving import estimates, snapshots
from queueing.serving.explanations import ESTIMATE, SNAPSHOT
from queueing.serving.read_models import PATIENCE_S, SNAPSHOT_S

logger = logging.getLogger(__name__)

FORWARDED = "X-Queueing-Forwarded"
KNOWN_S = 1.0
"""How long the leader's address is believed without another look at the Lease."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What the leader's replica answered."""

    status: int
    body: bytes
    content_type: str


CONNECT_S = 2.0
ANSWER_S = PATIENCE_S + 5.0
"""How long an answer may take: longer than the leader's replica waits for its controller."""
SLOW_S = {ESTIMATE: SNAPSHOT_S + estimates.PATIENCE_S + 5.0, SNAPSHOT: snapshots.WRITTEN_S + 5.0}
"""The same of an estimate, which is made of a snapshot, and of a snapshot of everything."""


def limits(path: str) -> aiohttp.ClientTimeout:
    """Return how long the leader's replica may take for what is asked by a path with its query."""
    asked = path.partition("?")[0].rpartition("/")[2]
    return aiohttp.ClientTimeout(SLOW_S.get(asked, ANSWER_S), sock_connect=CONNECT_S)


class _Meta(msgspec.Struct):
    annotations: dict[str, str] = {}


class _Spec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None


class _Lease(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: _Spec = msgspec.field(default_factory=_Spec)


@dataclass(slots=True)
class Forwarder:
    """Asks the leader's replica. `trust` gives the authority of its certificate, empty for none."""

    client: Client
    lease: Target
    server_name: str
    trust: Callable[[], bytes]
    _address: str = ""
    _looked_at: float = float("-inf")
    _context: tuple[bytes, ssl.SSLContext] | None = field(default=None)

    async def ask(self, request: web.Request) -> web.Response | None:
        """Return the leader's answer; None when there is no leader that can be asked."""
        if request.headers.get(FORWARDED):
            return None
        answered = await self.fetch(str(request.rel_url))
        if answered is None:
            return None
        return web.Response(
            status=answered.status, body=answered.body, content_type=answered.content_type
        )

    async def fetch(self, path: str) -> Answered | None:
        """Return the leader's answer to a path with its query, asked under our own account."""
        address, context = await self._leader(), self._tls()
        if not address or context is None:
            return None
        grant = await self.client.cluster.credentials.current()
        headers = {"Authorization": grant.authorization, FORWARDED: "1"}
        url = f"https://{address}{path}"
        try:
            async with (
                aiohttp.ClientSession(timeout=limits(path)) as session,
                session.get(
                    url, headers=headers, ssl=context, server_hostname=self.server_name
                ) as answer,
            ):
                body = await answer.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            logger.warning("the leader at %s does not answer: %s", address, error)
            self._looked_at = float("-inf")
            return None
        return Answered(answer.status, body, answer.content_type)

    async def _leader(self) -> str:
        now = time.monotonic()
        if now - self._looked_at < KNOWN_S:
            return self._address
        try:
            found = msgspec.json.decode(await self.client.get(self.lease), type=_Lease)
        except KubeError as error:
            logger.debug("the Lease cannot be read: %s", error)
            return ""
        holder = found.spec.holder_identity
        self._address = found.metadata.annotations.get(ADDRESS, "") if holder else ""
        self._looked_at = now
        return self._address

    def _tls(self) -> ssl.SSLContext | None:
        authority = self.trust()
        if not authority:
            return None
        if self._context is None or self._context[0] != authority:
            made = ssl.create_default_context(cadata=authority.decode())
            self._context = authority, made
        return self._context[1]
