"""Which workloads would be judged again at once, in the same queue, if they were stopped."""

from queueing.core.admissibility import refusal
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.state.intake.hindrances import why_held
from queueing.state.memory.memory import Memory


def would_return(memory: Memory, key: Key) -> WorkloadFact | None:
    """Return the fact of a workload that holds quota and may be moved as far as queues go, or None.

    It was not moved before, and nothing would hold it back: no stopped queue, gate or backoff.
    """
    fact = memory.workloads.get(key)
    if fact is None or fact.admission is None or fact.uid in memory.moved:
        return None
    local_queue = memory.objects.local_queues.get(fact.local_queue or Key(""))
    if local_queue is None or local_queue.cluster_queue != fact.admission.cluster_queue:
        return None
    queue = memory.objects.queues.get(local_queue.cluster_queue)
    if queue is None or why_held(memory, fact, local_queue) is not None:
        return None
    return None if refusal(fact, queue, memory.objects.namespaces) else fact
