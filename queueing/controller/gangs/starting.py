"""Starts a gang: sends the patches of all members as dry runs, then for real.

A dry run finds what the API server would refuse (by validation, webhooks or policies) while no
member runs yet. If it refuses a patch nevertheless, the reconciler evicts the Workload, which stops
the members that were started.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from queueing.controller.gangs.concurrent_writes import outcomes
from queueing.controller.gangs.parts import Part
from queueing.controller.jobs.additions import additions
from queueing.controller.jobs.dependencies import DeviceMaker
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.kube.client import Call
from queueing.kube.errors import (
    BadRequestError,
    ForbiddenError,
    InvalidError,
    KubeError,
    NotPermittedError,
)
from queueing.translate import labels
from queueing.translate.jobs import batch
from queueing.translate.outbound.conditions import patch
from queueing.translate.wire.jobs import Job


class RefusedStartError(Exception):
    """The API server refuses to start a member as it is."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The patch that starts a member."""

    job: Job
    body: bytes


async def prepare(objects: Objects, parts: Sequence[Part], devices: DeviceMaker) -> list[Prepared]:
    """Create the members' claims, and return their patches.

    Raises ConflictError (of injection) when the admission contradicts a pod template,
    DevicesRefusedError when devices cannot be claimed as requested, KubeError to be called again.
    """
    made = []
    for one in parts:
        if one.job is not None:
            added = additions(objects, one.job, one.view)
            added = added.with_devices(await devices.prepare(one.job, one.view))
            body = patch(one.job.metadata, {"spec": batch.start(one.job, added)})
            made.append(Prepared(one.job, body))
    return made


async def start(writes: LeaderWrites, prepared: Sequence[Prepared]) -> None:
    """Send all patches as dry runs and then, if none is refused, for real.

    Raises RefusedStartError when one is definitely refused, KubeError to be called again.
    """
    _judge(prepared, await outcomes(_rehearse(writes, one) for one in prepared))
    _judge(prepared, await outcomes(_send(writes, one) for one in prepared))


async def _rehearse(writes: LeaderWrites, one: Prepared) -> None:
    # 400 may come from a webhook that does not support dry runs; the patch itself will tell.
    with contextlib.suppress(BadRequestError):
        await writes.rehearse_job(one.job, one.body)


async def _send(writes: LeaderWrites, one: Prepared) -> None:
    trace = one.job.metadata.annotations.get(labels.TRACE_PARENT, "")
    await writes.patch_job(one.job, one.body, call=Call(traceparent=trace))


def _judge(prepared: Sequence[Prepared], errors: Sequence[KubeError | None]) -> None:
    """Raise the first definite refusal as RefusedStartError, else the first error, if any."""
    for one, error in zip(prepared, errors, strict=True):
        if error is not None and _is_definite(error):
            raise RefusedStartError(f"Job {one.job.metadata.name}: {error.message}") from error
    for error in errors:
        if error is not None:
            raise error


def _is_definite(error: KubeError) -> bool:
    """Say whether another attempt with the same patch would be refused as well."""
    if isinstance(error, NotPermittedError):
        return False
    return isinstance(error, (InvalidError, ForbiddenError, BadRequestError))
