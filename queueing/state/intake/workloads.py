"""Takes in Workloads: each is charged for quota, in a queue, or held back, by what its fact says.

Invariant: after `place` exactly one of these holds, or none if the workload is finished or being
deleted.
"""

from dataclasses import replace

from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.state.intake.holding import give_back, hold_quota
from queueing.state.intake.joining import enqueue, heed_siblings, is_over, leave
from queueing.state.intake.marks import note_mark
from queueing.state.memory.memory import Memory


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
