"""Marks: what statuses say of preemptions, so that a new leader can make the promises again.

A victim's `Preempted` condition names the preemptor's UID: the mark. It is valid from the eviction
until the workload is admitted again, so it outlives the victim's quota. Pending workloads that are
named, and that this leader has not judged yet, are judged before all others of their tree.
"""

from math import inf

from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, Uid
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item

MARK = "(UID: "
"""The text before the preemptor's uid in the message of a victim's `Preempted` condition."""
SPENT = Uid("")
"""Who is named once the preemptor has held what its victim left."""


def preemptor_of(message: str) -> Uid | None:
    """Read the preemptor's uid out of the message of a `Preempted` condition."""
    _, mark, rest = message.partition(MARK)
    if not mark:
        return None
    end = min((at for at in (rest.find(","), rest.find(")")) if at >= 0), default=-1)
    return Uid(rest[:end].strip()) if end > 0 else None


def note_mark(memory: Memory, fact: WorkloadFact) -> None:
    """Store the preemptor that the status of a workload names, if it is still valid."""
    preempted, uid = fact.conditions.get("Preempted"), None
    if preempted is not None and preempted.status and fact.evicted:
        uid = None if fact.finished else preemptor_of(preempted.message)
    if uid is None:
        memory.marks.pop(fact.key, None)
    elif memory.marks.get(fact.key) != SPENT:
        memory.marks[fact.key] = uid


def spend_marks(memory: Memory, uid: Uid) -> None:
    """Forget whom marks name when it gives back quota that it held: it had got what they left."""
    memory.marks.update({one: SPENT for one, named in memory.marks.items() if named == uid})


def unjudged(memory: Memory) -> list[Item]:
    """Return the pending workloads that marks name and that were not judged yet.

    One that was evicted itself after its victims, before this leader, is none of them either.
    """
    found: dict[Key, Item] = {}
    for victim, uid in memory.marks.items():
        item = memory.items.get(memory.workloads.uids.get(uid, Key("")))
        if item is not None and item.wait is None:
            since = _evicted_at(memory.workloads[victim])
            if since >= _evicted_at(item.fact):
                found[item.fact.key] = item
    return list(found.values())


def _evicted_at(fact: WorkloadFact) -> float:
    evicted = fact.conditions.get("Evicted")
    return -inf if evicted is None or not evicted.status else evicted.changed
