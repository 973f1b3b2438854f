"""Marks: for whom workloads were preempted, as statuses say. A new leader restores claims by them.

A mark counts from the eviction until the workload is admitted again, so it outlives the time for
which a victim holds quota: between the last victim's leaving and the preemptor's admission the
claim is all that keeps others off, the victims themselves included.
"""

from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.state.claims import preemptor_of
from queueing.state.memory import Memory
from queueing.state.peers import Item


def note_mark(memory: Memory, fact: WorkloadFact) -> None:
    """Note for whom a status says that a workload was preempted, if it still matters."""
    key = fact.key
    preempted, uid = fact.conditions.get("Preempted"), None
    if preempted is None and key not in memory.named_by:
        return
    if preempted is not None and preempted.status and fact.is_true("Evicted"):
        uid = None if fact.is_true("Finished") else preemptor_of(preempted.message)
    if memory.named_by.get(key) == uid:
        return
    unmark(memory, key)
    if uid is not None:
        memory.named_by[key] = uid
        memory.named.setdefault(uid, {})[key] = None
        item = memory.items.get(memory.uids.get(uid, Key("")))
        if item is not None:
            restore_claim(memory, item)


def unmark(memory: Memory, key: Key) -> None:
    """Forget a mark: the workload is spared, or is no more."""
    uid = memory.named_by.pop(key, None)
    if uid is not None:
        memory.named[uid].pop(key)
        if not memory.named[uid]:
            del memory.named[uid]


def restore_claim(memory: Memory, item: Item) -> None:
    """Give a preemptor the claim on victims that an earlier process chose for it.

    Its first judgement here replaces this claim by one of its own, with the same victims, because
    those already evicted are taken first. Marks that turn up after that add nothing.
    """
    key, peers = item.fact.key, item.peers
    marked = memory.named.get(item.fact.uid)
    if not marked or peers is None or memory.as_kueue:
        return
    if item.preempting and memory.claims.of(key) is not None:
        return
    charges = memory.ledger.charges
    memory.claims.put(key, peers.queue, (one for one in marked if one in charges))
    memory.standing[key] = None
