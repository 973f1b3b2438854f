"""Who serves a queue of keys: what looks at one key, and how many of them work at once."""

import asyncio
from typing import NamedTuple

from queueing.controller.containment import Look, contained
from queueing.core.names import Key
from queueing.kube.workqueue import WorkQueue


class Crew(NamedTuple):
    """The workers of one queue; a bug about one key leaves them at work."""

    name: str
    queue: WorkQueue[Key]
    look: Look
    workers: int = 1

    def start(self, group: asyncio.TaskGroup) -> None:
        """Let them serve the queue until the group ends."""
        for number in range(self.workers):
            serving = self.queue.serve(contained(self.look, self.queue))
            group.create_task(serving, name=f"{self.name} {number}")
