"""The driver Job: a hook Job saves for the workload, while the workload's own pods run on.

A hook Job's name follows from its request, so that any replica finds the same one, and the
Checkpoint owns it, so that it is deleted with the Checkpoint at the latest. It is never queued.
"""

from collections.abc import Sequence

import msgspec

from queueing.checkpoints.memory import SeenCheckpoint
from queueing.checkpoints.rules.answers import PodState, Voice
from queueing.checkpoints.rules.record import Record
from queueing.checkpoints.wire import hook_job, pods
from queueing.checkpoints.wire.objects import Pod
from queueing.clock import Clock
from queueing.controller.job_pods import pods_of
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.names import Key
from queueing.kinds.registry import read_batch_job
from queueing.kube.deletion import this_life
from queueing.kube.errors import AlreadyExistsError, NotFoundError, NotPermittedError, RefusedError
from queueing.kube.resources import JOBS
from queueing.translate.jobs.view import JobView


class NoticeError(Exception):
    """A request to save could not be delivered; the message says why. Another try may succeed."""


class HookJobs:
    """Creates, follows and deletes hook Jobs; their answers are kept in `CheckpointMemory.said`."""

    def __init__(self, objects: Objects, writes: LeaderWrites, clock: Clock) -> None:
        self._objects, self._writes, self._clock = objects, writes, clock

    async def tell(
        self, record: Record, jobs: Sequence[JobView], seen: SeenCheckpoint
    ) -> tuple[str, ...]:
        """Create the Job of a request unless it exists; return its name.

        Raises NoticeError when the API server refuses the Job, or another one has its name, and
        other KubeErrors to be called again.
        """
        name = hook_job.name_of(record.request)
        _, _, workload = seen.workload.partition("/")
        told = hook_job.surroundings(record.request, workload, jobs)
        body = msgspec.json.encode(hook_job.made(record.request, seen.meta, told))
        try:
            reply = await self._writes.create(JOBS.within(seen.meta.namespace), body)
        except AlreadyExistsError:
            reply = await self._writes.client.get(JOBS.at(name, seen.meta.namespace))
        except NotPermittedError:
            raise
        except RefusedError as error:
            raise NoticeError(f"Job {name} is refused: {error}") from error
        found = read_batch_job(reply)
        if all(owner.uid != seen.meta.uid for owner in found.metadata.owner_references):
            raise NoticeError(f"Job {name} is there already, and not of this request")
        self._writes.replies.absorb_job(reply, found.kind)
        return (name,)

    async def listen(self, record: Record, namespace: str) -> None:
        """Note as the Job's answer how far it is; for one that ended, by its pods' messages."""
        request, checkpoints = record.request, self._objects.checkpoints
        beat = str(int(self._clock.now() / request.terms.heartbeat_s))
        for name in record.asked:
            key = Key(f"{namespace}/{name}")
            job = await self._current(key)
            ended = job is not None and job.ended
            found = await self._pods_of(job) if job is not None and ended else []
            checkpoints.said[key] = hook_job.said(request, job, found, beat)

    def voices(self, record: Record, namespace: str) -> dict[str, Voice]:
        """Return the Job's last answer, by its name."""
        said = self._objects.checkpoints.said
        return {
            name: Voice(
                condition=PodState.RUNNING,
                answer=pods.answer(text) if (text := said.get(_key(namespace, name))) else None,
                kind="Job",
            )
            for name in record.asked
        }

    async def end(self, record: Record, namespace: str) -> None:
        """Delete the Job if it still runs: its answer is not needed any more."""
        for name in record.asked:
            job = self._objects.jobs.get(_key(namespace, name))
            if job is not None and not job.ended and not job.metadata.deleting:
                options = this_life(job.metadata.uid, propagation="Background")
                await self._writes.delete(JOBS.at(name, namespace), options)

    async def _current(self, key: Key) -> JobView | None:
        """Return a Job, read from the API server if the watch has not shown it; None if gone."""
        found = self._objects.jobs.get(key)
        if found is not None:
            return found
        namespace, _, name = key.partition("/")
        try:
            reply = await self._writes.client.get(JOBS.at(name, namespace))
        except NotFoundError:
            return None
        return read_batch_job(reply)

    async def _pods_of(self, job: JobView) -> list[Pod]:
        meta = job.metadata
        return await pods_of(self._writes.client, meta.namespace, [meta.uid], Pod)


def _key(namespace: str, name: str) -> Key:
    return Key(f"{namespace}/{name}")
