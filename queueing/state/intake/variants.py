"""Variants of one workload: which of them may be tried while others are admitted.

Invariant: no variant is in a queue while a more favorable one of its parent is admitted.
"""

from collections.abc import Iterator

from queueing.core.facts import ClusterQueueFact, WorkloadFact
from queueing.core.holders import Holder
from queueing.core.names import FlavorName, QueueName
from queueing.core.variants import Migration, Variant, outdone, place
from queueing.state.memory.memory import Memory
from queueing.state.usage.charges import Charge


def is_parent(memory: Memory, fact: WorkloadFact, queue: QueueName) -> bool:
    """Say whether a workload is admitted through variants, or is about to get them.

    Asked where it has some, or concurrent admission is on.
    """
    if fact.has_variants:
        return True
    if fact.variant is not None or fact.slice_of:
        return False
    return memory.objects.queues[queue].migration is not None


def why_outdone(memory: Memory, fact: WorkloadFact, variant: Variant) -> str:
    """Return why a variant must not be tried: another one is admitted. Empty if it may be."""
    queue = _queue_of(memory, fact)
    if queue is None:
        return ""
    admitted = [flavor for flavor, _ in _admitted(memory, fact, variant)]
    return outdone(variant.flavor, admitted, queue.preferred, queue.migration or Migration())


def less_favorable(memory: Memory, fact: WorkloadFact) -> tuple[Holder, ...]:
    """Return the holders of less favorable variants of the same workload that are admitted."""
    variant, queue = fact.variant, _queue_of(memory, fact)
    if variant is None or queue is None:
        return ()
    rank = place(variant.flavor, queue.preferred)
    return tuple(
        charge.holder
        for flavor, charge in _admitted(memory, fact, variant)
        if place(flavor, queue.preferred) > rank
    )


def tie_of(memory: Memory, fact: WorkloadFact, queue: QueueName) -> str:
    """Return what orders a workload among others of its age: of variants, the better flavor."""
    variant, known = fact.variant, memory.objects.queues.get(queue)
    if variant is None:
        return fact.uid
    flavors = () if known is None else known.preferred
    return f"{variant.parent} {place(variant.flavor, flavors):02} {fact.uid}"


def _admitted(
    memory: Memory, fact: WorkloadFact, variant: Variant
) -> Iterator[tuple[FlavorName, Charge]]:
    """Yield the other variants that are admitted, by flavor."""
    for key in memory.workloads.variants.get(variant.parent, ()):
        charge, other = memory.ledger.charges.get(key), memory.workloads[key].variant
        if key != fact.key and other is not None and charge is not None and charge.admitted:
            yield other.flavor, charge


def _queue_of(memory: Memory, fact: WorkloadFact) -> ClusterQueueFact | None:
    """Return the ClusterQueue that a workload is in; None if it does not exist."""
    local = fact.local_queue
    name = None if local is None else memory.objects.queue_behind(local)
    return None if name is None else memory.objects.queues.get(name)
