"""Asks the pods of a Workload to save, by the driver of the terms, and reads their answers.

The drivers Annotation and TerminationOnly are served here, the others by modules of their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from queueing.checkpoints.memory import SeenCheckpoint
from queueing.checkpoints.rules.answers import Voice
from queueing.checkpoints.rules.record import Record
from queueing.checkpoints.rules.terms import Driver
from queueing.checkpoints.shell.drivers.exec_driver import ExecDriver
from queueing.checkpoints.shell.drivers.hook_jobs import HookJobs, NoticeError
from queueing.checkpoints.shell.drivers.http_driver import HttpDriver
from queueing.checkpoints.wire import pods
from queueing.checkpoints.wire.objects import Pod
from queueing.controller.job_pods import pods_of_job
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.names import Key
from queueing.core.selectors import selects
from queueing.kube.deletion import this_life
from queueing.kube.errors import NotFoundError
from queueing.kube.resources import PODS
from queueing.translate.jobs.view import JobView


@dataclass(frozen=True, slots=True, kw_only=True)
class Drivers:
    """The drivers that do more than to annotate pods."""

    http: HttpDriver
    hooks: HookJobs
    exec: ExecDriver


class Notifier:
    """Delivers requests and their cancellation, and collects answers.

    Each pod that is asked gets the label of the request, in the same patch as the notice, so that
    its watch events reach `shell.intake`.
    """

    def __init__(self, objects: Objects, writes: LeaderWrites, drivers: Drivers) -> None:
        self._objects, self._checkpoints = objects, objects.checkpoints
        self._writes = writes
        self._http, self._hooks, self._exec = drivers.http, drivers.hooks, drivers.exec

    async def tell(
        self, record: Record, jobs: Sequence[JobView], seen: SeenCheckpoint
    ) -> tuple[str, ...]:
        """Ask the running pods that the terms choose; return their names (or that of a hook Job).

        Raises NoticeError when nobody could be asked, KubeError to be called again.
        """
        if record.request.terms.driver is Driver.JOB:
            return await self._hooks.tell(record, jobs, seen)
        only_followed = record.request.terms.driver is not Driver.ANNOTATION
        body = pods.mark(record) if only_followed else pods.notice(record)
        found = [pod.metadata for pod in await self._running(record, jobs, seen.workload)]
        asked = [one.name for one in found if await self._patch(one.namespace, one.name, body)]
        if not asked:
            raise NoticeError("no pod runs whose answer counts")
        names = tuple(sorted(asked))
        if record.request.terms.driver is Driver.HTTP:
            problem = await self._http.tell(record, _keys(seen.meta.namespace, names))
            if problem:
                raise NoticeError(problem)
        return names

    async def listen(self, record: Record, jobs: Sequence[JobView], seen: SeenCheckpoint) -> None:
        """Poll the answers of pods that do not write them into their own annotations."""
        namespace = seen.meta.namespace
        match record.request.terms.driver:
            case Driver.HTTP:
                await self._http.listen(record, _keys(namespace, record.asked))
            case Driver.JOB:
                await self._hooks.listen(record, namespace)
            case Driver.EXEC:
                self._exec.listen(record, jobs, seen)
            case Driver.ANNOTATION | Driver.TERMINATION_ONLY:
                pass

    async def give_up(self, record: Record, namespace: str) -> None:
        """Delete a hook Job that still runs after the request has failed."""
        if record.request.terms.driver is Driver.JOB:
            await self._hooks.end(record, namespace)

    def forget(self, record: Record, namespace: str) -> None:
        """Forget the pods and answers of a request that is over, and close connections to them."""
        keys = _keys(namespace, record.asked)
        self._exec.end(keys)
        for key in keys:
            self._checkpoints.pods.pop(key, None)
            self._checkpoints.said.pop(key, None)

    async def stand_down(self, record: Record, namespace: str) -> None:
        """Tell the pods that were asked that the request is cancelled: they are not stopped."""
        match record.request.terms.driver:
            case Driver.ANNOTATION:
                for name in record.asked:
                    await self._patch(namespace, name, pods.notice(record, cancelled=True))
            case Driver.HTTP:
                await self._http.tell(record, _keys(namespace, record.asked), cancelled=True)
            case Driver.JOB:
                await self._hooks.end(record, namespace)
            case Driver.EXEC:
                self._exec.end(_keys(namespace, record.asked))
            case Driver.TERMINATION_ONLY:
                pass

    def voices(self, record: Record, namespace: str) -> dict[str, Voice]:
        """Return the state and last answer of each pod that was asked, by name."""
        pods_, said = self._checkpoints.pods, self._checkpoints.said
        if record.request.terms.driver is Driver.JOB:
            return self._hooks.voices(record, namespace)
        return {
            name: pods.voice(pods_.get(key), record, said.get(key, b""))
            for name, key in zip(record.asked, _keys(namespace, record.asked), strict=True)
        }

    async def remove_by_force(self, jobs: Sequence[JobView], workload: Key) -> list[str]:
        """Delete the pods of a Workload's jobs that have not ended, without grace.

        Returns their names.
        """
        gone = []
        for job in jobs:
            for pod in await self._pods_of(job, workload):
                if pod.status.is_terminal:
                    continue
                meta = pod.metadata
                options = this_life(meta.uid, grace_s=0)
                await self._writes.delete(PODS.at(meta.name, meta.namespace), options)
                gone.append(meta.name)
        return gone

    async def _running(self, record: Record, jobs: Sequence[JobView], workload: Key) -> list[Pod]:
        leader = record.request.terms.leader
        found = [pod for job in jobs for pod in await self._pods_of(job, workload)]
        return [
            pod
            for pod in found
            if not pod.metadata.deleting
            and not pod.status.is_terminal
            and (leader is None or selects(leader, pod.metadata.labels))
        ]

    async def _pods_of(self, job: JobView, workload: Key) -> list[Pod]:
        found = self._objects.workloads.get(workload)
        if found is None:
            return []
        return await pods_of_job(self._writes.client, job, found, Pod)

    async def _patch(self, namespace: str, name: str, body: Mapping[str, Any]) -> bool:
        """Patch a pod and store the reply; False when the pod is gone."""
        try:
            reply = await self._writes.patch(PODS.at(name, namespace), msgspec.json.encode(body))
        except NotFoundError:
            return False
        found = msgspec.json.decode(reply, type=Pod)
        self._checkpoints.pods[found.metadata.key] = found
        return True


def _keys(namespace: str, names: Sequence[str]) -> list[Key]:
    return [Key(f"{namespace}/{name}") for name in names]
