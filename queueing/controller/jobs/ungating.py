"""Lets the pods of an elastic job go that its admitted slice covers.

A job that grows has its new pods at once. Each has a gate, and is neither scheduled nor counted
until the slice of that size is admitted. Pods are listed when the job or its slice changes, because
the status of a job tells that it has pods which do not run, and now and then, because it may stay
the same when a pod is made anew. What is listed is what is stored, so nothing has to be remembered
of the pods that were let go.
"""

import logging
from collections.abc import Sequence

from queueing.controller.job_pods import labelled_pods, pods_of
from queueing.controller.term import Term
from queueing.controller.writing.leader_writes import all_of
from queueing.kube.errors import NotFoundError
from queueing.kube.resources import PODS
from queueing.translate.jobs.slice_pods import Cover, SlicePod, cover, letting_go
from queueing.translate.jobs.view import JobView
from queueing.translate.labels import POD_SET
from queueing.translate.outbound.conditions import versioned
from queueing.translate.wire.workloads import Workload

logger = logging.getLogger(__name__)


class Ungating:
    """Asked by the reconciler when nothing else is to be done for an elastic job that runs."""

    def __init__(self, term: Term) -> None:
        self._writes = term.writes

    async def let_go(self, job: JobView, workload: Workload) -> Cover:
        """Take the gate from the pods that a slice covers. Raises KubeError to be called again.

        Returns how the pods stood to it before.
        """
        found = cover(workload, await self._pods_of(job, workload))
        await all_of(self._let_one_go(one, workload) for one in found.due)
        return found

    async def _let_one_go(self, pod: SlicePod, workload: Workload) -> None:
        change, meta = letting_go(pod, workload), pod.metadata
        if change is None:
            logger.warning("%s differs from what admission checks ask for: delete it", meta.key)
            return
        try:
            target = PODS.at(meta.name, meta.namespace)
            await self._writes.patch(target, versioned(meta, change))
        except NotFoundError:
            return

    async def _pods_of(self, job: JobView, workload: Workload) -> Sequence[SlicePod]:
        client, meta = self._writes.client, job.metadata
        if job.tells_of_all_pods:
            return await pods_of(client, meta.namespace, [meta.uid], SlicePod)
        named = POD_SET, [one.name for one in workload.spec.pod_sets]
        return await labelled_pods(client, meta.namespace, named, SlicePod)
