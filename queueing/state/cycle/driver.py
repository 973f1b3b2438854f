"""One cycle: rounds until no head is left that another attempt could admit.

Every cycle ends. In each round and tree at least one of three things happens: a workload is
admitted, a workload is set aside until something changes, or a workload's search advances over its
flavors, of which there are finitely many. If none of them happens in a tree, all workloads that
were judged in it are set aside.
"""

from collections.abc import Mapping, Sequence
from heapq import heappop

from queueing.core.decisions import Cycle, Decision, Preempt
from queueing.core.names import QueueName
from queueing.core.preemption.limits import Bound
from queueing.core.quota.node import Node
from queueing.core.recall import Recall, Recalls
from queueing.core.rounds import Entry, World, decide_round, judge_round, nominations
from queueing.state.answers.waits import standing_wait, suspended
from queueing.state.cycle.beginning import begin
from queueing.state.cycle.selection import (
    Selection,
    has_turn,
    head_of,
    head_queue,
    heads_of_all,
    is_patient,
    select,
)
from queueing.state.cycle.settlement import settle_all
from queueing.state.cycle.standing import may_try_again, try_again
from queueing.state.cycle.succession import (
    LOOKS_PER_HEAD,
    Limits,
    Succession,
    hand_on,
    withhold,
)
from queueing.state.cycle.wakes import wake_waiting
from queueing.state.intake.local_queues import credited
from queueing.state.memory.memory import Memory
from queueing.state.queues.stands import Stand


def run_cycle(memory: Memory, now: float, budget: int | None) -> Cycle:
    """Run rounds until no head is left to judge, or until the budget is used up.

    The unit of `budget` is one judged head; None is unlimited.
    """
    begin(memory, now)
    rounds: list[tuple[Decision, ...]] = []
    judged = spent = 0
    told = _announce(memory)
    while True:
        left = None if budget is None else max(0, budget - spent)
        selection = select(memory, left)
        judged += selection.heads
        spent += selection.weight
        finished = not (selection.heads or selection.decisions)
        found: list[Decision] = []
        if selection.items or selection.foregone:
            limits = None
            if budget is not None and left is not None:
                limits = Limits(max(selection.heads, budget - spent), left)
            found = _judge(memory, selection, now, limits)
            judged += selection.successors
            spent += selection.successors + selection.looks // LOOKS_PER_HEAD
        decided = [*told, *selection.decisions, *found]
        told = []
        if decided:
            rounds.append(tuple(decided))
        wake_waiting(memory)
        if finished and hand_on(memory):
            wake_waiting(memory)
            continue
        if finished and try_again(memory):
            continue
        if finished or (budget is not None and spent >= budget):
            break
    cycle = _cycle(memory, now, rounds, judged)
    memory.is_cut = not cycle.finished
    return cycle


def run_round(memory: Memory, now: float) -> Cycle:
    """Run exactly one round, as one Kueue cycle, and return a decision for every pending workload.

    A workload that is no head gets a `Wait` with the reason why the round did not judge it.
    """
    begin(memory, now)
    for queue in memory.queues.values():
        for peers in list(queue.waiting):
            if peers.stand is not Stand.PARKED:
                memory.wake_peers(peers)
    memory.announcements.clear()
    selection = heads_of_all(memory)
    decided = list(selection.decisions)
    if selection.items:
        decided += _judge_once(memory, selection, now)
    seen = {one.workload for one in decided if not isinstance(one, Preempt)}
    for name in sorted(memory.queues):
        items = [item for peers in memory.queues[name].peers.values() for item in peers.items()]
        for item in sorted(items, key=memory.queues[name].lanes.place):
            if item.fact.key not in seen:
                decided.append(standing_wait(memory, item))
    decided += [memory.held[key].wait for key in sorted(memory.held)]
    wake_waiting(memory)
    return _cycle(memory, now, [tuple(decided)], len(selection.items))


def _cycle(memory: Memory, now: float, rounds: list[tuple[Decision, ...]], judged: int) -> Cycle:
    timers = memory.timers
    while timers and timers[0][1] not in memory.held:
        heappop(timers)
    protected = memory.protected
    while protected and protected[0][1] not in memory.ledger.charges:
        heappop(protected)
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
    if memory.withheld or any(may_try_again(memory)):
        return False
    return not any(
        has_turn(memory, memory.queues[name], selection)
        for name in sorted(memory.ready)
        if name in memory.queues
    )


def _wake_at(memory: Memory) -> float | None:
    """Return the earliest time at which a decision may change without any event; None for never."""
    turns = memory.ledger.turns
    times = [memory.timers[0][0]] if memory.timers else []
    if turns is not None and turns.next_at is not None:
        times.append(turns.next_at)
    credited = memory.credits.next_at()
    if credited is not None and memory.items:
        times.append(credited)
    if memory.protected and memory.items:
        times.append(memory.protected[0][0])
    return min(times, default=None)


def _announce(memory: Memory) -> list[Decision]:
    """Return the reasons of workloads that no round will decide on, each once.

    These are held workloads and those in inactive ClusterQueues.
    """
    told: list[Decision] = []
    for key in memory.announcements:
        item = memory.items.get(key)
        if key in memory.held:
            told.append(memory.held[key].wait)
        elif item is not None and item.peers is not None:
            name = item.peers.queue
            if not memory.objects.is_active(name):
                told.append(suspended(item, name))
    memory.announcements.clear()
    for decision in told:
        memory.stories.add(decision.workload, memory.clock, decision)
    return told


def _judge(
    memory: Memory, selection: Selection, now: float, limits: Limits | None
) -> list[Decision]:
    """Judge one round; the turn of a hopeless head passes to the next workload of its queue.

    If hopeless heads exceed the limits, the round is left undecided. They are set aside all the
    same, so a later round begins without them.
    """
    if memory.as_kueue:
        return _judge_once(memory, selection, now)
    roots = {memory.roots[name] for name in selection.queues()} if memory.withheld else ()
    if not selection.items:
        hand_on(memory, roots)
        return settle_all(memory, (), selection, now)
    world = _world(memory, selection)
    succession = Succession(memory, selection, world.effort, now=now, limits=limits)
    entries: list[Entry] = []
    for entry in nominations(succession.heads(), world, succession.after, succession.along()):
        if succession.is_cut:
            break
        entries.append(entry)
    told = succession.end()
    if succession.is_cut:
        selection.looks = world.effort.looks
        withhold(memory)
        return told
    hand_on(memory, [root for root in roots if root not in succession.left_out])
    if selection.companions:
        entries = _by_queue(memory, entries)
    judgements = decide_round(entries, world)
    selection.looks = world.effort.looks
    return [*told, *settle_all(memory, judgements, selection, now)]


def _by_queue(memory: Memory, entries: Sequence[Entry]) -> list[Entry]:
    """Group the entries by queue, each queue's in its order: its head and its companions.

    A head that runs beyond a budget, with the lowest priority, comes last.
    """
    queues: dict[QueueName, list[Entry]] = {}
    for entry in entries:
        queues.setdefault(entry.head.queue, []).append(entry)
    found: list[Entry] = []
    for name, line in queues.items():
        if len(line) > 1:
            items = [memory.items[entry.head.workload.key] for entry in line]
            places = zip(line, memory.queues[name].lanes.places(items), strict=True)
            ordered = sorted(places, key=lambda one: (one[0].demoted is not None, one[1]))
            line = [entry for entry, _ in ordered]
        found += line
    return found


def _judge_once(memory: Memory, selection: Selection, now: float) -> list[Decision]:
    """Judge each head once, as one cycle of Kueue does."""
    if memory.as_kueue:
        for name in selection.queues():
            memory.judged[name] = memory.judged.get(name, 0) + 1
    heads = [head_of(memory, item, patient=is_patient(item)) for item in selection.items]
    heads += [head_of(memory, item) for item in selection.companions]
    return settle_all(memory, judge_round(heads, _world(memory, selection)), selection, now)


def _world(memory: Memory, selection: Selection) -> World:
    bounds = _bounds(memory)
    return World(
        tree=memory.tree,
        rules=memory.objects.rules,
        holders=memory.ledger,
        settings=memory.settings,
        now=memory.clock,
        bounds=bounds,
        unready=_unready(memory),
        patience=memory.credits.patience,
        followed=_followed(memory),
        allowance=memory.credits.allowance,
        recalls=_recalls(memory, selection, bounds),
        credited=credited(memory),
    )


def _recalls(memory: Memory, selection: Selection, bounds: Mapping[Node, Bound]) -> Recalls | None:
    """Return what earlier rounds found in trees with standing workloads, where that still holds.

    None if rulings depend on more than usage: limits on preemption and budgets are used up also by
    entries that are charged nothing.
    """
    for name in memory.ledger.take_stirred():
        if name in memory.roots:
            memory.recalls.pop(memory.roots[name], None)
    settings = memory.settings
    if memory.as_kueue or bounds or memory.credits.allowance is not None:
        return None
    if settings.block_admission_until_pods_ready:
        return None
    for item in selection.companions:
        root = memory.roots[head_queue(item)]
        if root not in memory.recalls:
            memory.recalls[root] = Recall()
    return memory.recalls


def _followed(memory: Memory) -> frozenset[QueueName]:
    """Return the queues with more than one active workload; empty unless credits bend a weight."""
    if not memory.credits.bends:
        return frozenset()
    queues = (memory.queues.get(name) for name in memory.ready)
    return frozenset(one.name for one in queues if one is not None and one.active > 1)


def _bounds(memory: Memory) -> dict[Node, Bound]:
    """Return the nodes that limit concurrent preemptions, with how many victims are leaving there.

    Empty in Kueue mode.
    """
    objects, tree = memory.objects, memory.tree
    if memory.as_kueue or not (objects.limited_queues or objects.limited_cohorts):
        return {}
    limited = [(tree.queue(name), most) for name, most in objects.limited_queues.items()]
    for cohort, most in objects.limited_cohorts.items():
        node = tree.cohort(cohort)
        if node is not None and not tree.in_cycle(node):
            limited.append((node, most))
    return {node: Bound(most, _leaving(memory, node)) for node, most in limited}


def _leaving(memory: Memory, node: Node) -> int:
    leaving = memory.ledger.leaving
    below = (node,) if node.is_queue else memory.tree.queues_of(node)
    return sum(leaving.get(QueueName(one.name), 0) for one in below) if leaving else 0


def _unready(memory: Memory) -> frozenset[Node]:
    """Return the roots of trees in which admission waits until the pods of others are ready.

    Empty unless `waitForPodsReady.blockAdmission` is set.
    """
    if not memory.settings.block_admission_until_pods_ready:
        return frozenset()
    charges = (memory.ledger.charges.get(key) for key in memory.unready)
    roots = (memory.roots.get(one.holder.queue) for one in charges if one is not None)
    return frozenset(root for root in roots if root is not None)
