"""Who serves a queue of keys: what looks at one key, and how many of them work at once.

A mistake of ours about one object must not stop the work for all others. What the server says is
retried by the work queue. Anything else that escapes a look is a bug: it is logged with its
traceback, and the object is left alone for a while.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from queueing.core.names import Key
from queueing.kube.errors import KubeError
from queueing.kube.workqueue import WorkQueue

logger = logging.getLogger(__name__)

REST_S = 30.0
"""How long an object is left alone about which we made a mistake."""
Look = Callable[[Key], Awaitable[None]]
"""One pass over one key. Raises KubeError to be called again later."""


class Workers(NamedTuple):
    """The workers of one queue; a bug about one key leaves them at work."""

    name: str
    queue: WorkQueue[Key]
    look: Look
    number: int = 1

    def start(self, group: asyncio.TaskGroup) -> None:
        """Let them serve the queue until the group ends."""
        for number in range(self.number):
            serving = self.queue.serve(contained(self.look, self.queue))
            group.create_task(serving, name=f"{self.name} {number}")


def contained(look: Look, queue: WorkQueue[Key]) -> Look:
    """Return the look, made safe to be served by the queue's workers."""

    async def safely(key: Key) -> None:
        try:
            await look(key)
        except KubeError:
            raise
        except Exception:
            logger.exception("%s cannot be handled: a bug; it rests for %.0f s", key, REST_S)
            queue.add_after(key, REST_S)

    return safely
