"""Why a pending workload waits, in the words of its last judgement or of its standing."""

from dataclasses import replace

from queueing.core.decisions import Reason, Requeue, Wait
from queueing.core.names import Key, QueueName
from queueing.state.memory import Memory
from queueing.state.pending import Item, Stand


def wait_of(memory: Memory, key: Key) -> Wait | None:
    """Return why a workload waits; None when it does not."""
    held = memory.held.get(key)
    if held is not None:
        return held.wait
    item = memory.items.get(key)
    return None if item is None else current_wait(memory, item)


def current_wait(memory: Memory, item: Item) -> Wait:
    """Return why an item of a queue waits: what was found for it or for one judged alike."""
    peers = item.peers
    if peers is None:
        raise AssertionError(f"{item.fact.key} is in no queue")
    name = peers.queue.name
    active = memory.objects.activity(name)
    if active is None or not active.status:
        return suspended(item, name)
    if peers.stand is Stand.READY:
        return _not_head(item, name) if item.wait is None else item.wait
    found = item.wait or peers.wait
    if found is None:
        return _not_head(item, name)
    if found.workload == item.fact.key and found.uid == item.fact.uid:
        return found
    return replace(found, workload=item.fact.key, uid=item.fact.uid)


def suspended(item: Item, name: QueueName) -> Wait:
    """Say that the queue is inactive."""
    return Wait(
        workload=item.fact.key,
        uid=item.fact.uid,
        cluster_queue=name,
        requeue=Requeue.INADMISSIBLE,
        reason=Reason.SUSPENDED,
        message=f"ClusterQueue {name} is inactive",
    )


def _not_head(item: Item, name: QueueName) -> Wait:
    return Wait(
        workload=item.fact.key,
        uid=item.fact.uid,
        cluster_queue=name,
        requeue=Requeue.NOT_HEAD,
        reason=Reason.PENDING_EVALUATION,
        message="Waiting for its turn in the queue",
    )
