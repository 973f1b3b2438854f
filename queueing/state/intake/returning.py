"""Which workloads would be judged again at once, in the same queue, if they were stopped."""

from queueing.core.admissibility import refusal
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.state.intake.hindrances import why_held
from queueing.state.memory.memory import Memory

SPARED = "Spared"
"""The reason of `Evicted` of a workload that could not save, and so was not stopped."""


def would_return(memory: Memory, key: Key) -> WorkloadFact | None:
    """Return the fact of a workload that holds quota and may be moved as far as queues go, or None.

    Nothing would hold it back: no stopped queue, gate or backoff. One that could not save when it
    was to be stopped is not asked again until it has started anew, which its status says.
    """
    fact = memory.workloads.get(key)
    if fact is None or fact.admission is None or _could_not_save(fact):
        return None
    local_queue = memory.objects.local_queues.get(fact.local_queue or Key(""))
    if local_queue is None or local_queue.cluster_queue != fact.admission.cluster_queue:
        return None
    queue = memory.objects.queues.get(local_queue.cluster_queue)
    if queue is None or why_held(memory, fact, local_queue) is not None:
        return None
    return None if refusal(fact, queue, memory.objects.namespaces) else fact


def _could_not_save(fact: WorkloadFact) -> bool:
    evicted = fact.conditions.get("Evicted")
    return evicted is not None and not evicted.status and evicted.reason == SPARED
