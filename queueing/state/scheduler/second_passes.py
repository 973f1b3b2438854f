"""Second passes: workloads that hold quota are placed, or placed anew, before all heads.

Called by `schedule` at the begin of a cycle. What was decided is assumed until a fact shows it: new
places are charged in place of the old ones.
"""

from dataclasses import replace
from math import inf

from queueing.core.decisions import Decision
from queueing.core.entries import Head
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, Uid
from queueing.core.second_pass import Attempt, second_pass
from queueing.core.usage import demand_of
from queueing.state.intake.workloads import charge
from queueing.state.memory.memory import Memory
from queueing.state.memory.places import SecondPass
from queueing.state.scheduler.heads import spared_by, world_of
from queueing.state.scheduler.requeue import evict, take_promises

DELAY_S_MAX = 30.0
"""The longest time between two attempts that nothing has changed for; the first is 2 s."""


def run_second_passes(memory: Memory) -> list[Decision]:
    """Place the workloads that are due, by priority and by age of their reservation.

    All that found no place are due when there may be more room on nodes, and are told of again only
    when their own time had come.
    """
    told: list[Decision] = []
    if not memory.settings.rules.promises:
        for pending in memory.places.passes.values():
            pending.kept = {}  # as Kueue counts, it was for the last cycle alone
    for key in sorted(memory.places.passes, key=lambda one: _order(memory, one)):
        pending, fact = memory.places.passes[key], memory.workloads[key]
        on_time = pending.due <= memory.clock
        if pending.decision is not None:
            continue
        if not on_time and not (pending.failures and _may_fit_now(memory, fact)):
            continue
        if key in memory.ledger.evicting:
            continue  # it is about to leave
        found = _attempt(memory, fact, pending)
        told += found.preemptions
        if on_time and not found.ends:
            pending.failures += 1
            pending.due = memory.clock + min(2.0**pending.failures, DELAY_S_MAX)
        if found.ends or on_time or found.preemptions:
            told.append(found.decision)
    return told


def _attempt(memory: Memory, fact: WorkloadFact, pending: SecondPass) -> Attempt:
    """Try a workload, and charge the places that it got or that are promised to it."""
    holder = memory.ledger.charges[fact.key].holder
    head = Head(
        workload=replace(fact, priority=holder.priority),
        queue=holder.queue,
        demand=demand_of(fact),
        timestamp=holder.timestamp,
        spared=spared_by(memory, holder.queue, fact.uid),
    )
    with memory.tree.attempt():
        if holder.elsewhere is not None:
            memory.tree.remove_usage(holder.queue, holder.elsewhere)
            memory.tree.add_usage(holder.queue, holder.usage)
        found = second_pass(head, world_of(memory, ()))
    evict(memory, found.preemptions, {})
    take_promises(memory, head, found.taken)
    before, pending.kept = pending.kept, found.kept
    if found.ends:
        pending.decision = found.decision
    if found.ends or found.kept != before:
        charge(memory, fact)
    return found


def _may_fit_now(memory: Memory, fact: WorkloadFact) -> bool:
    """Say whether there may be more room on nodes of a workload's flavors."""
    vacated, held = memory.ledger.changes.vacated, fact.admission
    if memory.edits.roomier or not vacated or held is None:
        return memory.edits.roomier
    return any(not vacated.isdisjoint(one.flavors.values()) for one in held.pod_sets)


def next_pass(memory: Memory) -> float:
    """Return when the next workload is due without an event; infinity for never.

    One that is about to leave is due only if it stays after all, which is an event.
    """
    evicting = memory.ledger.evicting
    return min(
        (
            one.due
            for key, one in memory.places.passes.items()
            if one.decision is None and key not in evicting
        ),
        default=inf,
    )


def _order(memory: Memory, key: Key) -> tuple[int, float, Uid]:
    fact = memory.workloads[key]
    return -fact.priority, fact.conditions["QuotaReserved"].changed, fact.uid
