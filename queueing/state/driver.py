"""Rounds until nobody is left whom another try could help.

Every cycle ends: in each round each tree either admits somebody, or sets somebody aside until
something changes, or advances somebody's search over flavors, of which there are finitely many; a
tree in which nothing of this happens sets aside whoever was judged in it.
"""

from collections.abc import Iterable
from heapq import heappop

from queueing.core.decisions import Admit, Cycle, Decision, Mode, Requeue, Wait
from queueing.core.facts import Strategy
from queueing.core.holders import Holder
from queueing.core.names import FlavorResource, ResourceName
from queueing.core.quota.node import Node
from queueing.core.rounds import Judgement, World, judge_round
from queueing.state.feuds import Feuds
from queueing.state.intake import enqueue, has_peers, isolate, place, touch_charged
from queueing.state.ledger import Charge
from queueing.state.memory import Memory
from queueing.state.pending import Expects, Item, Peers, Stand
from queueing.state.selection import Selection, has_turn, head_of, heads_of_all, is_active, select
from queueing.state.waits import current_wait, suspended
from queueing.state.wakes import preempts, wake_waiting

PODS = ResourceName("pods")
TRIES_MAX = 256
"""Tries in a row of one workload over its flavors; more than one queue can have of them."""


def run_cycle(memory: Memory, now: float, budget: int | None) -> Cycle:
    """Run rounds until all is judged, or until `budget` heads were."""
    _begin(memory, now)
    rounds: list[tuple[Decision, ...]] = []
    judged = 0
    told = _announce(memory)
    while True:
        left = None if budget is None else max(0, budget - judged)
        selection = select(memory, left)
        decided = [*told, *selection.decisions]
        if selection.items:
            decided += _judge(memory, selection, now)
        judged += len(selection.items)
        told = []
        if decided:
            rounds.append(tuple(decided))
        finished = not selection.items and not selection.decisions
        wake_waiting(memory)
        if finished or (budget is not None and judged >= budget):
            break
    return _cycle(memory, now, rounds, judged)


def run_round(memory: Memory, now: float) -> Cycle:
    """Run exactly one round, as one Kueue cycle, and tell of every pending workload."""
    _begin(memory, now)
    for queue in memory.queues.values():
        for peers in list(queue.waiting):
            if peers.stand is not Stand.PARKED:
                memory.wake_peers(peers)
    memory.announcements.clear()
    selection = heads_of_all(memory)
    decided = list(selection.decisions)
    if selection.items:
        decided += _judge(memory, selection, now)
    seen = {one.workload for one in decided if not hasattr(one, "preemptor")}
    for name in sorted(memory.queues):
        items = [item for peers in memory.queues[name].peers.values() for item in peers.items()]
        for item in sorted(items, key=memory.queues[name].place):
            if item.fact.key not in seen:
                decided.append(current_wait(memory, item))
    decided += [memory.held[key].wait for key in sorted(memory.held)]
    wake_waiting(memory)
    return _cycle(memory, now, [tuple(decided)], len(selection.items))


def _cycle(memory: Memory, now: float, rounds: list[tuple[Decision, ...]], judged: int) -> Cycle:
    timers = memory.timers
    while timers and timers[0][1] not in memory.held:
        heappop(timers)
    return Cycle(
        number=memory.cycles,
        now=now,
        rounds=tuple(rounds),
        judged=judged,
        finished=_is_finished(memory),
        wake_at=_wake_at(memory),
    )


def _is_finished(memory: Memory) -> bool:
    selection = Selection()
    return not any(
        has_turn(memory, memory.queues[name], selection)
        for name in sorted(memory.ready)
        if name in memory.queues
    )


def _begin(memory: Memory, now: float) -> None:
    memory.cycles += 1
    memory.clock = max(memory.clock, now)
    while memory.timers and memory.timers[0][0] <= memory.clock:
        _, key = heappop(memory.timers)
        fact = memory.workloads.get(key)
        if fact is not None and key in memory.held:
            enqueue(memory, fact)
    for key, delay in memory.delays.items():
        fact = memory.workloads.get(key)
        if fact is not None:
            memory.punished[key] = memory.clock + delay
            place(memory, fact)
    memory.delays.clear()
    _take_turns(memory)
    _take_credits(memory)
    wake_waiting(memory)


def _take_credits(memory: Memory) -> None:
    """Bring the credit ledgers up to date: shares may differ, and whom they may take."""
    credit, fair = memory.credits, memory.settings.fair_sharing is not None
    changed = credit.advance(memory.tree, memory.workloads, memory.clock, bends=fair)
    memory.reshaped |= changed
    for key in credit.wakes(memory.clock):
        charge = memory.ledger.charges.get(key)
        if charge is not None:
            memory.ledger.tidings.welcome(charge.holder)


def _take_turns(memory: Memory) -> None:
    """Bring the usage histories of LocalQueues up to date: others may be the heads now."""
    turns = memory.ledger.turns
    if turns is None:
        return
    for key in turns.advance(memory.clock):
        door = memory.objects.local_queues.get(key)
        if door is not None:
            memory.ready.add(door.cluster_queue)
            memory.touch(None, key)


def _wake_at(memory: Memory) -> float | None:
    """Return when, at the earliest, time alone may change a decision."""
    turns = memory.ledger.turns
    times = [memory.timers[0][0]] if memory.timers else []
    if turns is not None and turns.next_at is not None:
        times.append(turns.next_at)
    credited = memory.credits.next_at()
    if credited is not None and memory.items:
        times.append(credited)
    return min(times, default=None)


def _announce(memory: Memory) -> list[Decision]:
    """Tell, once, of those that no round will speak of."""
    told: list[Decision] = []
    for key in memory.announcements:
        item = memory.items.get(key)
        if key in memory.held:
            told.append(memory.held[key].wait)
        elif item is not None and item.peers is not None:
            name = item.peers.queue.name
            if not is_active(memory, name):
                told.append(suspended(item, name))
    memory.announcements.clear()
    for decision in told:
        memory.stories.add(memory.clock, decision)
    return told


def _judge(memory: Memory, selection: Selection, now: float) -> list[Decision]:
    world = World(
        tree=memory.tree,
        rules=memory.objects.rules,
        holders=memory.ledger,
        settings=memory.settings,
        unready=_unready(memory),
        patience=memory.credits.patience,
    )
    heads = [head_of(memory, item) for item in (*selection.items, *selection.companions)]
    judgements = judge_round(heads, world)
    return _settle_all(memory, judgements, now)


def _unready(memory: Memory) -> frozenset[Node]:
    """Return the roots in which admission has to wait for pods, where it does that at all."""
    if not memory.settings.block_admission_until_pods_ready:
        return frozenset()
    charges = (memory.ledger.charges.get(key) for key in memory.unready)
    roots = (memory.roots.get(one.holder.queue) for one in charges if one is not None)
    return frozenset(root for root in roots if root is not None)


def _settle_all(memory: Memory, judgements: list[Judgement], now: float) -> list[Decision]:
    decided: list[Decision] = []
    moved: set[Node] = set()
    skipped: list[Item] = []
    for judgement in judgements:
        decision = judgement.decision
        key = decision.workload
        item = memory.items[key]
        if _says_nothing_new(item, decision):
            continue
        decided += judgement.preemptions
        decided.append(decision)
        for one in (*judgement.preemptions, decision):
            memory.stories.add(now, one)
        if isinstance(decision, Admit):
            _assume(memory, item, judgement, decision, now)
        elif decision.mode is Mode.SKIPPED:
            item.wait = decision
            if memory.as_kueue:
                _go_on_from(memory, item, judgement)
            skipped.append(item)
            continue
        else:
            _settle(memory, item, judgement, decision)
        moved.add(memory.roots[judgement.head.queue])
    for item in skipped:
        _stay_or_give_up(memory, item, moved)
    return decided


def _says_nothing_new(item: Item, decision: Admit | Wait) -> bool:
    """Say whether an item that was judged along only had its last judgement confirmed."""
    if item.peers is None or item.peers.stand is Stand.READY or isinstance(decision, Admit):
        return False
    known = item.wait
    same = known is not None and (known.mode, known.targets) == (decision.mode, decision.targets)
    return same or decision.mode is Mode.SKIPPED


def _stay_or_give_up(memory: Memory, item: Item, moved: set[Node]) -> None:
    """Keep the turn of one that another got in the way of, unless nobody did."""
    if item.peers is None or memory.roots[item.peers.queue.name] in moved:
        return
    peers = _alone(item, sticky=False)
    peers.wait = item.wait
    _stand(memory, peers, _aside(memory, peers))
    peers.queue.hope(peers, _resources(memory, peers), expects=Expects.CHANGE)


def _assume(memory: Memory, item: Item, judgement: Judgement, decision: Admit, now: float) -> None:
    fact = item.fact
    charge = Charge(
        Holder(
            key=fact.key,
            uid=fact.uid,
            queue=decision.cluster_queue,
            local_queue=fact.local_queue,
            priority=fact.priority,
            timestamp=item.timestamp,
            reserved_at=now,
            evicted=False,
            usage=judgement.usage,
        ),
        not decision.checks,
        decision,
    )
    memory.claims.drop(fact.key)
    memory.standing.pop(fact.key, None)
    if item.peers is not None:
        item.peers.queue.remove(item)
    del memory.items[fact.key]
    memory.assumed_from[fact.key] = fact
    memory.ledger.assume(charge, may_be_victim=memory.as_kueue)
    if charge.admitted:
        memory.unready.add(fact.key)
    touch_charged(memory, charge)
    memory.ready.add(decision.cluster_queue)


def _settle(memory: Memory, item: Item, judgement: Judgement, wait: Wait) -> None:
    """Put an item that was not admitted where it waits, and note what would help it."""
    item.wait = wait
    _go_on_from(memory, item, judgement)
    if judgement.progress is not None and item.tries < TRIES_MAX:
        item.tries += 1
        return
    if judgement.preemptions:
        _evict_all(memory, judgement)
    item.wants = judgement.usage
    peers = item.peers
    if peers is None:
        raise AssertionError(f"{item.fact.key} was judged and is in no queue")
    if wait.mode not in (Mode.NO_FIT, Mode.NO_CANDIDATES) or wait.requeue is Requeue.IMMEDIATE:
        strict = memory.objects.queues[peers.queue.name].strategy is Strategy.STRICT_FIFO
        sticky = memory.as_kueue and not strict and bool(judgement.preemptions)
        peers = _alone(item, sticky=sticky)
    peers.wait = wait
    _stand(memory, peers, _stand_of(memory, peers, wait))
    if memory.as_kueue and peers.stand is Stand.PARKED:
        _park_equals(memory, peers, wait)
    if judgement.preemptions or _stands_up(peers, wait):
        memory.standing[item.fact.key] = None
        memory.claims.drop(item.fact.key)
    else:
        memory.step_down(item.fact.key)
    if not memory.as_kueue:
        _note_hopes(memory, peers, item, judgement)
    item.tries = 0


def _go_on_from(memory: Memory, item: Item, judgement: Judgement) -> None:
    """Remember where the next try begins, and what had been released in the queue by then."""
    item.progress = judgement.progress
    item.progress_at = memory.releases.get(judgement.head.queue, 0)


def _park_equals(memory: Memory, peers: Peers, wait: Wait) -> None:
    """Set aside, as Kueue does, who asks the same with the same priority by another LocalQueue."""
    queue = peers.queue
    if wait.mode not in (Mode.NO_FIT, Mode.NO_CANDIDATES) or not has_peers(memory, queue.name):
        return
    for other in list(queue.peers.values()):
        if (
            other.stand is not Stand.PARKED
            and other.priority == peers.priority
            and other.demand.shape == peers.demand.shape
        ):
            other.wait = wait
            for item in other.items():
                item.wait = None
            _stand(memory, other, Stand.PARKED)


def _evict_all(memory: Memory, judgement: Judgement) -> None:
    feuds = memory.feuds.setdefault(memory.roots[judgement.head.queue], Feuds())
    for preemption in judgement.preemptions:
        memory.ledger.evict(preemption.workload)
        feuds.note(preemption.preemptor_uid, preemption.uid)


def _stands_up(peers: Peers, wait: Wait) -> bool:
    """Say whether lesser ones of the tree must be kept off what an item waits for."""
    if wait.mode is Mode.NO_CANDIDATES:
        return peers.stand is Stand.BLOCKING
    return wait.mode is Mode.DEFERRED_FIT


def _alone(item: Item, *, sticky: bool) -> Peers:
    isolate(item, sticky=sticky)
    if item.peers is None:
        raise AssertionError(f"{item.fact.key} is in no queue")
    return item.peers


def _stand(memory: Memory, peers: Peers, stand: Stand) -> None:
    peers.queue.settle(peers, stand)
    memory.touch(peers.queue.name, peers.local_queue)


def _stand_of(memory: Memory, peers: Peers, wait: Wait) -> Stand:
    return _aside(memory, peers) if wait.requeue is Requeue.IMMEDIATE else Stand.PARKED


def _aside(memory: Memory, peers: Peers) -> Stand:
    """Say whether those behind one that waits for others may pass it."""
    strict = memory.objects.queues[peers.queue.name].strategy is Strategy.STRICT_FIFO
    return Stand.BLOCKING if strict or memory.as_kueue else Stand.ASIDE


def _note_hopes(memory: Memory, peers: Peers, item: Item, judgement: Judgement) -> None:
    """Note what may help: for simple demands the very amounts that they lack."""
    queue = peers.queue
    node = memory.tree.queue(queue.name)
    if judgement.preemptions:
        victims = (one.workload for one in judgement.preemptions)
        charged = (key for key in victims if key in memory.ledger.charges)
        memory.claims.put(item.fact.key, queue.name, charged)
        usage = judgement.usage.items()
        queue.lack(peers, [one for one in usage if node.available(one[0]) < one[1]])
        return
    if peers.stand is Stand.PARKED and _knows_its_lacks(memory, item, judgement):
        lacks = [(one.resource, one.asked) for one in judgement.lacks if not one.capacity]
        if all(node.available(resource) < asked for resource, asked in lacks):
            queue.lack(peers, lacks)
            return
    lacking = (one.resource for one in judgement.lacks)
    fair = memory.settings.fair_sharing is not None
    queue.hope(
        peers,
        (*lacking, *_resources(memory, peers)),
        expects=Expects.CHANGE if fair else Expects.VICTIM,
    )


def _knows_its_lacks(memory: Memory, item: Item, judgement: Judgement) -> bool:
    """Say whether nothing helps but to cover one of the lacks.

    Something else may: where victims count, where fewer pods will do, where flavors were passed
    over in an earlier try, or where one pod set's flavor depends on what another one got.
    """
    demand = judgement.head.demand
    return not (
        preempts(memory.objects.queues[judgement.head.queue].preemption)
        or len(demand.pod_sets) > 1
        or demand.may_shrink
        or item.tries
    )


def _resources(memory: Memory, peers: Peers) -> Iterable[FlavorResource]:
    """Every flavor-resource of the queue that the peers could use."""
    asked = {name for one in peers.demand.pod_sets for name in one.pod_set.requests}
    asked.add(PODS)
    groups = memory.objects.queues[peers.queue.name].groups
    return [
        FlavorResource(flavor.flavor, resource)
        for group in groups
        for flavor in group.flavors
        for resource in group.covered
        if resource in asked
    ]
