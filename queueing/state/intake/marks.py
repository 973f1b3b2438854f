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
from queueing.state.queues.peers import Item, peers_of

_Said = tuple[str, str]
"""Reason and message with which a workload waits."""
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
    if item.peers is None or memory.as_kueue:
        return
    if not memory.named and "QuotaReserved" not in item.fact.conditions:
        return
    if item.preempting and memory.claims.of(item.fact.key) is not None:
        return
    said = item.fact.conditions.get("QuotaReserved")
    _restore(memory, item, None if said is None or said.status else (said.reason, said.message))


def forget_history(memory: Memory, item: Item) -> None:
    """Leave a standing workload the claim that a new leader would restore, and no other.

    Its own last judgement stands for what its status says.
    """
    if item.wait is not None:
        del memory.standing[item.fact.key]
        memory.claims.drop(item.fact.key)
        memory.overtaken.pop(item.fact.key, None)
        _restore(memory, item, (item.wait.reason, item.wait.message))


def _restore(memory: Memory, item: Item, said: _Said | None) -> None:
    """Let a workload be standing if its marks, and what it waits with, say so."""
    key, peers = item.fact.key, peers_of(item)
    marked = memory.named.get(item.fact.uid, ())
    leaving = [one for one in marked if one in memory.ledger.charges]
    waits = _waits_for_victims(said)
    if waits is None:
        waits = bool(leaving if _was_skipped(said) else marked)
    if waits:
        memory.claims.put(key, peers.queue, leaving)
        memory.standing[key] = None


def _waits_for_victims(said: _Said | None) -> bool | None:
    """Say whether a workload waits for victims, by its reason; None if that says neither."""
    if said is None or _was_skipped(said):
        return None
    reason, _ = said
    if reason == Reason.WAITING_FOR_PREEMPTED:
        return True
    return False if reason in _FOR_SOMETHING_ELSE else None


def _was_skipped(said: _Said | None) -> bool:
    """Say whether a workload fitted until others of its round took the quota.

    A preemptor that was skipped still waits for its victims, but its reason does not say so.
    """
    return said is not None and said[1] == NO_LONGER_FITS
