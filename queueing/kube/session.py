"""The one aiohttp session: its sockets and TLS, and what aiohttp's failures mean."""

import asyncio
import os
import socket

import aiohttp

from queueing.kube.config import Cluster
from queueing.kube.errors import KubeError, LostError, UnreachableError

CONNECT_TIMEOUT_S = 10.0
_KEEP_ALIVE_S = 15.0
"""How long a connection that nobody uses is kept. Something on the way may forget it and say
nothing; after an outage each one that is left costs whoever draws it a whole time-out."""
_PROBE_AFTER_S = 15
_DEAD_AFTER_MS = 30_000
_READ_BUFFER = 2**21


def open_session(cluster: Cluster, user_agent: str) -> aiohttp.ClientSession:
    """Open the session; must be called inside the running loop.

    `trust_env` stays off: it reads ~/.netrc in a thread at every request. Replies are asked for
    uncompressed, since unpacking costs more than loopback or a cluster network does.
    """
    connector = aiohttp.TCPConnector(
        limit=0,
        ssl=cluster.tls if cluster.tls is not None else True,
        keepalive_timeout=_KEEP_ALIVE_S,
        socket_factory=_socket,
    )
    session = aiohttp.ClientSession(
        connector=connector,
        trust_env=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        read_bufsize=_READ_BUFFER,
        skip_auto_headers={"Accept-Encoding"},
        headers={"User-Agent": user_agent, "Accept": "application/json"},
    )
    # aiohttp silently sends a PUT or DELETE again when a kept connection turns out dead. We must
    # know of every resend, because after one a 409 no longer means that the write did not happen.
    session._retry_connection = False  # noqa: SLF001 - there is no public switch
    return session


FAILURES = (aiohttp.ClientError, TimeoutError, asyncio.IncompleteReadError, OSError)
"""What is raised when a request could not be sent, or no reply came."""


def named(failure: Exception, what: str) -> KubeError:
    """Return the error that one of the `FAILURES` means: whether the request may have been sent."""
    match failure:
        case aiohttp.ClientSSLError() | aiohttp.ConnectionTimeoutError():
            return UnreachableError(f"{what}: no connection: {failure}")
        case aiohttp.ClientConnectorError(host=host, port=port, os_error=why):
            number = why.errno or 0  # negative when a name was not resolved
            told = os.strerror(number) if number > 0 else why.strerror or str(why)
            return UnreachableError(f"{what}: no connection to {host}:{port}: {told}")
        case _:
            reason = str(failure) or type(failure).__name__
            return LostError(f"{what}: no reply: {reason}")


def _socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """Create a socket that notices a dead peer within half a minute, also when idle."""
    family, kind, protocol, *_ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", _PROBE_AFTER_S),
        ("TCP_KEEPINTVL", _PROBE_AFTER_S),
        ("TCP_USER_TIMEOUT", _DEAD_AFTER_MS),
    ):
        option = getattr(socket, name, None)  # the names differ between systems
        if option is not None:
            made.setsockopt(socket.IPPROTO_TCP, option, value)
    return made
