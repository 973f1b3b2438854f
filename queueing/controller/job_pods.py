"""Lists the pods of jobs when they are needed: a cluster has too many pods to watch them all.

Between a job of another kind than batch/v1 and its pods may be any number of objects, of kinds that
we do not know. So its pods are found by what its start wrote on their templates.
"""

import logging
from collections.abc import Iterable
from typing import Protocol, TypeVar

from queueing.devices.wire.delays import Pod
from queueing.kube.client import Client
from queueing.kube.errors import KubeError
from queueing.kube.listing import list_all
from queueing.kube.resources import PODS
from queueing.translate.jobs import batch
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
    if job.kind == batch.KIND:
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


async def last_scheduled(client: Client, workload: Workload) -> float | None:
    """Return when the last pod of a Workload got its node, in epoch seconds of the API server.

    None where that is not known: its pods cannot be read, or one of them has none.
    """
    try:
        pods = await started_pods(client, workload, Pod)
    except KubeError as error:
        logger.debug("the pods of %s cannot be read: %s", workload.metadata.key, error)
        return None
    moments = [
        one.changed
        for pod in pods
        for one in pod.status.conditions
        if one.type == "PodScheduled" and one.status == "True"
    ]
    return max(moments) if moments and len(moments) == len(pods) else None


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
