"""Lists the pods of jobs when they are needed: a cluster has too many pods to watch them all.

Between a job and its pods may be any number of objects, of kinds that we do not know. So unless its
controller labels them with its uid, pods are found by what a start wrote on their templates.
"""

import logging
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from queueing.devices.wire.claim_times import (
    ClaimTimes,
    TimedClaim,
    claim_times,
    scheduled,
    uses_claims,
)
from queueing.devices.wire.delays import Pod
from queueing.kube.client import Client
from queueing.kube.errors import KubeError
from queueing.kube.listing import list_all
from queueing.kube.resources import PODS, RESOURCE_CLAIMS
from queueing.observe.spans import Placed
from queueing.translate.jobs.gang import part_for
from queueing.translate.jobs.slices import name_on_pods, slice_name
from queueing.translate.jobs.view import JobView
from queueing.translate.labels import POD_JOB_UID, POD_SET, POD_WORKLOAD, SLICE_NAME
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload

logger = logging.getLogger(__name__)


class HasMetadata(Protocol):
    """A pod, with whatever fields of it are read."""

    @property
    def metadata(self) -> Meta: ...


T = TypeVar("T")
P = TypeVar("P", bound=HasMetadata)


async def pods_of_job(client: Client, job: JobView, workload: Workload, kind: type[P]) -> list[P]:
    """Return the pods of a job of any kind, which has this Workload by itself or with its gang.

    Raises KubeError.
    """
    if job.kind.labels_pods:
        return await pods_of(client, job.metadata.namespace, [job.metadata.uid], kind)
    return await started_pods(client, part_for(job, workload), kind)


async def started_pods(client: Client, workload: Workload, kind: type[P]) -> list[P]:
    """Return the pods that came of the start of a Workload, of its pod sets. Raises KubeError."""
    meta, pod_sets = workload.metadata, [one.name for one in workload.spec.pod_sets]
    if not pod_sets:
        return []
    found = await labelled_pods(client, meta.namespace, (POD_SET, pod_sets), kind)
    # What the pods of an elastic job bear in their template would hide those of another.
    of = SLICE_NAME if slice_name(meta) else POD_WORKLOAD
    return [one for one in found if one.metadata.annotations.get(of) == name_on_pods(meta)]


async def placed_pods(client: Client, workload: Workload) -> Placed:
    """Return how the pods of a Workload got their nodes and devices, as far as it can be read."""
    meta, pods, claims = workload.metadata, list[Pod](), list[ClaimTimes]()
    try:
        pods = await started_pods(client, workload, Pod)
        claims = await claims_of(client, meta.namespace, pods)
    except KubeError as error:
        logger.debug("the pods of %s, or their claims, cannot be read: %s", meta.key, error)
    return Placed(
        scheduled=_last(list(map(scheduled, pods))),
        claims=len(claims),
        claimed=min((one.made for one in claims), default=None),
        allocated=_last([one.allocated for one in claims]),
    )


async def claims_of(client: Client, namespace: str, pods: Sequence[Pod]) -> list[ClaimTimes]:
    """Return the claims of pods, with their times. Raises KubeError."""
    if not uses_claims(pods):
        return []
    found = await list_all(client, RESOURCE_CLAIMS.within(namespace), TimedClaim)
    return list(claim_times(pods, found))


def _last(moments: Sequence[float | None]) -> float | None:
    """Return the last moment; None if there is none, or one is not known."""
    known = [one for one in moments if one is not None]
    return max(known) if known and len(known) == len(moments) else None


async def pods_of(client: Client, namespace: str, jobs: Iterable[str], kind: type[T]) -> list[T]:
    """Return the pods that Jobs of one namespace created, by the uids of the Jobs.

    At least one uid and some dozens at most, because they are part of the URL. Pods that a deleted
    Job left behind are included. Raises KubeError.
    """
    return await labelled_pods(client, namespace, (POD_JOB_UID, jobs), kind)


async def labelled_pods(
    client: Client, namespace: str, label: tuple[str, Iterable[str]], kind: type[T]
) -> list[T]:
    """Return the pods of a namespace whose label has one of some values: at least one.

    Raises KubeError.
    """
    name, values = label
    chosen = f"{name} in ({','.join(values)})"
    return await list_all(client, PODS.within(namespace), kind, label_selector=chosen)
