"""Admissions of parents of which nobody knows yet whether they are written.

Such a write may have reached the API server although no answer came. Until that is known, a parent
may run by any variant of its, and none of them may release its quota.
"""

import asyncio
from typing import Protocol

import msgspec

from queueing.controller.writing.leader_writes import workload_target
from queueing.core.names import Key
from queueing.kube.errors import UnclearError
from queueing.kube.outcome import Outcome, Unknown, Verb, Write
from queueing.translate.wire.workloads import Workload


class Writes(Protocol):
    """What is needed of `LeaderWrites`."""

    async def patch_workload(self, of: Workload, body: bytes) -> None:
        """Merge-patch a Workload's status."""
        ...

    async def resolve(self, write: Write, unknown: Unknown) -> Outcome:
        """Read what became of a write whose outcome is unknown, as far as one can."""
        ...


class Doubts:
    """The last admission of each parent whose outcome is unknown."""

    def __init__(self, writes: Writes) -> None:
        self._writes = writes
        self._unknown: dict[Key, tuple[Write, Unknown]] = {}

    async def admit(self, parent: Workload, body: bytes) -> None:
        """Write the admission of a parent. Raises KubeError, and notes what may still land."""
        key = parent.metadata.key
        try:
            await self._writes.patch_workload(parent, body)
        except UnclearError as error:
            write = Write(
                verb=Verb.MERGE,
                target=workload_target(parent.metadata),
                body=body,
                took_effect=_is_admitted,
                precondition=parent.metadata.resource_version,
            )
            self._unknown[key] = write, Unknown(error, asyncio.get_running_loop().time())
            raise
        self._unknown.pop(key, None)  # an earlier one is for an older version of the parent

    async def outcome(self, parent: Key) -> Outcome | None:
        """Return what became of the admission of a parent; None if there is no doubt."""
        doubt = self._unknown.get(parent)
        if doubt is None:
            return None
        found = await self._writes.resolve(*doubt)
        if not isinstance(found, Unknown):
            self._unknown.pop(parent, None)
        return found

    def forget(self, parent: Key) -> None:
        """Forget a parent that is gone."""
        self._unknown.pop(parent, None)


def _is_admitted(parent: bytes) -> bool:
    return msgspec.json.decode(parent, type=Workload).status.is_true("QuotaReserved")
