"""How long a workload may take to save, by those who need its quota or its node.

Three things bound it: an annotation of the preemptor's WorkloadPriorityClass, an annotation of a
ClusterQueue that reclaims its own quota, and the time at which a node goes away. The bound shortens
the deadlines of the terms and never lengthens them. Nobody hurries a workload that is only moved.
"""

from collections.abc import Mapping

from queueing.checkpoints.rules.interruptions import time_to_save
from queueing.checkpoints.rules.terms import Terms
from queueing.checkpoints.shell.effective_terms import is_moved
from queueing.checkpoints.shell.observing import preemptor_uid, workload_of
from queueing.checkpoints.wire import names
from queueing.checkpoints.wire.nodes import named_in
from queueing.controller.stores.objects import Objects
from queueing.core.decisions import PreemptionReason
from queueing.lifecycle.steps import EvictionReason
from queueing.translate.wire.workloads import Workload
from queueing_api.config.duration import seconds_of

RECLAIM_GRACE_S = 120.0
"""Seconds for which a queue that reclaims its own quota waits, without the annotation."""


def patience(objects: Objects, workload: Workload, terms: Terms, now: float) -> float | None:
    """Return how many seconds an evicted workload may take to save; None if only its terms say."""
    status = workload.status
    evicted, preempted = status.true_condition("Evicted"), status.true_condition("Preempted")
    if evicted is not None and evicted.reason == EvictionReason.NODE_FAILURES:
        _, until = named_in(evicted.message)
        return None if until is None else time_to_save(until, terms.grace_s, now)
    if preempted is None or is_moved(workload):
        return None
    preemptor = workload_of(preemptor_uid(workload), objects)
    granted = [_class_wait(objects, preemptor, terms)]
    if preempted.reason == PreemptionReason.IN_COHORT_RECLAMATION:
        granted.append(_reclaim_grace(objects, preemptor))
    return min((one for one in granted if one is not None), default=None)


def _class_wait(objects: Objects, preemptor: Workload | None, terms: Terms) -> float | None:
    """Return the seconds that a preemptor's class leaves for saving, without the pods' grace."""
    reference = preemptor.spec.priority_class_ref if preemptor is not None else None
    found = objects.workload_priority_classes.get(reference.name) if reference else None
    if found is None:
        return None
    wait = _duration(found.metadata.annotations, names.MAX_WAIT)
    return None if wait is None else max(wait - terms.grace_s, 0.0)


def _reclaim_grace(objects: Objects, preemptor: Workload | None) -> float:
    """Return how many seconds the preemptor's ClusterQueue waits for its own quota."""
    if preemptor is None:
        return RECLAIM_GRACE_S
    local = objects.local_queues.get(preemptor.local_queue)
    queue = objects.cluster_queues.get(local.spec.cluster_queue) if local is not None else None
    if queue is None:
        return RECLAIM_GRACE_S
    found = _duration(queue.metadata.annotations, names.RECLAIM_GRACE)
    return RECLAIM_GRACE_S if found is None else found


def _duration(annotations: Mapping[str, str], name: str) -> float | None:
    """Return the seconds of an annotation; None if it is missing, malformed or negative."""
    try:
        found = seconds_of(annotations[name])
    except (KeyError, ValueError):
        return None
    return found if found >= 0 else None
