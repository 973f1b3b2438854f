"""Takes in queues, cohorts, flavors, checks, topologies, nodes and namespaces.

It decides which workloads a change of such an object may affect.
"""

from collections.abc import Iterable

from queueing.core.facts import ClusterQueueFact, Gone, Kind, LocalQueueFact
from queueing.core.names import Key
from queueing.state.intake.joining import enqueue, rejoin
from queueing.state.memory.memory import Memory
from queueing.state.memory.objects import STILL, ObjectFact, Ripple


def put_object(memory: Memory, fact: ObjectFact) -> None:
    """Take in a new or changed object that is not a workload."""
    old = memory.objects.queues.get(fact.name) if isinstance(fact, ClusterQueueFact) else None
    ripple = memory.objects.put(fact)
    if ripple is STILL:
        return
    if isinstance(fact, LocalQueueFact):
        memory.credits.divide()
        if memory.ledger.turns is not None:
            memory.ledger.turns.open(fact)
    if isinstance(fact, ClusterQueueFact):
        if fact.name in memory.queues:
            memory.divide(memory.queues[fact.name])
        if old is None:
            memory.ledger.open_queue(fact.name)
            _replace_behind(memory, memory.objects.local_queues_of.get(fact.name, ()))
        elif old.strategy is not fact.strategy:
            groups = memory.queue(fact.name).peers.values()
            rejoin(memory, [item.fact.key for peers in groups for item in peers.items()])
        elif fact.migration is not None or old.migration is not None:
            # another order of its flavors may let variants go that others kept back
            _replace_behind(memory, memory.objects.local_queues_of.get(fact.name, ()))
    _spread(memory, ripple)


def drop_object(memory: Memory, gone: Gone) -> None:
    """Take in the deletion of an object that is not a workload."""
    ripple = memory.objects.drop(gone)
    if ripple is STILL:
        return
    if gone.kind is Kind.LOCAL_QUEUE:
        memory.credits.divide()
        if memory.ledger.turns is not None:
            memory.ledger.turns.close(Key(gone.name))
    for name in ripple.queues:
        if name not in memory.objects.queues:
            _replace_behind(memory, memory.objects.local_queues_of.get(name, ()))
    _spread(memory, ripple)


def _spread(memory: Memory, ripple: Ripple) -> None:
    objects, touched = memory.objects, memory.touched
    memory.edits.refitted.update(dict.fromkeys(ripple.queues))
    memory.edits.roomier |= ripple.nodes
    if ripple.nodes:
        memory.places.unsettled.update(memory.ledger.moving)
    if ripple.others:
        memory.doubt_places(memory.tree.forest.leaves_of(ripple.others))
    if ripple.structure:
        memory.edits.reshaped = True
        memory.credits.reshape()
        touched.charged.update(objects.queues)
        touched.queues.update(memory.ledger.asleep)  # why they are inactive
    for name in ripple.queues:
        touched.queues.add(name)
        touched.charged.add(name)
        touched.local_queues.update(objects.local_queues_of.get(name, {}))
    touched.local_queues.update(ripple.local_queues)
    _replace_behind(memory, ripple.local_queues)
    if ripple.namespace is not None:
        memory.edits.relabelled[ripple.namespace] = None


def _replace_behind(memory: Memory, local_queues: Iterable[Key]) -> None:
    """Queue anew all workloads of some LocalQueues that hold no quota."""
    for name in local_queues:
        for key in list(memory.workloads.behind.get(name, ())):
            if key not in memory.ledger.charges:
                enqueue(memory, memory.workloads[key])
