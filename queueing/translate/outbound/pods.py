"""Patches of pods."""

from queueing.translate.jobs.placed_pods import PlacedPod
from queueing.translate.outbound.conditions import Conditions, patch

NEVER_STARTS = "Pod terminated by Kueue NodeController due to node taint"


def end(pod: PlacedPod, now: float) -> bytes:
    """Make a pod Failed that waits for a node on which it can never start.

    Its owner makes another one in its place.
    """
    conditions = Conditions(pod.status.conditions, now=now, generation=pod.metadata.generation)
    reason = "UnschedulableOnAssignedNode"
    conditions.set("TerminatedByKueue", true=True, reason=reason, message=NEVER_STARTS)
    status = {"phase": "Failed", "conditions": conditions.wire()}
    return patch(pod.metadata, {"status": status})
