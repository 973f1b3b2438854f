"""Writes on the Jobs of a gang what it waits for: after a moment, and only when that changes.

The Jobs of a gang are usually created within a moment. A gang that is complete by then is never
written to say that it was not.
"""

from queueing.clock import Clock
from queueing.controller.jobs.actions import Complain, Tell
from queueing.controller.writing.events import Events
from queueing.controller.writing.leader_writes import LeaderWrites, all_of
from queueing.core.names import Key
from queueing.kube.workqueue import WorkQueue
from queueing.translate import labels
from queueing.translate.jobs.patches import MergePatch
from queueing.translate.jobs.view import JobView

PATIENCE_S = 1.0
"""Seconds for which a text must hold before it is written."""


class WaitingReasons:
    """Writes the annotation of a gang's state, and an Event each time that it changes."""

    def __init__(
        self, writes: LeaderWrites, events: Events, clock: Clock, queue: WorkQueue[Key]
    ) -> None:
        self._writes, self._events, self._clock, self._queue = writes, events, clock, queue
        self._since: dict[Key, tuple[float, str]] = {}

    def forget(self, key: Key) -> None:
        """Forget the text that was about to be written."""
        self._since.pop(key, None)

    async def tell(self, key: Key, action: Tell) -> None:
        """Write a text that has held for long enough, or ask for another look when it will have."""
        now = self._clock.monotonic()
        since, text = self._since.get(key, (now, ""))
        if text != action.text:
            since = now
        if action.text and now - since < PATIENCE_S:
            self._since[key] = (since, action.text)
            self._queue.add_after(key, since + PATIENCE_S - now)
            return
        self.forget(key)
        await all_of(self._write(job, action.text) for job in action.jobs)

    def complain(self, key: Key, action: Complain) -> None:
        """Record an Event, if need be once it has held for long enough, and once for each text."""
        now = self._clock.monotonic()
        since, text = self._since.get(key, (now, ""))
        if text != action.message:
            since = now
        if action.patient:
            self._since[key] = (since, action.message)
        if action.patient and now - since < PATIENCE_S:
            self._queue.add_after(key, since + PATIENCE_S - now)
            return
        self._events.job(action.job, action.reason, action.message, warning=True)

    async def _write(self, job: JobView, text: str) -> None:
        body = {"metadata": {"annotations": {labels.GANG_STATE: text or None}}}
        await self._writes.patch_job(job, MergePatch(body=body))
        if text:
            state, _, message = text.partition(": ")
            self._events.job(job, f"Gang{state}", message, warning=True)
