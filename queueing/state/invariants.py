"""The invariants that hold between two calls of the engine; tests assert them."""

from queueing.core.holders import exposed_by
from queueing.core.names import FlavorResource, Key, QueueName
from queueing.state.memory.memory import Memory
from queueing.state.queues.pending import PendingQueue
from queueing.state.queues.stands import Stand
from queueing.state.usage.charges import Tally
from queueing.state.usage.ledger import Ledger
from queueing.state.usage.ranks import Rank
from queueing.state.usage.turns import Turns


def check(memory: Memory) -> None:
    """Raise AssertionError, naming what is wrong, unless every invariant holds."""
    memory.tree.check()
    _check_sums(memory)
    _check_places(memory)
    for queue in memory.queues.values():
        _check_queue(memory, queue)
    _check_turns(memory)
    _check_promises(memory)
    drifted = memory.credits.drifted(memory.ledger.charges)
    _expect(not drifted, f"{drifted}: what those hold who may not borrow drifted")


def _expect(holds: object, wrong: str) -> None:
    if not holds:
        raise AssertionError(wrong)


def _check_sums(memory: Memory) -> None:
    """Check that usage in the tree, tallies and ranks are the sums over the charges."""
    ledger = memory.ledger
    tallies: dict[QueueName, Tally] = {}
    by_local_queue: dict[Key, Tally] = {}
    for charge in ledger.charges.values():
        holder = charge.holder
        fair = ledger.users.priced(holder) is holder
        _expect(fair, f"{holder.key} is charged wrongly for claims that others use")
        tallies.setdefault(holder.queue, Tally()).add(charge, 1)
        if holder.local_queue is not None:
            by_local_queue.setdefault(holder.local_queue, Tally()).add(charge, 1)
    _expect(tallies == ledger.rolls.tallies(), "counts of ClusterQueues drifted from their charges")
    _expect(
        by_local_queue == ledger.rolls.tallies_behind(),
        "counts of LocalQueues drifted from their charges",
    )
    if ledger.turns is not None:
        _check_turns_of_local_queues(ledger, ledger.turns)
    for queue, rank in ledger.ranks.items():
        plain = Rank(rank.plain)
        plain.count(ledger.rolls.held_in(queue))
        _expect(plain.sums() == rank.sums(), f"{queue}: what namespaces hold drifted")
    for name in memory.objects.queues:
        node = memory.tree.queue(name)
        want = tallies.get(name, Tally()).reserved
        got: dict[FlavorResource, int] = {
            one: node.held(one) for one in node.resources() if node.held(one)
        }
        _expect(got == want, f"{name}: the tree has {got}, its workloads hold {want}")
        later = _later(memory, name)
        got = {one: node.usage(one) for one in node.resources() if node.usage(one)}
        _expect(got == later, f"{name}: {got} is counted as held later, it is {later}")
        exposed = exposed_by(ledger.holders(name))
        _expect(exposed == ledger.exposed(name), f"{name}: what may be preempted drifted")


def _later(memory: Memory, name: QueueName) -> dict[FlavorResource, int]:
    """Return what is held of a queue, less what victims give back, plus what is promised."""
    ledger, found = memory.ledger, dict[FlavorResource, int]()
    stays = (
        one for one in ledger.rolls.held_in(name) if not (one.evicted and memory.rules.promises)
    )
    for holder in (*stays, *(one for one in ledger.promised.values() if one.queue == name)):
        for resource, amount in holder.usage.items():
            found[resource] = found.get(resource, 0) + amount
    return {one: amount for one, amount in found.items() if amount}


def _check_turns_of_local_queues(ledger: Ledger, turns: Turns) -> None:
    """Check that the sums behind usage histories are the sums over the charges."""
    plain = Turns(turns.settings)
    for charge in ledger.charges.values():
        holder = charge.holder
        if holder.local_queue is not None:
            runs = charge.admitted and charge.decision is None
            plain.charge(holder.local_queue, holder.usage, runs=runs, sign=1)
    _expect(plain.sums() == turns.sums(), "usage of LocalQueues drifted from their charges")


def _check_places(memory: Memory) -> None:
    """Check that every workload is charged, queued or held, and only one of these.

    A workload that is over may be none of them.
    """
    for key, fact in memory.workloads.items():
        charge = memory.ledger.charges.get(key)
        places = (charge is not None, key in memory.items, key in memory.aside.held)
        _expect(sum(places) <= 1, f"{key} is in two places: charged, queued, held = {places}")
        over = not fact.holds_quota and (fact.is_true("Finished") or fact.deleting)
        _expect(sum(places) == 1 or over, f"{key} is nowhere")
        if fact.holds_quota and fact.admission is not None and charge is not None:
            _expect(charge.decision is None, f"{key} holds quota and is still assumed to")
            _expect(charge.holder.queue == fact.admission.cluster_queue, f"{key}: charged wrongly")
        elif charge is not None:
            _expect(charge.decision is not None, f"{key} is charged and nothing says why")
    known = memory.workloads.keys()
    _expect(memory.ledger.charges.keys() <= known, "somebody unknown is charged")
    _expect(memory.items.keys() <= known, "somebody unknown is queued")
    _expect(memory.aside.held.keys() <= known, "somebody unknown is held")


def _check_queue(memory: Memory, queue: PendingQueue) -> None:
    """Check that counts are the sizes of peers, and that all that compete are in a lane."""
    size = inadmissible = 0
    offered = {id(order) for lane in queue.lanes.heaps.values() for order, _ in lane}
    for peers in queue.peers.values():
        items = list(peers.items())
        _expect(len(items) == peers.size > 0, f"{queue.name}: peers of a wrong size")
        size += peers.size
        inadmissible += peers.size if peers.stand is Stand.PARKED else 0
        waits = peers.stand is not Stand.READY
        _expect((peers in queue.waiting) == waits, f"{queue.name}: waiting and READY, or neither")
        top = peers.top()
        if top is not None and peers.stand in (Stand.READY, Stand.BLOCKING):
            _expect(id(top.order) in offered, f"{top.fact.key} is not in the heap of its queue")
        for item in items:
            mine = memory.items.get(item.fact.key) is item
            _expect(mine, f"{item.fact.key} is queued twice")
    _check_shelves(queue)
    _expect(queue.size == size, f"{queue.name}: {queue.size} counted, {size} there")
    _expect(queue.inadmissible == inadmissible, f"{queue.name}: inadmissible ones miscounted")
    counted = sum(count.size for count in queue.by_local_queue.values())
    _expect(counted == size, f"{queue.name}: counts of LocalQueues drifted")


def _check_shelves(queue: PendingQueue) -> None:
    """Check that peers on shelves wait, and have the place of their first item there."""
    filed = 0
    for peers in queue.peers.values():
        top, filing = peers.top(), queue.shelves.filing(peers)
        if filing is None or top is None:
            continue
        name = top.fact.key
        _expect(peers in queue.waiting, f"{name} does not wait and is on a shelf")
        _expect(peers not in queue.hopeful, f"{name} is hopeful and on a shelf")
        _expect(filing.place is top.order, f"{name} is on a shelf at another's place")
        filed += len(filing.asked)
    there = queue.shelves.entries()
    _expect(filed == there, f"{queue.name}: {there} on shelves, {filed} know of it")
    ready = {peers for peers in queue.peers.values() if peers.stand is Stand.READY}
    _expect(ready == set(queue.competing), f"{queue.name}: those that compete drifted")


def _check_turns(memory: Memory) -> None:
    """Check that every queue with a head to judge is in `ready`, or is about to be looked at."""
    for name, queue in memory.queues.items():
        if memory.objects.is_active(name) and queue.head() is not None:
            waits_for_look = memory.edits.reshaped or name in memory.edits.refitted
            turns = memory.ledger.turns
            waits_for_look |= turns is not None and turns.unsettled
            waits_for_look |= name in memory.ledger.unranked
            _expect(name in memory.ready or waits_for_look, f"{name} is never looked at")


def _check_promises(memory: Memory) -> None:
    """Check that only pending workloads that were judged have promises, and what they are."""
    promised = memory.ledger.promised
    for key, holder in promised.items():
        item = memory.items.get(key)
        _expect(item is not None, f"{key} has a promise and does not wait")
        stand = None if item is None or item.peers is None else item.peers.stand
        _expect(stand in (Stand.ASIDE, Stand.BLOCKING), f"{key} has a promise and is {stand}")
        _expect(holder.queue in memory.objects.queues, f"{key} has a promise of no queue")
    for queue in memory.queues.values():
        for peers in queue.waiting:
            aside = peers.stand is Stand.ASIDE
            known = all(item.fact.key in promised for item in peers.items())
            _expect(known or not aside, f"{queue.name}: somebody is aside without a promise")
