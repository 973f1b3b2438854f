"""Workloads that are moved, so that a gang gets a domain: their place elsewhere, and their return.

Whom to move is found by `core.placement.moving`. What is kept for a workload elsewhere counts as
its usage until it has left; then it is judged before all heads, to take it.
"""

from collections.abc import Iterable

from queueing.core.decisions import Admit, Reason
from queueing.core.entries import Ruling
from queueing.core.names import Key
from queueing.core.placement.pods import used_at, wanted_places
from queueing.core.topology.placement import place, placements, unplaced
from queueing.core.topology.searching import SearchTerms
from queueing.core.topology.usage import places_of, without_places
from queueing.state.intake.returning import turn_of
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import READY, Item
from queueing.state.scheduler.nominated import called


def returning(memory: Memory) -> list[Item]:
    """Return those who were moved and have left their place, those with most pods first.

    So those of one gang find the places again that were found for them together. They are judged
    once, after the promises and before all others: what was kept for them while they were leaving
    is theirs to take. To wait for the pods of others does not count, nor that they are held back
    for a while; whoever does not count as pending loses its turn.
    """
    turns = {key: turn for key, turn in memory.places.returning.items() if _is_pending(memory, key)}
    memory.places.returning = turns
    known = (memory.items.get(key) for key in turns)
    found = [one for one in known if one and (one.wait is None or one.peers.stand is READY)]
    return sorted(called(memory, found), key=lambda one: turns[one.fact.key])


def settle_elsewhere(memory: Memory) -> None:
    """Find a place for those who are moved and have none kept, beside what their gang was promised.

    That is where a node is gone, or a new leader knows none. Who finds none keeps its quota, and
    its turn before all others when it has left.
    """
    ledger, forest = memory.ledger, memory.tree.forest
    memory.places.unsettled.intersection_update(ledger.moving)
    ripe = [key for key in memory.places.unsettled if not _is_gang_awaited(memory, key)]
    memory.places.unsettled.difference_update(ripe)
    holders = [ledger.charges[key].holder for key in ripe]
    for holder in sorted(holders, key=turn_of):
        kept = places_of(ledger.moving[holder.key])
        if not places_of(holder.usage) or (kept and not any(map(forest.is_overdrawn, kept))):
            continue
        fact, quota = memory.workloads[holder.key], without_places(holder.usage)
        ledger.keep(holder.key, quota)
        wanted, troubles = wanted_places(fact, forest, anew=True)
        found = place(forest, wanted, SearchTerms(profile=memory.settings.placement))
        if not troubles and unplaced(found) is None:
            ledger.keep(holder.key, used_at(fact, quota, placements(found)))


def _is_gang_awaited(memory: Memory, moved: Key) -> bool:
    """Say whether the gang for which a workload is moved is about to be judged."""
    item = memory.items.get(memory.preemptor_of(moved))
    return item is not None and item.peers.stand is READY


def end_turns(memory: Memory, rulings: Iterable[Ruling]) -> None:
    """Note which of those who return were judged."""
    for decision in (one.decision for one in rulings):
        if isinstance(decision, Admit) or decision.reason is not Reason.WAITING_FOR_PODS_READY:
            memory.places.returning.pop(decision.workload, None)


def _is_pending(memory: Memory, key: Key) -> bool:
    held = memory.aside.held.get(key)
    return key in memory.items or (held is not None and held.counts_in is not None)
