"""The invariants that hold between two calls of the engine.

Usage is the sum over the workloads that hold quota, by a fact or assumed, plus what is promised; a
workload is in at most one queue, or held back; none is both pending and charged.
"""

from queueing.core.credits.restraint import Restraint
from queueing.core.names import Key, QueueName
from queueing.core.quota.tree import QuotaTree
from queueing.state.credits.ranks import Rank
from queueing.state.engine import Engine
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Stand
from queueing.state.queues.pending import PendingQueue
from queueing.state.usage.ledger import Ledger
from queueing.state.usage.turns import Turns
from queueing.testing.trees import check


def check_invariants(engine: Engine) -> None:
    """Raise AssertionError, naming what is wrong, unless every invariant holds."""
    memory = engine.memory
    check(memory.tree)
    _check_ledger(memory)
    _check_places(memory)
    for queue in memory.queues.values():
        _check_queue(memory, queue)
    _check_turns(memory)
    _check_promises(memory)


def _expect(holds: object, wrong: str) -> None:
    if not holds:
        raise AssertionError(wrong)


def _check_ledger(memory: Memory) -> None:
    """Check that a ledger made anew from the same charges and promises says the same."""
    ledger, anew = memory.ledger, _made_anew(memory)
    for key, charge in ledger.charges.items():
        fair = charge.holder.usage == anew.charges[key].holder.usage
        _expect(fair, f"{key} is charged wrongly for claims that others use")
    forests = [one.tree.forest.picture() for one in (ledger, anew)]
    _expect(forests[0] == forests[1], f"places drifted: {forests[0]}, not {forests[1]}")
    _expect(ledger.leaving == anew.leaving, "those that are leaving drifted")
    if ledger.turns is not None and anew.turns is not None:
        same = _sums(ledger.turns) == _sums(anew.turns)
        _expect(same, "usage of LocalQueues drifted")
    for name in ledger.rolls.keys() | memory.objects.queues:
        made = _said(anew, name)
        for what, said in _said(ledger, name).items():
            _expect(said == made[what], f"{name}: {what} drifted: {said}, not {made[what]}")
    for name, kept in memory.credits.ranks.items():
        rank = Rank()
        rank.count(one.holder for one in ledger.charges_of(name))
        _expect(rank.held == kept.held, f"{name}: what namespaces hold drifted")
    for name, restraint in memory.credits.restraints.items():
        plain = Restraint(restraint.node, restraint.min_priority)
        for one in ledger.charges_of(name):
            plain.charge(one.holder, 1)
        same = all(
            restraint.held.get(key, 0) == plain.held.get(key, 0)
            for key in {**restraint.held, **plain.held}
        )
        _expect(same, f"{name}: what those hold who may not borrow drifted")


def _sums(turns: Turns) -> dict[Key, object]:
    """Return what LocalQueues run, and what is charged ahead of them."""
    known = turns.accounts.items()
    return {key: (one.used, one.ahead) for key, one in known if one.used or one.ahead}


def _made_anew(memory: Memory) -> Ledger:
    tree, turns = QuotaTree(), memory.ledger.turns
    for fact in memory.objects.queues.values():
        tree.put_queue(fact)
    plain = None if turns is None else Turns(turns.settings)
    made = Ledger(tree, plain, promises=memory.settings.rules.promises, asleep=memory.ledger.asleep)
    for charge in memory.ledger.charges.values():
        made.assume(charge)
    for holder in memory.ledger.promised.values():
        made.promise(holder)
    return made


def _said(ledger: Ledger, name: QueueName) -> dict[str, object]:
    cells = ledger.tree.queue(name).cells if ledger.tree.has_queue(name) else {}
    known = {one: (cell.held, cell.usage) for one, cell in cells.items()}
    return {
        "what is held, and later": {one: both for one, both in known.items() if any(both)},
        "who is charged": {one.holder.uid for one in ledger.charges_of(name)},
        "who may be preempted": {one.uid for one in ledger.holders(name)},
        "what may be preempted": ledger.exposed(name),
    }


def _check_places(memory: Memory) -> None:
    """Check that every workload is charged, queued or held, and only one of these.

    A workload that is over may be none of them.
    """
    for key, fact in memory.workloads.items():
        charge = memory.ledger.charges.get(key)
        places = (charge is not None, key in memory.items, key in memory.aside.held)
        _expect(sum(places) <= 1, f"{key} is in two places: charged, queued, held = {places}")
        over = not fact.holds_quota and (fact.finished or fact.deleting)
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
    """Check that each item is in one group, and each group in its rows and no other."""
    rows = {**queue.lanes, **queue.shelves}
    _expect(all(row.entries for row in rows.values()), f"{queue.name}: a row is empty")
    entries = sum(len(row.entries) for row in rows.values())
    filed = sum(len(peers.asked) for peers in queue.peers.values())
    _expect(filed == entries, f"{queue.name}: {entries} in rows, {filed} know of it")
    for peers in queue.peers.values():
        top = peers.top()
        if top is None:
            raise AssertionError(f"{queue.name}: nobody is among some peers")
        name, waits = top.fact.key, peers.stand is not Stand.READY
        _expect((peers in queue.waiting) == waits, f"{name}: waiting and READY, or neither")
        in_rows = all((top.order, peers) in rows[slot].entries for slot in peers.asked)
        _expect(in_rows, f"{name} is not in its rows, at the place of the first")
        lanes = [slot for slot in peers.asked if slot.resource is None]
        _expect(len(lanes) == peers.competes, f"{name} competes and is in no lane, or not")
        shelved = len(peers.asked) > len(lanes)
        _expect(not shelved or peers.stand is Stand.PARKED, f"{name}: on a shelf, and not PARKED")
        _expect(not (shelved and peers in queue.hopeful), f"{name} is hopeful and on a shelf")
        for item in peers.items():
            mine = memory.items.get(item.fact.key) is item and item.peers is peers
            _expect(mine, f"{item.fact.key} is queued twice")


def _check_turns(memory: Memory) -> None:
    """Check that every queue with a head to judge is in `ready`, or is about to be looked at."""
    for name, queue in memory.queues.items():
        if memory.objects.is_active(name) and queue.head() is not None:
            waits_for_look = memory.edits.reshaped or name in memory.edits.refitted
            turns = memory.ledger.turns
            waits_for_look |= turns is not None and bool(turns.changed)
            waits_for_look |= name in memory.ledger.unranked
            _expect(name in memory.ready or waits_for_look, f"{name} is never looked at")


def _check_promises(memory: Memory) -> None:
    """Check that only pending workloads that were judged have promises, and what they are."""
    promised = memory.ledger.promised
    for key, holder in promised.items():
        item = memory.items.get(key)
        _expect(item is not None, f"{key} has a promise and does not wait")
        stand = None if item is None else item.peers.stand
        _expect(stand in (Stand.ASIDE, Stand.BLOCKING), f"{key} has a promise and is {stand}")
        _expect(holder.queue in memory.objects.queues, f"{key} has a promise of no queue")
    for queue in memory.queues.values():
        for peers in queue.waiting:
            aside = peers.stand is Stand.ASIDE
            known = all(item.fact.key in promised for item in peers.items())
            _expect(known or not aside, f"{queue.name}: somebody is aside without a promise")
