"""Why a pending workload waits: by its last judgement, or because it was not its turn yet."""

from dataclasses import replace

from queueing.core.decisions import Reason, Requeue, Wait
from queueing.core.names import Key
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item, Stand


def wait_of(memory: Memory, key: Key) -> Wait | None:
    """Return why a workload waits; None if it does not, or is unknown."""
    held = memory.aside.held.get(key)
    if held is not None:
        return held.wait
    item = memory.items.get(key)
    return None if item is None else current_wait(memory, item)


def settled_wait(memory: Memory, key: Key) -> Wait | None:
    """Return why a workload waits that is parked or held; None if its turn may come any moment.

    Peers all have the same answer.
    """
    item = memory.items.get(key)
    if item is not None and item.peers.stand is not Stand.PARKED:
        return None
    return wait_of(memory, key)


def current_wait(memory: Memory, item: Item) -> Wait:
    """Return why an item of a queue waits, by the last judgement of it or of one of its peers.

    The wait of its peers comes first: a wait of the item alone is older.
    """
    peers = item.peers
    if not memory.objects.is_active(peers.queue):
        return suspended(item)
    found = item.wait if peers.stand is Stand.READY else peers.wait or item.wait
    if found is None:
        text = "Waiting for its turn in the queue"
        return item.waits(Requeue.NOT_HEAD, Reason.PENDING_EVALUATION, text)
    if found.workload == item.fact.key and found.uid == item.fact.uid:
        return found
    return replace(found, workload=item.fact.key, uid=item.fact.uid)


def standing_wait(memory: Memory, item: Item) -> Wait:
    """Return the wait of an item that a round did not judge: it is parked, or not the head.

    One that is not parked keeps the reason and message of its last judgement, if it had one.
    """
    found, peers = current_wait(memory, item), item.peers
    if peers.stand is Stand.PARKED or not memory.objects.is_active(peers.queue):
        return found
    return replace(found, requeue=Requeue.NOT_HEAD, mode=None, nominated=(), targets=())


def suspended(item: Item) -> Wait:
    """Return the wait of an item whose ClusterQueue is inactive."""
    text = f"ClusterQueue {item.peers.queue} is inactive"
    return item.waits(Requeue.INADMISSIBLE, Reason.SUSPENDED, text)
