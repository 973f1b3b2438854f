"""Marks: what statuses say about claims, so that a new leader can restore them.

*The victim's status.* Its `Preempted` condition names the preemptor's UID: the mark. It is valid
from the eviction until the workload is admitted again, so it outlives the victim's quota. That is
needed because between the last victim's leaving and the preemptor's admission only the claim keeps
other workloads off the quota, the former victims included.

*The preemptor's status.* It says whether the preemptor waits for preempted workloads. If so, it is
standing, even if no victim names it: it waits for the victims of other preemptors. If it waits for
something else, it gave up its claim, whatever its victims say. This can be relied on because the
preemptor's status is written before any of its victims is evicted (docs/decisions/0087).
"""

from queueing.core.decisions import Reason
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.core.reasons import NO_LONGER_FITS
from queueing.state.memory.claims import preemptor_of
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item


def note_mark(memory: Memory, fact: WorkloadFact) -> None:
    """Store the mark of a workload: the preemptor that its status names, if it is still valid."""
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
    """Remove the mark of a workload that is spared or deleted, or names another preemptor now."""
    uid = memory.named_by.pop(key, None)
    if uid is not None:
        memory.named[uid].pop(key)
        if not memory.named[uid]:
            del memory.named[uid]


def restore_claim(memory: Memory, item: Item) -> None:
    """Give a pending workload the claim that it had under an earlier leader, by marks and status.

    Its first judgement replaces this claim by one of its own, with the same victims, because
    candidates that are already evicted are chosen first. Later marks add nothing.
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
"""Reasons of workloads that were judged and wait for no victims."""


def _waits_for_victims(fact: WorkloadFact) -> bool | None:
    """Say whether a workload waits for victims, by its status; None if the status says neither."""
    said = fact.conditions.get("QuotaReserved")
    if said is None or said.status or _was_skipped(fact):
        return None
    if said.reason == Reason.WAITING_FOR_PREEMPTED:
        return True
    return False if said.reason in _FOR_SOMETHING_ELSE else None


def _was_skipped(fact: WorkloadFact) -> bool:
    """Say whether, by its status, a workload fitted until others of its round took the quota.

    A preemptor that was skipped still waits for its victims, but its status does not say so.
    """
    said = fact.conditions.get("QuotaReserved")
    return said is not None and said.message == NO_LONGER_FITS
