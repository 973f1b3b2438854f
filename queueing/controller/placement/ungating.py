"""Lets pods go to the nodes that their admitted Workload was given, in the order of their ranks.

Pods of a placed Workload are created with a gate, and are not scheduled until it is taken from
them. Which node a pod goes to depends on the other pods of its set, so they are looked at together,
whenever one of them or their Workload changes.
"""

from queueing.controller.placement.placed_workloads import PlacedWorkloads, named
from queueing.controller.placement.pods import Pods
from queueing.controller.term import Term
from queueing.controller.writing.leader_writes import all_of
from queueing.core.names import Key
from queueing.kube.errors import NotFoundError
from queueing.kube.resources import PODS
from queueing.kube.workqueue import WorkQueue
from queueing.translate.inbound.placement import placement
from queueing.translate.jobs.placed_pods import PlacedPod, Way, letting_go, ways
from queueing.translate.labels import POD_GROUP, TOPOLOGY_GATE
from queueing.translate.outbound.conditions import versioned
from queueing.translate.wire.workloads import Workload


class Ungating:
    """Told of pods and placed Workloads that changed; looks at Workloads by the name on pods."""

    def __init__(self, term: Term, placed: PlacedWorkloads, pods: Pods) -> None:
        self._writes, self._placed, self._pods = term.writes, placed, pods
        self._reporter = term.reporter
        self.queue: WorkQueue[Key] = WorkQueue()

    def pod_changed(self, name: Key, pod: PlacedPod) -> None:
        """Look at the pods of a Workload of which one came, or made room for others."""
        if pod.is_gated or self._pods.are_gated(name):
            self.queue.add(name)

    def workload_changed(self, workload: Workload) -> None:
        """Look at the pods of a Workload that has places for them."""
        self.queue.add(named(workload))

    async def look(self, name: Key) -> None:
        """Let the pods go that have a place. Raises KubeError to be called again."""
        if not self._pods.are_gated(name):
            return
        pods = self._pods.of(name)
        for workload in self._placed.started(name)[-1:]:
            found: list[tuple[PlacedPod, Way]] = []
            asked = {one.name: one for one in workload.spec.pod_sets}
            admission = workload.status.admission
            for one in () if admission is None else admission.pod_set_assignments:
                assignment = placement(one.topology_assignment)
                if assignment is not None and one.name in asked:
                    found += ways(workload, asked[one.name], assignment, pods)
            await all_of(self._let_go(workload, pod, way) for pod, way in found)

    async def _let_go(self, workload: Workload, pod: PlacedPod, way: Way) -> None:
        meta = pod.metadata
        try:
            change = versioned(meta, letting_go(pod, way))
            reply = await self._writes.patch(PODS.at(meta.name, meta.namespace), change)
        except NotFoundError:
            return
        self._pods.absorb(reply)
        self._reporter.ungated(workload, TOPOLOGY_GATE, is_group=POD_GROUP in meta.labels)
