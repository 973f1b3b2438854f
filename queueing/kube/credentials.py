"""What is presented to the API server, and when it is renewed."""

import asyncio
import base64
import binascii
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

import msgspec

from queueing.clock import Clock

logger = logging.getLogger(__name__)

_RETRY_S = 10.0
_USED_SHARE = 0.8
"""The part of what is left of their life after which credentials are read again."""


@dataclass(frozen=True, slots=True)
class Grant:
    """One reading of the credentials.

    `authorization` is the header's text, empty without one. `refresh_at` is the time (epoch
    seconds) to read again, or None when only a 401 tells. `certificate` identifies the client
    certificate, so that a rotated one is noticed.
    """

    authorization: str = ""
    refresh_at: float | None = None
    certificate: bytes = b""


class Credentials(Protocol):
    """Source of the Authorization header."""

    async def current(self) -> Grant:
        """Return what to present now, renewed first if its time has come."""
        ...

    async def renewed(self, rejected: Grant) -> Grant:
        """Return another grant than the one the server rejected, or the same if there is none."""
        ...


class Anonymous:
    """No credentials at all."""

    async def current(self) -> Grant:
        return Grant()

    async def renewed(self, rejected: Grant) -> Grant:
        return rejected


class RenewedCredentials:
    """Credentials read again through `load` when they near their end or are rejected.

    Many requests may notice at once: one of them reads, the others take its result. A failed
    reading keeps the old grant, which may well be valid still, and is repeated after ten seconds at
    the earliest.
    """

    def __init__(self, grant: Grant, load: Callable[[], Awaitable[Grant]], clock: Clock) -> None:
        self._grant = grant
        self._load = load
        self._clock = clock
        self._lock = asyncio.Lock()
        self._not_before = 0.0

    async def current(self) -> Grant:
        due = self._grant.refresh_at
        if due is None or self._clock.now() < due:
            return self._grant
        return await self._replace(self._grant)

    async def renewed(self, rejected: Grant) -> Grant:
        return await self._replace(rejected)

    async def _replace(self, old: Grant) -> Grant:
        async with self._lock:
            if self._grant is not old or self._clock.now() < self._not_before:
                return self._grant
            self._not_before = self._clock.now() + _RETRY_S
            try:
                self._grant = await self._load()
            except Exception:  # exec plugins and OIDC fail in ways that have no common type
                logger.exception("credentials could not be read again; the old ones stay in use")
            else:
                if self._grant.authorization != old.authorization:
                    self._not_before = 0.0
            return self._grant


def refresh_time(now: float, end: float | None) -> float | None:
    """Return when to read credentials again: at four fifths of what is left of their life."""
    if end is None:
        return None
    return now + max(_RETRY_S, _USED_SHARE * (end - now))


def end_of_token(authorization: str) -> float | None:
    """Return when a bearer token ends (epoch seconds) if it is a JWT that says so."""
    parts = authorization.removeprefix("Bearer ").split(".")
    if len(parts) != 3:  # noqa: PLR2004 - header, claims, signature
        return None
    try:
        text = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        claims = msgspec.json.decode(text, type=_Claims)
    except (binascii.Error, msgspec.DecodeError, ValueError):
        return None
    return claims.exp or None


class _Claims(msgspec.Struct):
    exp: float = 0.0
