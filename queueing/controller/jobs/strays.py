"""Pods that the watch has ceased to show, though they may run on.

Only pods with our mark, a label, are watched. That of a pod which lost it ends as that of one which
is gone, so nothing is concluded from that: the pod stays as it was seen last, in its group and with
its quota, until the API server says what became of it. One that is still ours gets the mark again.

Called by `reconciler` before anything else looks at a pod, if pods are queued at all.
"""

from collections.abc import Callable

from queueing.controller.jobs.dependencies import Dependencies
from queueing.core.names import Key
from queueing.translate import labels
from queueing.translate.jobs.patches import MergePatch
from queueing.translate.jobs.pods.view import PodJob

_MARK = MergePatch(body={"metadata": {"labels": {labels.MANAGED: "true"}}})


class Strays:
    """Does what is due for a pod, by its key. Raises KubeError to be called again."""

    def __init__(
        self,
        dependencies: Dependencies,
        lose: Callable[[PodJob], None],
        forget: Callable[[PodJob], None],
    ) -> None:
        """`lose` is told of pods that are gone, `forget` of those that are none of ours."""
        term = dependencies.term
        self._objects, self._writes, self._events = term.objects, term.writes, term.events
        self._lose, self._forget = lose, forget
        self._is_managed = dependencies.is_managed

    async def look(self, key: Key) -> bool:
        """Find out about a pod that is not watched; False for all else."""
        pod = self._objects.jobs.get(key)
        if not isinstance(pod, PodJob) or pod.ignored:
            return False
        if pod.unseen:
            if not await self._writes.find_job(pod.kind, pod.metadata, pod.metadata.namespace):
                self._lose(pod)
            return True  # else its next look is by what the API server says
        if pod.is_marked:
            return False
        if self._is_ours(pod):
            await self._writes.patch_job(pod, _MARK)
            told = f"the label {labels.MANAGED} was taken away, and is there again"
            self._events.job(pod, "MarkRestored", told, warning=True)
        else:
            self._forget(pod)
        return True

    def _is_ours(self, pod: PodJob) -> bool:
        """Say whether a pod waits for us, is kept by us, or has a Workload that goes on."""
        workloads = self._objects.workloads_for(pod.metadata.uid)
        if not all(one.finished for one in workloads):
            return True
        kept = pod.gated or pod.held
        return kept and self._is_managed.in_namespace(pod.metadata.namespace)
