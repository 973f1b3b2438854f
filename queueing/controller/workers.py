"""Workers: tasks that take keys from a work queue and reconcile them.

A reconciler's `look` is one pass over one key. When it raises a KubeError, the work queue calls it
again later. Any other exception is a bug of ours, which must not stop the work on other objects: it
is logged with its traceback, and the key is tried again after a rest.
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
"""Seconds until a key is tried again whose look failed by a bug."""
Look = Callable[[Key], Awaitable[None]]
"""One pass over one key. Raises KubeError to be called again later."""


class Workers(NamedTuple):
    """The `number` workers of one queue; a bug about one key does not stop them."""

    name: str
    queue: WorkQueue[Key]
    look: Look
    number: int = 1

    def start(self, group: asyncio.TaskGroup) -> None:
        """Start the workers as tasks of the group; they run until it is cancelled."""
        for number in range(self.number):
            serving = self.queue.serve(contained(self.look, self.queue))
            group.create_task(serving, name=f"{self.name} {number}")


def contained(look: Look, queue: WorkQueue[Key]) -> Look:
    """Return a look that logs bugs instead of raising them, and retries their keys later."""

    async def safely(key: Key) -> None:
        try:
            await look(key)
        except KubeError:
            raise
        except Exception:
            logger.exception("%s cannot be handled: a bug; it rests for %.0f s", key, REST_S)
            queue.add_after(key, REST_S)

    return safely
