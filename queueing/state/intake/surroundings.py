"""Takes in queues, cohorts, flavors, checks, topologies and namespaces.

It decides which workloads a change of such an object may affect.
"""

from queueing.core.facts import ClusterQueueFact, Gone, Kind, LocalQueueFact
from queueing.core.names import Key, QueueName
from queueing.state.intake.joining import enqueue, leave
from queueing.state.memory.memory import Memory
from queueing.state.memory.objects import STILL, ObjectFact, Ripple


def put_object(memory: Memory, fact: ObjectFact) -> None:
    """Take in a new or changed object that is not a workload."""
    old = memory.objects.queues.get(fact.name) if isinstance(fact, ClusterQueueFact) else None
    ripple = memory.objects.put(fact)
    if ripple is STILL:
        return
    if isinstance(fact, LocalQueueFact):
        memory.credits.queue_books.note_change()
    turns = memory.ledger.turns
    if turns is not None and isinstance(fact, LocalQueueFact):
        turns.open(fact)
    if isinstance(fact, ClusterQueueFact):
        if fact.name in memory.queues:
            memory.divide(memory.queues[fact.name])
        if old is None:
            memory.ledger.open_queue(fact.name)
            _replace_behind_queue(memory, fact.name)
        elif old.strategy is not fact.strategy:
            _requeue_all(memory, fact.name)
    _spread(memory, ripple)


def drop_object(memory: Memory, gone: Gone) -> None:
    """Take in the deletion of an object that is not a workload."""
    ripple = memory.objects.drop(gone)
    if ripple is STILL:
        return
    if gone.kind is Kind.LOCAL_QUEUE:
        memory.credits.queue_books.note_change()
        if memory.ledger.turns is not None:
            memory.ledger.turns.close(Key(gone.name))
    for name in ripple.queues:
        if name not in memory.objects.queues:
            _replace_behind_queue(memory, name)
    _spread(memory, ripple)


def _spread(memory: Memory, ripple: Ripple) -> None:
    memory.open_local_queues.clear()
    memory.edits.reshaped |= ripple.structure
    if ripple.structure:
        memory.credits.reshape()
    memory.edits.refitted.update(dict.fromkeys(ripple.queues))
    for name in ripple.queues:
        memory.touch(name, None)
        memory.touched.charged.add(name)
        memory.touched.local_queues.update(memory.objects.local_queues_of.get(name, {}))
    for key in ripple.local_queues:
        memory.touch(None, key)
        _replace_behind(memory, key)
    if ripple.namespace is not None:
        memory.edits.relabelled[ripple.namespace] = None
    if ripple.structure:
        memory.touched.charged.update(memory.objects.queues)


def _replace_behind_queue(memory: Memory, name: QueueName) -> None:
    for key in memory.objects.local_queues_of.get(name, {}):
        _replace_behind(memory, key)


def _replace_behind(memory: Memory, local_queue: Key) -> None:
    """Queue anew all workloads of a LocalQueue that hold no quota."""
    for key in list(memory.behind.get(local_queue, {})):
        if key not in memory.ledger.charges:
            enqueue(memory, memory.workloads[key])


def _requeue_all(memory: Memory, name: QueueName) -> None:
    """Queue all workloads of a ClusterQueue anew, because its queueing strategy changed.

    The strategy determines which of them are peers.
    """
    for peers in list(memory.queue(name).peers.values()):
        for item in list(peers.items()):
            leave(memory, item.fact.key)
            enqueue(memory, item.fact)
