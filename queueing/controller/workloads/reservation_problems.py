"""Finds what is wrong with a reservation: its ClusterQueue is gone, or has no such flavor, say.

Such a reservation stays and is charged where it says. The reconciler reports the problem by the
reason of `QuotaReserved`, which stays True, and by an Event; once the problem is solved, the reason
is restored.
"""

from queueing.controller.stores.objects import Objects
from queueing.core.facts import Admission, WorkloadFact
from queueing.translate.contradictions import Offered, contradictions, indivisible, offered_by
from queueing.translate.inbound.queues import cluster_queue
from queueing.translate.wire.queues import ClusterQueueSpec


class ReservationProblems:
    """Compares reservations with the ClusterQueues as they are now."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._offered: dict[str, tuple[ClusterQueueSpec, Offered]] = {}

    def to(self, fact: WorkloadFact) -> str:
        """Return what is wrong with a workload's reservation; empty when nothing is."""
        admission = fact.admission
        if admission is None:
            return ""
        offered = self._offered_by(admission.cluster_queue)
        if offered is None:
            return (
                f"ClusterQueue {admission.cluster_queue} doesn't exist,"
                " so what the workload holds counts nowhere"
            )
        return "; ".join(_all(fact, admission, offered))

    def _offered_by(self, name: str) -> Offered | None:
        queue = self._objects.cluster_queues.get(name)
        if queue is None:
            self._offered.pop(name, None)
            return None
        known = self._offered.get(name)
        if known is None or known[0] != queue.spec:
            known = self._offered[name] = queue.spec, offered_by(cluster_queue(queue))
        return known[1]


def _all(fact: WorkloadFact, admission: Admission, offered: Offered) -> list[str]:
    found = [admission.unusable] if admission.unusable else []
    found += contradictions(fact, admission, offered)
    for one in admission.pod_sets:
        found += indivisible(one)
    return found
