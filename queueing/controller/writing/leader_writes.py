"""Writes of decisions and of reconcilers: sent only while the Lease outlasts their timeout.

The reply to a write is the object as it is now. It is handled like a watch event, so that the next
patch of the object does not conflict with this one while the watch lags behind.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from functools import cache
from time import perf_counter
from typing import Any, Protocol

import msgspec
from typing_extensions import override

from queueing.core.names import Key
from queueing.kube import outcome
from queueing.kube.client import PLAIN, Body, Call, Client
from queueing.kube.deletion import this_life
from queueing.kube.errors import FencedError, KubeError, NotFoundError, NotSentError, RefusedError
from queueing.kube.outcome import MaySend, Outcome, Unknown, Write, WriteRules
from queueing.kube.pressure import Pressure
from queueing.kube.resources import WORKLOADS, Resource, Target
from queueing.translate.jobs.composition import JobKind
from queueing.translate.jobs.patches import MergePatch, Patch
from queueing.translate.jobs.view import JobView
from queueing.translate.outbound import workloads as outbound
from queueing.translate.outbound.conditions import versioned
from queueing.translate.wire.meta import Identified, Meta, OwnerReference
from queueing.translate.wire.workloads import Workload

Told = Callable[[str, str, float], None]
"""Called after each write with its purpose, its outcome (`done`, `refused`, `unknown`) and the
seconds that it took."""
Send = Callable[[Target, Body, Call], Awaitable[bytes]]
"""A way to write of the client."""


def _untold(_purpose: str, _outcome: str, _took_s: float) -> None:
    """Tell nobody."""


class Replies(Protocol):
    """Handles objects, as JSON, that the API server returned (`controller.intake.pump`)."""

    def absorb_workload(self, reply: bytes) -> None: ...

    def absorb_made(self, reply: bytes) -> None:
        """Handle a Workload that was made of one job as that is."""
        ...

    def absorb_job(self, reply: bytes, kind: JobKind) -> None: ...


class Ledgers(Protocol):
    """The stored credit accounts, which must include what a write of a Workload overwrites."""

    def covered(self, key: Key) -> bool:
        """Say whether they include the end of a finished Workload."""
        ...

    def recorded(self, key: Key) -> bool:
        """Say whether they name what an evicted Workload holds."""
        ...

    def preceded(self, key: Key) -> bool:
        """Say whether they include a Workload's usage until just now."""
        ...

    async def until_settled(self, key: Key) -> bool:
        """Wait until they include what a Workload held before; False when that takes too long."""
        ...


class NoLedgers(Ledgers):
    """Those of a cluster without credits: nothing waits for them."""

    @override
    def covered(self, key: Key) -> bool:
        return True

    @override
    def recorded(self, key: Key) -> bool:
        return True

    @override
    def preceded(self, key: Key) -> bool:
        return True

    @override
    async def until_settled(self, key: Key) -> bool:
        return True


def workload_target(meta: Meta, subresource: str = "status") -> Target:
    """Address a Workload, by default its status."""
    return WORKLOADS.at(meta.name, meta.namespace, subresource)


@cache
def job_resource(kind: JobKind) -> Resource:
    """Return where the API server has the objects of a kind of job."""
    version = kind.api_version.rpartition("/")[2]
    return Resource(kind.group, version, kind.plural, kind.kind)


def job_target(kind: JobKind, meta: Meta, subresource: str = "") -> Target:
    """Address a job."""
    return job_resource(kind).at(meta.name, meta.namespace, subresource)


class LeaderWrites:
    """Sends the writes of decisions and of reconcilers.

    What becomes of a decision's write is a value (`perform`). Every other method raises KubeError
    when the write failed, FencedError when the Lease is too short for it, and NotSentError when
    something else must be stored first. A reconciler lets these pass, and its work queue calls it
    again later.
    """

    def __init__(
        self,
        client: Client,
        may_send: MaySend,
        replies: Replies,
        *,
        pressure: Pressure,
        told: Told = _untold,
    ) -> None:
        """`pressure` and `told` hear of each write how long it took."""
        self.client, self.may_send, self.replies = client, may_send, replies
        self._pressure, self._told = pressure, told
        self._rules = WriteRules.lasting(client.write_timeout_s)
        self.ledgers: Ledgers = NoLedgers()
        """`credits` enters its own once the cluster has an object of it."""

    async def perform(self, purpose: str, write: Write) -> Outcome:
        """Send the write of a decision, and again while its outcome is unclear; never raises."""
        began = perf_counter()
        found = await outcome.perform(self.client, write, rules=self._rules, may_send=self.may_send)
        took_s = perf_counter() - began
        self._pressure.took(took_s)
        self._told(purpose, type(found).__name__.lower(), took_s)
        return found

    async def resolve(self, write: Write, unknown: Unknown) -> Outcome:
        """Read what became of a decision's write whose outcome is unknown, as far as one can."""
        return await outcome.resolve(self.client, write, unknown, rules=self._rules)

    async def create_workload(self, namespace: str, body: bytes, *, lone: bool = False) -> None:
        """Create a Workload, which a `lone` job is then at rest with.

        Raises AlreadyExistsError when the name is taken.
        """
        target = WORKLOADS.within(namespace)
        reply = await self._sent("create_workload", self.client.create, target, body)
        if lone:
            self.replies.absorb_made(reply)
        else:
            self.replies.absorb_workload(reply)

    async def create(self, target: Target, body: bytes) -> bytes:
        """Create an object of any other kind; return it as the server stored it."""
        if not self.may_send(self.client.write_timeout_s):
            raise _fenced(target)
        return await self.client.create(target, body)

    async def patch_workload(self, of: Workload, body: bytes, subresource: str = "status") -> None:
        """Merge-patch a Workload's status, or with `subresource=""` the object itself."""
        target = workload_target(of.metadata, subresource)
        purpose = "workload_status" if subresource == "status" else "workload"
        reply = await self._sent(purpose, self.client.patch_merge, target, body)
        self.replies.absorb_workload(reply)

    async def release(self, of: Workload, now: float) -> None:
        """Release an evicted Workload's quota, once stored credit accounts name what it held."""
        if not self.ledgers.recorded(of.metadata.key):
            raise NotSentError(
                f"{of.metadata.key} keeps its quota until the credit accounts name it"
            )
        await self.patch_workload(of, outbound.release(of, now))

    async def hold(self, of: Workload, message: str, now: float) -> None:
        """Take back a Workload's quota until it resumes, once credits so far are stored."""
        if not self.ledgers.preceded(of.metadata.key):
            raise NotSentError(f"{of.metadata.key} keeps its quota until credits are written")
        await self.patch_workload(of, outbound.hold(of, message, now))

    async def reclaim(self, of: Workload, counts: Mapping[str, int], now: float) -> None:
        """Write `reclaimablePods` (`counts` by pod set), once credits so far are stored."""
        if not self.ledgers.preceded(of.metadata.key):
            raise NotSentError(f"{of.metadata.key} keeps all its quota until credits are written")
        await self.patch_workload(of, outbound.reclaim(of, counts, now))

    async def let_go(self, of: Workload) -> None:
        """Remove our finalizer from a Workload, once the stored credit accounts include its end."""
        if not self.ledgers.covered(of.metadata.key):
            raise NotSentError(f"{of.metadata.key} stays until the credit accounts hold its end")
        await self.patch_workload(of, outbound.drop_finalizer(of), "")

    async def delete(self, target: Target, body: bytes | None = None) -> None:
        """Delete an object; not an error if it is gone already. `body` are DeleteOptions."""
        with suppress(NotFoundError):
            await self._sent("delete", self.client.delete, target, body or {})

    async def delete_all(self, target: Target, label_selector: str) -> None:
        """Delete the objects of a collection whose labels match the selector."""
        if not self.may_send(self.client.write_timeout_s):
            raise _fenced(target)
        await self.client.delete_all(target, label_selector)

    async def patch_job(
        self, of: JobView, change: Patch, *, subresource: str = "", call: Call = PLAIN
    ) -> None:
        """Patch a job of any kind, in the version that was seen."""
        target = job_target(of.kind, of.metadata, subresource)
        purpose = "job_status" if subresource == "status" else "job"
        body = versioned(of.metadata, change)
        reply = await self._sent(purpose, self._way(change), target, body, call)
        self.replies.absorb_job(reply, of.kind)

    async def find_job(self, kind: JobKind, of: Meta | OwnerReference, namespace: str) -> bool:
        """Read a job that is not watched, or not yet, and handle it as it is now.

        False if it is gone, or another has its name.
        """
        try:
            reply = await self.client.get(job_resource(kind).at(of.name, namespace))
        except NotFoundError:
            return False
        if msgspec.json.decode(reply, type=Identified).metadata.uid != of.uid:
            return False
        self.replies.absorb_job(reply, kind)
        return True

    async def apply_job_status(self, of: JobView, fields: Mapping[str, Any]) -> None:
        """Add fields to the status of a job, whatever else it says by now."""
        target, meta = job_target(of.kind, of.metadata, "status"), of.metadata
        body = {
            "apiVersion": of.kind.api_version,
            "kind": of.kind.kind,
            "metadata": {"name": meta.name, "namespace": meta.namespace, "uid": meta.uid},
            "status": fields,
        }
        call = Call(force=True)
        with suppress(NotFoundError):
            reply = await self._sent("job_status", self.client.apply, target, body, call)
            self.replies.absorb_job(reply, of.kind)

    async def delete_job(self, of: JobView) -> None:
        """Delete a job, by the rules of its kind; not an error if it is gone."""
        target, options = job_target(of.kind, of.metadata), this_life(of.metadata.uid)
        with suppress(NotFoundError):
            reply = await self._sent("delete", self.client.delete, target, options)
            self.replies.absorb_job(reply, of.kind)

    async def rehearse_job(self, of: JobView, change: Patch) -> None:
        """Send a patch of a job as a dry run: raises as the patch would, and changes nothing."""
        target, body = job_target(of.kind, of.metadata), versioned(of.metadata, change)
        await self._way(change)(target, body, Call(dry_run=True))

    def _way(self, change: Patch) -> Send:
        is_merge = isinstance(change, MergePatch)
        return self.client.patch_merge if is_merge else self.client.patch_json

    async def patch(self, target: Target, body: bytes) -> bytes:
        """Merge-patch an object of any other kind; return it as the server stored it."""
        return await self._sent("status", self.client.patch_merge, target, body)

    async def patch_json(self, target: Target, body: bytes) -> bytes:
        """JSON-patch an object of any other kind; return it as the server stored it."""
        return await self._sent("status", self.client.patch_json, target, body)

    async def _sent(
        self, purpose: str, send: Send, target: Target, body: Body, call: Call = PLAIN
    ) -> bytes:
        """Write while the Lease outlasts the timeout; tell how it ended, and how long it took."""
        if not self.may_send(self.client.write_timeout_s):
            raise _fenced(target)
        began, result = perf_counter(), "unknown"
        try:
            reply = await send(target, body, call)
            result = "done"
        except RefusedError:
            result = "refused"
            raise
        finally:
            took_s = perf_counter() - began
            self._pressure.took(took_s)
            self._told(purpose, result, took_s)
        return reply


def _fenced(target: Target) -> FencedError:
    return FencedError(f"{target.label}: not leading for long enough")


async def outcomes(writes: Iterable[Coroutine[Any, Any, None]]) -> list[KubeError | None]:
    """Send several writes at the same time; return for each, in order, its error or None."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_outcome(one)) for one in writes]
    return [task.result() for task in tasks]


async def all_of(writes: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Send several writes at the same time; when all have ended, raise the first KubeError, if any.

    The failure of one stops no other.
    """
    several = list(writes)
    if len(several) == 1:
        await several[0]
        return
    for error in await outcomes(several):
        if error is not None:
            raise error


async def _outcome(write: Coroutine[Any, Any, None]) -> KubeError | None:
    try:
        await write
    except KubeError as error:
        return error
    return None
