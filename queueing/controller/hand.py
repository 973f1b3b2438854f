"""Writes while we lead: sent only if the lease outlasts them, and learnt from at once.

The reply of a write is the object as it is now; taking it in spares the wait for the watch's echo
and keeps our next patch of the same object from meeting a conflict with our last one.
"""

from collections.abc import Callable

from queueing.kube.client import PLAIN, Call, Client
from queueing.kube.errors import FencedError, NotFoundError
from queueing.kube.outcome import MaySend, WriteRules
from queueing.kube.resources import JOBS, WORKLOADS, Target
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload

Absorb = Callable[[bytes], None]


def workload_target(meta: Meta, subresource: str = "status") -> Target:
    """Address a Workload, by default its status."""
    return WORKLOADS.at(meta.name, meta.namespace, subresource)


class Hand:
    """Sends the writes of reconcilers; a KubeError means: look at the key again later."""

    def __init__(self, client: Client, may_send: MaySend, *, workload: Absorb, job: Absorb) -> None:
        self.client, self.may_send = client, may_send
        self.rules = WriteRules.lasting(client.write_timeout_s)
        self.absorb_workload, self.absorb_job = workload, job

    async def create_workload(self, namespace: str, body: bytes) -> None:
        """Create a Workload."""
        self._guard("create a Workload")
        self.absorb_workload(await self.client.create(WORKLOADS.within(namespace), body))

    async def patch_workload(self, of: Workload, body: bytes, subresource: str = "status") -> None:
        """Merge-patch a Workload's status, or the object itself."""
        target = workload_target(of.metadata, subresource)
        self._guard(target.label)
        self.absorb_workload(await self.client.patch_merge(target, body))

    async def delete(self, target: Target, body: bytes | None = None) -> None:
        """Delete an object; one that is gone already is as good."""
        self._guard(target.label)
        try:
            await self.client.delete(target, body)
        except NotFoundError:
            return

    async def patch_job(
        self, of: Job, body: bytes, *, subresource: str = "", call: Call = PLAIN
    ) -> None:
        """Merge-patch a Job."""
        target = JOBS.at(of.metadata.name, of.metadata.namespace, subresource)
        self._guard(target.label)
        self.absorb_job(await self.client.patch_merge(target, body, call))

    async def rehearse_job(self, of: Job, body: bytes) -> None:
        """Let the server say what it would say to a patch of a Job; nothing changes."""
        target = JOBS.at(of.metadata.name, of.metadata.namespace)
        await self.client.patch_merge(target, body, Call(dry_run=True))

    async def patch(self, target: Target, body: bytes) -> bytes:
        """Merge-patch any other object."""
        self._guard(target.label)
        return await self.client.patch_merge(target, body)

    def _guard(self, label: str) -> None:
        if not self.may_send(self.client.write_timeout_s):
            raise FencedError(f"{label}: not leading for long enough")
