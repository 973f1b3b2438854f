"""Workers: tasks that take keys from a work queue and reconcile them.

A reconciler's `look` is one pass over one key. When it raises a KubeError, the work queue calls it
again later; after any other exception, a bug of ours, the key rests while the work on others goes
on.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from queueing.core.names import Key
from queueing.kube.workqueue import WorkQueue

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
            serving = self.queue.serve(self.look, REST_S)
            group.create_task(serving, name=f"{self.name} {number}")
