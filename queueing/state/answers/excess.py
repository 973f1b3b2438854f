"""Whether a reservation would still be granted now, and whether an eviction is still needed."""

from collections.abc import Iterable

from queueing.core.decisions import Preempt, PreemptionReason
from queueing.core.holders import Holder
from queueing.core.names import Key
from queueing.core.topology.usage import joined, places_of
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import READY

BARRED = (PreemptionReason.IN_CLUSTER_QUEUE, PreemptionReason.IN_COHORT_FAIR_SHARING)
"""Reasons for which nobody is preempted within a minimum runtime."""


def exceeds(memory: Memory, key: Key, aside: Iterable[Key]) -> bool:
    """Say whether a workload holds quota that it could not get now.

    The usage of workloads in `aside`, of evicted ones, and what is only promised does not count:
    these have to give way to it.
    """
    charges, tree = memory.ledger.charges, memory.tree
    charge = charges.get(key)
    if charge is None or not tree.has_queue(charge.holder.queue):
        return False
    holder = charge.holder
    with tree.attempt():
        for other in dict.fromkeys((key, *aside, *memory.ledger.leaving)):
            found = charges.get(other)
            if found is not None and (found.holder.runs or not memory.settings.rules.promises):
                _remove(memory, found.holder)
        for one in memory.ledger.promised.values():
            _remove(memory, one)
        return _is_short(memory, holder)


def is_needed(memory: Memory, victim: Key) -> bool:
    """Say whether the eviction of a workload is needed: others were promised what it gives back.

    That is its quota or its place. What is kept elsewhere for one that is moved it would not need.
    Those that share a claim go together. A preemptor that is about to be judged needs it still.
    """
    charge = memory.ledger.charges.get(victim)
    if charge is None or not charge.holder.evicted or not memory.settings.rules.promises:
        return False
    preemptor = memory.preemptor_of(victim)
    placing, item = memory.places.passes.get(preemptor), memory.items.get(preemptor)
    waits = placing is not None and placing.decision is None
    if waits and preemptor not in memory.ledger.evicting:
        return True  # the preemptor holds quota, and waits for the place
    if item is not None and (item.wait is None or item.peers.stand is READY):
        return True
    holder = memory.ledger.users.together(charge.holder)
    root, promised = memory.root_of(holder.queue), memory.ledger.promised.values()
    placed = any(one.kept for one in memory.places.passes.values())
    if root is None or not (placed or any(memory.root_of(one.queue) is root for one in promised)):
        return False  # it may hold more than its quota now, but nobody waits for it to leave
    with memory.tree.attempt():
        for one in holder.members or (holder,):
            if one.elsewhere is not None:
                memory.tree.remove_usage(one.queue, one.elsewhere)
        places = joined(places_of(holder.usage))
        has_place = all(map(memory.tree.forest.has_room, places))
        return not has_place or _is_short(memory, holder)


def is_due(memory: Memory, decision: Preempt) -> bool:
    """Say whether an eviction that is not written yet still has its victim, and is needed.

    Whether a minimum runtime protects the victim is known only once its admission is stored.
    """
    if memory.ledger.evicting.get(decision.workload) != decision.preemptor_uid:
        return False
    victim = memory.ledger.charges[decision.workload].holder
    protects = victim.stake is not None and decision.reason in BARRED
    is_protected = protects and victim.protected_until > memory.clock
    return not is_protected and is_needed(memory, decision.workload)


def _is_short(memory: Memory, holder: Holder) -> bool:
    node = memory.tree.queue(holder.queue)
    return any(node.available(one) < amount for one, amount in holder.usage.items())


def _remove(memory: Memory, holder: Holder) -> None:
    if memory.tree.has_queue(holder.queue):
        memory.tree.remove_usage(holder.queue, holder.counted)
