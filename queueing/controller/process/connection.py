"""Logs once that the API server is unreachable, and once that it is back."""

import asyncio
import logging
from typing import NoReturn, Protocol

from queueing.clock import Clock

logger = logging.getLogger(__name__)

LOOK_EVERY_S = 0.5
PATIENCE_S = 2.0
"""Seconds for which a lost connection is not reported."""


class Connected(Protocol):
    """The part of a client that is needed here."""

    @property
    def connected(self) -> bool: ...


async def report(client: Connected, server: str, clock: Clock) -> NoReturn:
    """Watch the connection for ever; those who use it retry without a line in the log."""
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
