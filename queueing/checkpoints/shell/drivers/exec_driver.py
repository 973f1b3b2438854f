"""The driver Exec: runs a command that saves in each pod, where the operator allows it.

The API server's `exec` connection stays open while the command runs, and that counts as the
heartbeat. A replica that takes over runs the command again: it cannot know whether the first run
has ended.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from queueing.checkpoints.memory import CheckpointMemory, SeenCheckpoint
from queueing.checkpoints.rules.answers import Word
from queueing.checkpoints.rules.record import Record
from queueing.checkpoints.wire.hook_job import parts_of, surroundings
from queueing.clock import Clock
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.names import Key
from queueing.kube.errors import KubeError
from queueing.kube.execution import CommandResult, ExecTarget, execute
from queueing.translate.jobs.view import JobView

_VARIABLE = re.compile(r"\$\(([A-Z_]+)\)")
_MESSAGE_MAX = 500


@dataclass(slots=True, kw_only=True)
class _Run:
    """A command in one pod, for one attempt at a request."""

    asking: str
    """Identity of the attempt (`Record.asking_id`)."""
    task: "asyncio.Task[None]"
    begun: bool = False
    """The container runs the command."""


class ExecDriver:
    """Runs the commands. Their results become answers in `CheckpointMemory.said`, by pod.

    `changed` asks for a Workload's requests to be reconciled.
    """

    def __init__(
        self,
        checkpoints: CheckpointMemory,
        writes: LeaderWrites,
        clock: Clock,
        changed: Callable[[Key], None],
    ) -> None:
        self._checkpoints = checkpoints
        self._writes = writes
        self._clock = clock
        self._changed = changed
        self._runs: dict[Key, _Run] = {}

    def listen(self, record: Record, jobs: Sequence[JobView], seen: SeenCheckpoint) -> None:
        """Start the command in each pod that lacks it, and note a heartbeat for those that run.

        Nothing is started while the Lease is about to expire. Does not await.
        """
        beat = str(int(self._clock.now() / record.request.terms.heartbeat_s))
        for name in record.asked:
            key = Key(f"{seen.meta.namespace}/{name}")
            run = self._runs.get(key)
            if run is None or run.asking != record.asking_id:
                if self._writes.may_send(self._writes.client.write_timeout_s):
                    self._begin(record, jobs, seen, key)
            elif run.begun and not run.task.done():
                self._checkpoints.said[key] = _told(
                    record, {"answer": Word.HEARTBEAT, "beat": beat}
                )

    def end(self, asked: Sequence[Key]) -> None:
        """Close the connections to these pods; the commands may run on in their containers."""
        for key in asked:
            run = self._runs.pop(key, None)
            if run is not None:
                run.task.cancel()

    def close(self) -> None:
        """Close all connections."""
        self.end(list(self._runs))

    def _begin(
        self, record: Record, jobs: Sequence[JobView], seen: SeenCheckpoint, key: Key
    ) -> None:
        self.end([key])
        self._checkpoints.said.pop(key, None)
        # Not in a TaskGroup: what a user's command does must not end the term.
        task = asyncio.get_running_loop().create_task(self._run(record, jobs, seen, key))
        self._runs[key] = _Run(asking=record.asking_id, task=task)

    async def _run(
        self, record: Record, jobs: Sequence[JobView], seen: SeenCheckpoint, key: Key
    ) -> None:
        command = record.request.terms.command
        _, _, workload = seen.workload.partition("/")
        namespace, _, name = key.partition("/")
        told = surroundings(record.request, workload, jobs) | {"QUEUEING_CHECKPOINT_POD": name}
        words = expanded(command.words, told) if command is not None else ()
        place = ExecTarget(
            namespace=namespace, pod=name, container=command.container if command else ""
        )
        left_s = max(record.request.save_by - self._clock.now(), 1.0)
        try:
            async with asyncio.timeout(left_s):
                ended = await execute(
                    self._writes.client, place, words, lambda: self._mark_begun(key)
                )
            said = _answer(ended)
        except KubeError as error:
            said = {"answer": Word.FAILED, "message": str(error)[:_MESSAGE_MAX]}
        except TimeoutError:
            said = {"answer": Word.FAILED, "message": "the command did not end in time"}
        self._checkpoints.said[key] = _told(record, said)
        self._changed(seen.workload)

    def _mark_begun(self, key: Key) -> None:
        self._runs[key].begun = True


def expanded(words: Sequence[str], told: Mapping[str, str]) -> tuple[str, ...]:
    """Replace `$(NAME)` in words by the values that are told; other names are left as they are."""
    return tuple(_VARIABLE.sub(lambda m: told.get(m[1], m[0]), word) for word in words)


def _answer(ended: CommandResult) -> dict[str, object]:
    """Return the answer of a command that has ended.

    Exit code 0 means saved; the last line of its output may be a URI or JSON that says what was
    saved. Any other code means failed, for the reason on the last line of stderr.
    """
    if ended.code != 0:
        lines = ended.errors.strip().splitlines()
        said = lines[-1] if lines else ended.message
        message = f"the command ended with code {ended.code}: {said}"
        return {"answer": Word.FAILED, "message": message[:_MESSAGE_MAX]}
    lines = ended.output.strip().splitlines()
    return {"answer": Word.SAVED, **(parts_of(lines[-1]) if lines else {})}


def _told(record: Record, said: Mapping[str, object]) -> bytes:
    told = {"requestID": record.asking_id, "epoch": record.request.epoch}
    return msgspec.json.encode({**said, **told})
