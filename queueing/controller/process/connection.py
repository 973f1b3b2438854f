"""Says once that the API server is away, and once that it is back."""

import asyncio
import logging
from typing import NoReturn, Protocol

from queueing.clock import Clock

logger = logging.getLogger(__name__)

LOOK_EVERY_S = 0.5
PATIENCE_S = 2.0
"""A connection that is back within this time was never away."""


class Connected(Protocol):
    """The part of a client that is looked at."""

    @property
    def connected(self) -> bool: ...


async def report(client: Connected, server: str, clock: Clock) -> NoReturn:
    """Watch the connection for ever; everything else retries by itself and keeps quiet."""
    away_since: float | None = None
    said = False
    while True:
        now = clock.monotonic()
        if client.connected:
            if said and away_since is not None:
                logger.warning("the API server is back after %.0f s", now - away_since)
            away_since, said = None, False
        elif away_since is None:
            away_since = now
        elif not said and now - away_since >= PATIENCE_S:
            logger.warning("the API server %s is away; retrying until it is back", server)
            said = True
        await asyncio.sleep(LOOK_EVERY_S)
