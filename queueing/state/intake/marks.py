"""Marks: what statuses say of claims. A new leader restores claims by them.

A victim's status says for whom it was preempted. That counts from the eviction until the workload
is admitted again, so it outlives the time for which a victim holds quota: between the last victim's
leaving and the preemptor's admission the claim is all that keeps others off, the victims themselves
included.

The preemptor's own status says whether it waits for preempted workloads. One that does stands, also
if no victim names it: it waits for the victims of others. One that waits for something else gave
its claim up, whatever its victims say. Its status says the one before any of its victims is
evicted, so that it cannot say the other because nobody came to write it.
"""

from queueing.core.decisions import Reason
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.core.reasons import NO_LONGER_FITS
from queueing.state.memory.claims import preemptor_of
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item


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
    """Give a workload the claim that it had with an earlier process, as far as statuses tell.

    Its first judgement here replaces this claim by one of its own, with the same victims, because
    those already evicted are taken first. Marks that turn up after that add nothing.
    """
    key, peers = item.fact.key, item.peers
    if peers is None or memory.as_kueue:
        return
    if not memory.named and "QuotaReserved" not in item.fact.conditions:
        return
    if item.preempting and memory.claims.of(key) is not None:
        return
    marked = memory.named.get(item.fact.uid, ())
    leaving = [one for one in marked if one in memory.ledger.charges]
    waits = _waits_for_victims(item.fact)
    if waits is None:
        waits = bool(leaving if _was_skipped(item.fact) else marked)
    if waits:
        memory.claims.put(key, peers.queue, leaving)
        memory.standing[key] = None


_FOR_SOMETHING_ELSE = frozenset(
    {
        Reason.BUDGET_EXHAUSTED,
        Reason.EXCEEDS_MAX_QUOTA,
        Reason.MAY_NOT_BORROW,
        Reason.NO_MATCHING_FLAVOR,
        Reason.TOPOLOGY_PLACEMENT_FAILED,
        Reason.WAITING_FOR_QUOTA,
    }
)
"""Reasons of those who were judged, and found nobody to preempt."""


def _waits_for_victims(fact: WorkloadFact) -> bool | None:
    """Say whether a status says that its workload waits for others to leave; None if neither."""
    said = fact.conditions.get("QuotaReserved")
    if said is None or said.status or _was_skipped(fact):
        return None
    if said.reason == Reason.WAITING_FOR_PREEMPTED:
        return True
    return False if said.reason in _FOR_SOMETHING_ELSE else None


def _was_skipped(fact: WorkloadFact) -> bool:
    """Say whether others of its round came before a workload that would have fitted.

    A preemptor goes on waiting then, and its status says of no victims.
    """
    said = fact.conditions.get("QuotaReserved")
    return said is not None and said.message == NO_LONGER_FITS
