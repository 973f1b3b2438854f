"""Lets pods go to the nodes that their admitted Workload was given, in the order of their ranks.

Pods of a placed Workload are created with a gate, and are not scheduled until it is taken from
them. Which node a pod goes to depends on the other pods of its set, so they are looked at together,
whenever one of them or their Workload changes.
"""

from queueing.controller.jobs.concurrent_writes import all_of
from queueing.controller.term import Term
from queueing.core.names import Key
from queueing.kube.errors import NotFoundError
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent
from queueing.kube.resources import PODS
from queueing.kube.workqueue import WorkQueue
from queueing.translate.inbound.placement import placement
from queueing.translate.jobs.placed_pods import PlacedPod, Way, letting_go, ways
from queueing.translate.jobs.slices import name_of_workload, name_on_pods
from queueing.translate.outbound.conditions import versioned
from queueing.translate.wire.workloads import Workload


class Ungating:
    """Handles watch events of pods that were started by a Workload, and looks at Workloads."""

    def __init__(self, term: Term) -> None:
        self._writes, self._objects = term.writes, term.objects
        self._pods: dict[Key, dict[str, PlacedPod]] = {}
        """Workload, by the name that its pods have → pods by uid."""
        self._of: dict[str, Key] = {}
        self.queue: WorkQueue[Key] = WorkQueue()

    def on_pod(self, event: WatchEvent[PlacedPod]) -> None:
        match event:
            case Added(object=found) | Modified(object=found):
                key = _key_of(found)
                self._of[found.metadata.uid] = key
                self._pods.setdefault(key, {})[found.metadata.uid] = found
                if found.is_gated:
                    self.queue.add(key)
            case Deleted(uid=uid):
                self._drop(uid)
            case Synced():
                pass

    def _drop(self, uid: str) -> None:
        key = self._of.pop(uid, None)
        if key is None:
            return
        pods = self._pods[key]
        del pods[uid]
        if not pods:
            del self._pods[key]
        elif any(one.is_gated for one in pods.values()):
            self.queue.add(key)

    def workload_changed(self, key: Key) -> None:
        """Look at the pods of a Workload that may have been admitted."""
        workload = self._objects.workloads.get(key)
        if workload is not None and _is_admitted(workload):
            named = Key(f"{workload.metadata.namespace}/{name_on_pods(workload.metadata)}")
            if any(one.is_gated for one in self._pods.get(named, {}).values()):
                self.queue.add(named)

    async def look(self, key: Key) -> None:
        """Let the pods go that have a place. Raises KubeError to be called again."""
        workload = self._objects.workloads.get(key)
        if workload is None or not _is_admitted(workload) or workload.status.admission is None:
            return
        pods = sorted(self._pods.get(key, {}).values(), key=lambda one: one.metadata.name)
        asked = {one.name: one for one in workload.spec.pod_sets}
        found: list[tuple[PlacedPod, Way]] = []
        for one in workload.status.admission.pod_set_assignments:
            assignment = placement(one.topology_assignment)
            if assignment is not None and one.name in asked:
                found += ways(workload, asked[one.name], assignment, pods)
        await all_of(self._let_go(pod, way) for pod, way in found)

    async def _let_go(self, pod: PlacedPod, way: Way) -> None:
        meta = pod.metadata
        try:
            change = versioned(meta, letting_go(pod, way))
            await self._writes.patch(PODS.at(meta.name, meta.namespace), change)
        except NotFoundError:
            return


def _key_of(pod: PlacedPod) -> Key:
    return Key(f"{pod.metadata.namespace}/{name_of_workload(pod.metadata)}")


def _is_admitted(workload: Workload) -> bool:
    status = workload.status
    return status.is_true("Admitted") and not status.is_true("Evicted")
