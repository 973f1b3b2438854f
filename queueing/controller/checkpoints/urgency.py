"""How long whoever needs the room of a workload waits for it at most.

Three may be in a hurry: the class of the preemptor, a queue that reclaims its own quota, and a node
that goes away. What they grant shortens every deadline of a request; nobody can lengthen one.
"""

from collections.abc import Mapping

from queueing.controller.checkpoints.observing import preemptor_uid, workload_of
from queueing.controller.stores.objects import Objects
from queueing.core.checkpoints.interruptions import time_to_save
from queueing.core.checkpoints.terms import Terms
from queueing.core.decisions import PreemptionReason
from queueing.core.lifecycle.steps import EvictionReason
from queueing.translate.checkpoints import names
from queueing.translate.checkpoints.nodes import named_in
from queueing.translate.wire.workloads import Workload
from queueing_api.config.duration import seconds_of

RECLAIM_GRACE_S = 120.0
"""How long a queue waits for its own quota where its annotation says nothing else."""


def patience(objects: Objects, workload: Workload, terms: Terms, now: float) -> float | None:
    """Return for how many seconds a workload that is evicted may be asked; None: as terms say."""
    status = workload.status
    evicted, preempted = status.true_condition("Evicted"), status.true_condition("Preempted")
    if evicted is not None and evicted.reason == EvictionReason.NODE_FAILURES:
        _, until = named_in(evicted.message)
        return None if until is None else time_to_save(until, terms.grace_s, now)
    if preempted is None:
        return None
    preemptor = workload_of(preemptor_uid(workload), objects)
    granted = [_class_wait(objects, preemptor, terms)]
    if preempted.reason == PreemptionReason.IN_COHORT_RECLAMATION:
        granted.append(_reclaim_grace(objects, preemptor))
    return min((one for one in granted if one is not None), default=None)


def _class_wait(objects: Objects, preemptor: Workload | None, terms: Terms) -> float | None:
    """Return what a preemptor's class leaves for saving, with the grace of the end taken off."""
    reference = preemptor.spec.priority_class_ref if preemptor is not None else None
    found = objects.workload_priority_classes.get(reference.name) if reference else None
    if found is None:
        return None
    wait = _duration(found.metadata.annotations, names.MAX_WAIT)
    return None if wait is None else max(wait - terms.grace_s, 0.0)


def _reclaim_grace(objects: Objects, preemptor: Workload | None) -> float:
    """Return how long the queue waits whose quota is reclaimed."""
    if preemptor is None:
        return RECLAIM_GRACE_S
    local = objects.local_queues.get(preemptor.local_queue)
    queue = objects.cluster_queues.get(local.spec.cluster_queue) if local is not None else None
    if queue is None:
        return RECLAIM_GRACE_S
    found = _duration(queue.metadata.annotations, names.RECLAIM_GRACE)
    return RECLAIM_GRACE_S if found is None else found


def _duration(annotations: Mapping[str, str], name: str) -> float | None:
    """Read a duration; what is none, or negative, counts as not written."""
    try:
        found = seconds_of(annotations[name])
    except (KeyError, ValueError):
        return None
    return found if found >= 0 else None
