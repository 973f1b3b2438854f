"""Waiting for what an embedded server holds, without asking it over and over."""

import asyncio
from contextlib import suppress

from queueing.apiserver.memory.history import WatchEvent
from queueing.apiserver.memory.store import Store
from queueing.apiserver.resources.resource import Resource

LOOK_S = 0.2
MOMENT_S = 0.01


class News:
    """Tells when an object of a server changes, whoever changes it."""

    def __init__(self, store: Store) -> None:
        self.next = asyncio.Event()
        """What the next change sets. Take it before you look at objects, so that none is missed."""
        store.on_change(self._changed)

    def _changed(self, _: Resource, __: WatchEvent) -> None:
        self.next.set()
        self.next = asyncio.Event()


async def soon_after(news: asyncio.Event) -> None:
    """Return a moment after a change, since others often come with it.

    What does not show in objects is looked at again a few times a second.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(LOOK_S):
            await news.wait()
    await asyncio.sleep(MOMENT_S)
