"""Takes in Workloads: each is charged for quota, in a queue, or held back, by what its fact says.

Invariant: after `place` exactly one of these holds, or none if the workload is finished or being
deleted.
"""

from dataclasses import replace

from queueing.core.credits.allowance import LOWEST_PRIORITY
from queueing.core.decisions import Place
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.core.placement.pods import used_at
from queueing.core.usage import holder_of
from queueing.state.intake.joining import enqueue, heed_siblings, is_over, leave
from queueing.state.intake.marks import note_mark, spend_marks
from queueing.state.intake.returning import turn_of
from queueing.state.memory.memory import Memory
from queueing.state.usage.charges import Charge


def observe_workload(memory: Memory, fact: WorkloadFact) -> bool:
    """Take in a workload's current fact; say whether it is news.

    A fact that equals the known one is none, and changes nothing, except while the outcome of a
    write is unknown: then any fact is the answer.
    """
    if fact.has_variants:
        fact = replace(fact, admission=None)  # it is charged by the variant that it runs by
    key = fact.key
    old = memory.workloads.get(key)
    same = old is not None and old.conditions == fact.conditions and old == fact
    if same and key not in memory.writes.unknown:
        return False
    if old is not None and old.uid != fact.uid:
        forget_workload(memory, key)
        old = None
    before = old if memory.pairs else None
    if before and (before.priority, before.pod_sets) != (fact.priority, fact.pod_sets):
        memory.forget_pairs(fact.uid)
    if not same:
        memory.writes.refusals.pop(key, None)
        memory.writes.punished.pop(key, None)
    memory.workloads.put(fact)
    place(memory, fact)
    return True


def forget_workload(memory: Memory, key: Key) -> None:
    """Take in the deletion of a workload."""
    fact = memory.workloads.drop(key)
    if fact is None:
        return
    memory.forget_pairs(fact.uid)
    leave(memory, key)
    give_back(memory, key)
    heed_siblings(memory, fact)
    memory.marks.pop(key, None)
    memory.writes.refusals.pop(key, None)
    memory.writes.punished.pop(key, None)


def place(memory: Memory, fact: WorkloadFact) -> None:
    """Charge a workload, queue it, or hold it back, as its fact says."""
    key = fact.key
    charge = memory.ledger.charges.get(key)
    if fact.holds_quota:
        if charge is None:
            leave(memory, key)
        hold_quota(memory, fact)
        if fact.variant:
            heed_siblings(memory, fact)
        return
    if charge is not None and charge.decision is not None and _may_be_older(memory, fact):
        return
    give_back(memory, key)
    if fact.evicted or memory.marks:
        note_mark(memory, fact)
    if charge is not None and fact.variant:
        heed_siblings(memory, fact)
    if charge is None or not is_over(fact):
        enqueue(memory, fact)


def _may_be_older(memory: Memory, fact: WorkloadFact) -> bool:
    """Say whether a fact without quota may be older than the admission that was assumed.

    It is newer if the outcome of the write was unknown, so that this fact is the answer, and if it
    shows what can only have happened later: an end, a deactivation, another eviction, other pods.
    """
    key = fact.key
    before = memory.writes.assumed_from.get(key)
    if before is None or fact.finished or fact.deleting or not fact.active:
        return False
    return (
        key not in memory.writes.unknown
        and fact.conditions.get("Evicted") == before.conditions.get("Evicted")
        and fact.requeue_count == before.requeue_count
        and fact.pod_sets == before.pod_sets
    )


def give_back(memory: Memory, key: Key) -> None:
    """Release the quota that a workload holds.

    Nothing changes if the workload holds none.
    """
    charge = memory.ledger.discharge(key)
    memory.places.passes.pop(key, None)
    memory.writes.assumed_from.pop(key, None)
    memory.writes.unknown.discard(key)
    if charge is None:
        return
    _turn_ready(memory, key)
    holder, queue = charge.holder, charge.holder.queue
    if holder.evicted and holder.elsewhere is not None and memory.settings.rules.moves:
        memory.places.returning[key] = turn_of(holder)
    if memory.marks and charge.decision is None:  # else it is not stored that it held any
        spend_marks(memory, holder.uid)
    memory.queue(queue).releases += 1
    if memory.pairs and not _was_preempted(memory, key):
        memory.pairs.pop(queue, None)
        memory.forget_pairs(charge.holder.uid)
    memory.note_charge(charge.holder)


def _was_preempted(memory: Memory, key: Key) -> bool:
    """Say whether a workload releases its quota because it was preempted."""
    fact = memory.workloads.get(key)
    evicted = None if fact is None else fact.conditions.get("Evicted")
    ended = fact is None or fact.finished
    return not ended and evicted is not None and evicted.reason == "Preempted"


def hold_quota(memory: Memory, fact: WorkloadFact) -> None:
    """Charge a workload for the quota that it holds by its status, in place of any other charge."""
    key = fact.key
    memory.writes.assumed_from.pop(key, None)
    if memory.places.passes or fact.unhealthy or (fact.checks and not fact.admitted):
        memory.places.expect(fact, answers=key in memory.writes.unknown)
    if key in memory.writes.unknown:
        memory.writes.unknown.discard(key)
        if key in memory.ledger.evicting and not fact.evicted:
            take_back_eviction(memory, fact)
    charge(memory, fact)
    if fact.evicted or memory.marks:
        note_mark(memory, fact)


def charge(memory: Memory, fact: WorkloadFact) -> None:
    """Charge a workload for what it holds by its fact, at the places that it was given since."""
    key, pending = fact.key, memory.places.passes.get(fact.key)
    if pending is not None and isinstance(pending.decision, Place) and fact.admission is not None:
        placed = replace(fact.admission, pod_sets=pending.decision.pod_sets)
        holder = holder_of(replace(fact, admission=placed), memory.settings)
    else:
        holder = holder_of(fact, memory.settings)
    promises = memory.settings.rules.promises and key not in memory.ledger.evicting
    if promises and pending is not None and pending.kept:
        holder = replace(holder, elsewhere=used_at(fact, holder.usage, pending.kept))
    if fact.uid in memory.credits.demoted:
        holder = replace(holder, priority=LOWEST_PRIORITY)
    admitted = fact.admitted
    old = memory.ledger.charges.get(key)
    memory.ledger.charge(Charge(holder, admitted))
    if holder.evicted and holder.elsewhere is not None and memory.settings.rules.moves:
        memory.places.unsettled.add(key)
    memory.note_charge(holder)
    doors = holder.queue, holder.local_queue
    if old is not None and (old.holder.queue, old.holder.local_queue) != doors:
        memory.note_charge(old.holder)
    is_news = old is None or old.holder.stake != holder.stake
    protects = holder.stake is not None and memory.settings.rules.weighs_work and is_news
    if protects and holder.protected_until > memory.clock:
        memory.timers.set(holder.protected_until, key)
    waits = memory.settings.block_admission_until_pods_ready and not fact.pods_ready
    if waits and memory.settings.expects_pods(admitted=admitted):
        memory.unready.add(key)
    elif memory.unready:
        _turn_ready(memory, key)
    if old is not None and old.holder.evicted and not holder.evicted:
        _spare(memory, fact)


def _spare(memory: Memory, fact: WorkloadFact) -> None:
    """Note that a victim keeps its quota after all: what it was to give back cannot be promised.

    A victim that could not be stopped is not chosen again by the same preemptor. One whose eviction
    was withdrawn (reason `Withdrawn`), because it was not needed, may be chosen again.
    """
    evicted = fact.conditions.get("Evicted")
    if evicted is not None and evicted.reason == "Withdrawn":
        memory.forget_pairs(fact.uid)
    if fact.admission is not None:
        memory.doubt_promises(memory.root_of(fact.admission.cluster_queue))
    memory.marks.pop(fact.key, None)


def _turn_ready(memory: Memory, key: Key) -> None:
    """Note that the pods of a workload are ready, or that it holds no quota any more."""
    if key in memory.unready:
        memory.unready.discard(key)
        memory.edits.pods_turned_ready = True


def take_back_eviction(memory: Memory, victim: WorkloadFact) -> None:
    """Undo the preemption of a victim whose eviction was not written.

    One that waits for a second pass is promised again what it had before, and tried at once: it may
    have been promised to others since.
    """
    preemptor = memory.ledger.spare(victim.key)
    pending = memory.places.passes.get(victim.key)
    if preemptor is not None and pending is not None:
        pending.due = memory.clock
        charge(memory, victim)
    found = memory.ledger.charges.get(victim.key)
    if found is not None:
        memory.doubt_promises(memory.root_of(found.holder.queue))
    for pairs in memory.pairs.values():
        pairs.retract(preemptor, victim.uid)
