"""Second passes: workloads that hold quota are placed, or placed anew, before all heads.

Called by `schedule` at the begin of a cycle. What was decided is assumed until a fact shows it: new
places are charged in place of the old ones.
"""

from math import inf

from queueing.core.decisions import Decision, Place, Strand
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, Uid
from queueing.core.second_pass import second_pass
from queueing.state.intake.holding import charge
from queueing.state.memory.memory import Memory

DELAY_S_MAX = 30.0
"""The longest time between two attempts that nothing has changed for; the first is 2 s."""


def run_second_passes(memory: Memory) -> list[Decision]:
    """Place the workloads that are due, by priority and by age of their reservation.

    All that found no place are due when there may be more room on nodes, and are told of again only
    when their own time had come.
    """
    told: list[Decision] = []
    for key in sorted(memory.passes, key=lambda one: _order(memory, one)):
        pending, fact = memory.passes[key], memory.workloads[key]
        on_time = pending.due <= memory.clock
        if pending.decision is not None:
            continue
        if not on_time and not (pending.failures and _may_fit_now(memory, fact)):
            continue
        if key in memory.ledger.evicting:
            continue  # it is about to leave
        found = second_pass(fact, memory.tree.forest, memory.settings)
        match found:
            case Place():
                pending.decision = found
                charge(memory, fact)
            case Strand(evicts=True):
                pending.decision = found
            case _:
                if not on_time:
                    continue
                pending.failures += 1
                pending.due = memory.clock + min(2.0**pending.failures, DELAY_S_MAX)
        told.append(found)
    return told


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
            for key, one in memory.passes.items()
            if one.decision is None and key not in evicting
        ),
        default=inf,
    )


def _order(memory: Memory, key: Key) -> tuple[int, float, Uid]:
    fact = memory.workloads[key]
    return -fact.priority, fact.conditions["QuotaReserved"].changed, fact.uid
