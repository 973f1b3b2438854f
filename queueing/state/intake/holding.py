"""Quota that a workload holds by its status: how it is charged, and how it is released."""

from dataclasses import replace
from heapq import heappush

from queueing.core.credits.allowance import LOWEST_PRIORITY
from queueing.core.facts import WorkloadFact
from queueing.core.holders import Holder, holder_of
from queueing.core.names import Key, QueueName
from queueing.core.usage import is_charged
from queueing.state.intake.marks import note_mark, unmark
from queueing.state.memory.memory import Memory
from queueing.state.usage.charges import Charge


def give_back(memory: Memory, key: Key) -> None:
    """Release the quota that a workload holds.

    Nothing changes if the workload holds none.
    """
    charge = memory.ledger.discharge(key)
    memory.writes.assumed_from.pop(key, None)
    memory.writes.unknown.discard(key)
    if charge is None:
        return
    if memory.credits.any:
        memory.credits.stir(key)
    _turn_ready(memory, key)
    queue = charge.holder.queue
    memory.releases[queue] = memory.releases.get(queue, 0) + 1
    if memory.pairs and not _was_preempted(memory, key):
        memory.change_from_outside(queue)
    touch_charged(memory, charge)


def _was_preempted(memory: Memory, key: Key) -> bool:
    """Say whether a workload releases its quota because it was preempted."""
    fact = memory.workloads.get(key)
    evicted = None if fact is None else fact.conditions.get("Evicted")
    ended = fact is None or fact.is_true("Finished")
    return not ended and evicted is not None and evicted.reason == "Preempted"


def touch_charged(memory: Memory, charge: Charge) -> None:
    """Note that the views of the charge's ClusterQueue, cohorts and LocalQueue changed."""
    holder, touched = charge.holder, memory.touched
    touched.queues.add(holder.queue)
    touched.charged.add(holder.queue)
    if holder.local_queue is not None:
        touched.local_queues.add(holder.local_queue)


def hold_quota(memory: Memory, fact: WorkloadFact) -> None:
    """Charge a workload for the quota that it holds by its status."""
    old = memory.ledger.charges.get(fact.key)
    if old is not None and _says_what_was_assumed(memory, fact, old):
        _confirm(memory, fact, old)
    else:
        _charge(memory, fact)


def _says_what_was_assumed(memory: Memory, fact: WorkloadFact, old: Charge) -> bool:
    """Say whether a status confirms just the admission that was assumed, with the same charge.

    Nearly every admission is confirmed like that, which is cheaper than charging it anew. False
    also in cases that need more than a comparison: devices, ResourceClaims, checkpoints, reclaimed
    pods, earlier evictions.
    """
    key, holder, decision, admission = fact.key, old.holder, old.decision, fact.admission
    if decision is None or admission is None or key in memory.writes.unknown:
        return False
    if (
        "Evicted" in fact.conditions
        or "Preempted" in fact.conditions
        or key in memory.marks.preemptor
    ):
        return False
    if holder.evicted or fact.stake is not None or memory.credits.is_demoted(fact.uid):
        return False
    if fact.reclaimable or fact.given or fact.beside:
        return False
    for one in fact.pod_sets:
        if one.devices:
            return False
    return (
        old.admitted == fact.is_true("Admitted")
        and fact.local_queue == holder.local_queue
        and fact.priority == holder.priority
        and fact.created == holder.timestamp
        and fact.uid == holder.uid
        and admission.cluster_queue == holder.queue
        and admission.pod_sets == decision.pod_sets
        and is_charged(admission.pod_sets, holder.usage)
    )


def _confirm(memory: Memory, fact: WorkloadFact, assumed: Charge) -> None:
    """Replace an assumed charge by the same charge as a fact, with the time of the reservation."""
    key, known = fact.key, assumed.holder
    holder = Holder(
        key=key,
        uid=fact.uid,
        queue=known.queue,
        local_queue=known.local_queue,
        priority=known.priority,
        timestamp=known.timestamp,
        reserved_at=fact.conditions["QuotaReserved"].changed,
        evicted=False,
        usage=known.usage,
    )
    memory.writes.assumed_from.pop(key, None)
    charge = Charge(holder, assumed.admitted)
    memory.ledger.confirm(assumed, charge)
    if memory.credits.any:
        memory.credits.stir(key)
    touch_charged(memory, charge)
    _follow_readiness(memory, fact, admitted=charge.admitted)


def _charge(memory: Memory, fact: WorkloadFact) -> None:
    """Charge a workload by its status, in place of any charge that it had before."""
    key = fact.key
    memory.writes.assumed_from.pop(key, None)
    if key in memory.writes.unknown:
        memory.writes.unknown.discard(key)
        _spare_unless_evicted(memory, fact)
    admitted = fact.is_true("Admitted")
    holder = holder_of(fact, memory.settings)
    if memory.credits.is_demoted(fact.uid):
        holder = replace(holder, priority=LOWEST_PRIORITY)
    charge = Charge(holder, admitted)
    old = memory.ledger.charges.get(key)
    if old is not None and _queues(old) != _queues(charge):
        touch_charged(memory, old)
    memory.ledger.charge(charge)
    if memory.credits.any:
        memory.credits.stir(key)
    touch_charged(memory, charge)
    _note_protection(memory, charge.holder, old)
    _follow_readiness(memory, fact, admitted=admitted)
    if old is not None and old.holder.evicted and not charge.holder.evicted:
        _spare(memory, fact)
    note_mark(memory, fact)


def _note_protection(memory: Memory, holder: Holder, old: Charge | None) -> None:
    """Note when a workload becomes a possible victim, if its minimum runtime protects it now."""
    stake = holder.stake
    if (
        stake is None
        or not memory.rules.weighs_work
        or (old is not None and old.holder.stake == stake)
    ):
        return
    if holder.protected_until > memory.clock:
        heappush(memory.protected, (holder.protected_until, holder.key))


def _queues(charge: Charge) -> tuple[QueueName, Key | None]:
    return charge.holder.queue, charge.holder.local_queue


def _spare(memory: Memory, fact: WorkloadFact) -> None:
    """Note that a victim keeps its quota after all: what it was to give back cannot be promised.

    A victim that could not be stopped is not chosen again by the same preemptor. One whose eviction
    was withdrawn (reason `Withdrawn`), because it was not needed, may be chosen again.
    """
    evicted = fact.conditions.get("Evicted")
    if evicted is not None and evicted.reason == "Withdrawn":
        for pairs in memory.pairs.values():
            pairs.forget(fact.uid)
    if fact.admission is not None:
        memory.doubt_promises(memory.root_of(fact.admission.cluster_queue))
    unmark(memory, fact.key)


def _follow_readiness(memory: Memory, fact: WorkloadFact, *, admitted: bool) -> None:
    """Update whether a workload is among those whose pods are not ready (`Memory.unready`)."""
    if memory.settings.expects_pods(admitted=admitted) and not fact.is_true("PodsReady"):
        memory.unready.add(fact.key)
    else:
        _turn_ready(memory, fact.key)


def _turn_ready(memory: Memory, key: Key) -> None:
    """Note that the pods of a workload are ready, or that it holds no quota any more."""
    if key in memory.unready:
        memory.unready.discard(key)
        memory.edits.pods_turned_ready = True


def _spare_unless_evicted(memory: Memory, fact: WorkloadFact) -> None:
    """Take back an eviction whose write had no clear outcome, if the status shows none."""
    if fact.is_true("Evicted") or fact.key not in memory.ledger.evicting:
        return
    take_back_eviction(memory, fact)


def take_back_eviction(memory: Memory, victim: WorkloadFact) -> None:
    """Undo the preemption of a victim whose eviction was not written.

    Only pairs that this eviction began are forgotten; those of earlier evictions stay.
    """
    preemptors = memory.ledger.spare(victim.key)
    charge = memory.ledger.charges.get(victim.key)
    if charge is not None:
        memory.doubt_promises(memory.root_of(charge.holder.queue))
    for pairs in memory.pairs.values():
        for preemptor in preemptors:
            pairs.retract(preemptor, victim.uid)
