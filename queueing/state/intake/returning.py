"""Which workloads may be moved: they would be judged again at once, in the same queue."""

from queueing.core.facts import ClusterQueueFact, Strategy, WorkloadFact
from queueing.core.holders import Holder
from queueing.core.names import Key
from queueing.core.nomination import refusal
from queueing.core.ordering import queue_key, queue_timestamp
from queueing.core.topology.requests import PODS
from queueing.core.topology.usage import places_of
from queueing.state.intake.joining import why_held
from queueing.state.intake.variants import tie_of
from queueing.state.memory.memory import Memory
from queueing.state.memory.places import Turn

SPARED = "Spared"
"""The reason of `Evicted` of a workload that could not save, and so was not stopped."""


def would_return(memory: Memory, gang: Key, key: Key) -> WorkloadFact | None:
    """Return the fact of a workload that may be moved for a gang as far as queues go, or None.

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
    if refusal(fact, queue, memory.objects.namespaces) or _is_behind(memory, gang, fact, queue):
        return None
    return fact


def turn_of(moved: Holder) -> Turn:
    """Return the rank of one that was moved: the most pods first, as a place was found for it."""
    places = places_of(moved.usage)
    pods = sum(amounts.get(PODS, 0) for one in places for amounts in one.usage.values())
    return -pods, moved.rank


def _is_behind(memory: Memory, gang: Key, fact: WorkloadFact, queue: ClusterQueueFact) -> bool:
    """Say whether a workload would wait behind others of a StrictFIFO queue, besides the gang."""
    pending = memory.queues.get(queue.name)
    if pending is None or queue.strategy is not Strategy.STRICT_FIFO:
        return False
    timestamp = queue_timestamp(fact, memory.settings)
    place = queue_key(fact, timestamp, tie=tie_of(memory, fact, queue.name))
    firsts = (one for row in pending.lanes.values() for _, one in row.entries[:2])
    items = (item for peers in firsts for _, item in peers.line[:2])
    return any(one.order < place for one in items if one.fact.key != gang)


def _could_not_save(fact: WorkloadFact) -> bool:
    evicted = fact.conditions.get("Evicted")
    return evicted is not None and not evicted.status and evicted.reason == SPARED
