"""One cycle: rounds follow each other until no queue has a head that another try could help.

Called by `engine` alone: `schedule` once per cycle, continued after a pause, and `sweep` at rest.

A round takes the heads of one quota tree, because trees share nothing but nodes, and trees take
turns; as Kueue counts, a round takes the heads of all trees. Every cycle ends: in each round
somebody is admitted, or set aside until something changes, or a search advances over its flavors,
or a promise passes to somebody who may not lose it to the same workload again.
"""

from bisect import bisect_right
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import inf

from queueing.core.decisions import Cycle, Decision, Preempt
from queueing.core.names import QueueName
from queueing.core.rounds import Pause, process_round
from queueing.state.answers.waits import standing_wait, suspended
from queueing.state.intake.joining import enqueue
from queueing.state.intake.workloads import place
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import ASIDE, PARKED, READY, Item
from queueing.state.scheduler.balances import take_credits, take_turns
from queueing.state.scheduler.heads import (
    as_head,
    blockers_beside,
    has_turn,
    heads_of,
    may_be_judged,
    queues_in_turn,
    world_of,
)
from queueing.state.scheduler.moved import end_turns, returning, settle_elsewhere
from queueing.state.scheduler.nominated import due, hopeful
from queueing.state.scheduler.second_passes import next_pass, run_second_passes
from queueing.state.scheduler.settle import settle
from queueing.state.scheduler.wake import wake_waiting

Steps = Generator[None, None, Cycle]
"""A cycle that yields where it pauses in the middle of a round, and returns what it decided."""


def schedule(memory: Memory, now: float, budget: int | None, pause: Pause | None) -> Steps:
    """Run rounds until nobody is left to try, or `budget` heads were judged, or it shall pause.

    The budget is overrun by at most one round.
    """
    run = _Run(memory, pause, inf if budget is None else budget)
    begin(memory, now)
    if memory.places.passes:
        run.told += run_second_passes(memory)
    finished = False
    while not finished:
        promised = due(memory) if memory.ledger.promised or memory.marks else ()
        released = tuple(memory.ledger.changes.released) if memory.ledger.promised else ()
        wake_waiting(memory)
        if memory.aside.untold:
            run.told += _announce(memory)
        if promised or released or memory.places.returning or memory.places.unsettled:
            yield from run.before_all(promised, released)
        before = run.judged, len(run.told)
        for turn, names in queues_in_turn(memory):
            if items := heads_of(memory, names, run.told):
                memory.trees.cursor = turn
                blockers = blockers_beside(memory, (one.peers.queue for one in items))
                yield from run.round(items + blockers)
                if run.is_over():
                    return _cycle(memory, run, finished=False)
        to_go_on = memory.ready or memory.aside.untold
        finished = not to_go_on or before == (run.judged, len(run.told))
        if finished and memory.places.unsettled:
            settle_elsewhere(memory)
            finished = not memory.ledger.changes.vacated
    return _cycle(memory, run, finished=True)


def begin(memory: Memory, now: float) -> None:
    """Set the clock, and note what has come due since the last cycle."""
    memory.cycles += 1
    memory.clock = max(memory.clock, now)
    for key in memory.timers.take(memory.clock):
        if key in memory.aside.held:
            enqueue(memory, memory.workloads[key])
        if key in memory.ledger.charges:  # its minimum runtime is over
            memory.ledger.changes.newcomers.add(memory.ledger.charges[key].holder.queue)
    for key, delay in memory.writes.delays.items():
        fact = memory.workloads.get(key)
        if fact is not None:
            memory.writes.punished[key] = memory.clock + delay
            place(memory, fact)
    memory.writes.delays.clear()
    if memory.ledger.turns is not None:
        take_turns(memory, memory.ledger.turns)
    if memory.credits.any:
        take_credits(memory)


def sweep(memory: Memory, most: int) -> int:
    """Let some who wait longest in each queue be judged in the next cycle; return how many groups.

    The next call begins at the queue after the last one, so that each has its turn.
    """
    if not memory.settings.rules.waits_for_lacks:
        return 0
    names = sorted(name for name, queue in memory.queues.items() if queue.waiting)
    start = bisect_right(names, memory.trees.swept)
    waiting = (
        peers
        for name in names[start:] + names[:start]
        for peers in list(memory.queues[name].waiting)
        if peers.stand is not ASIDE
    )
    found = list(islice(waiting, most))
    for peers in found:
        memory.trees.swept = peers.queue
        memory.wake(peers)
    return len(found)


def run_round(memory: Memory, now: float) -> Cycle:
    """Run exactly one round over all trees, and return a decision for every pending workload.

    A workload that is no head gets a `Wait` with the reason why the round did not judge it.
    """
    begin(memory, now)
    placed = run_second_passes(memory)
    promised, released = due(memory), tuple(memory.ledger.changes.released)
    wake_waiting(memory)
    for queue in memory.queues.values():
        for peers in list(queue.waiting):
            if peers.stand is not PARKED:
                memory.wake(peers)
    memory.aside.untold.clear()
    run = _Run(memory, told=placed)
    for _ in run.before_all(promised, released):
        pass
    items = heads_of(memory, sorted(memory.queues), run.told)
    for _ in run.round(items) if items else ():
        pass
    run.close()
    decided = [one for told in run.rounds for one in told]
    seen = {one.workload for one in decided if not isinstance(one, Preempt)}
    for name in sorted(memory.queues):
        queue = memory.queues[name]
        waiting = [item for peers in queue.peers.values() for item in peers.items()]
        decided += [
            standing_wait(memory, item)
            for item in sorted(waiting, key=queue.place)
            if item.fact.key not in seen
        ]
    decided += [memory.aside.held[key].wait for key in sorted(memory.aside.held)]
    wake_waiting(memory)
    run.rounds = [tuple(decided)]
    known = (memory.queues[name] for name in memory.ready if name in memory.queues)
    return _cycle(memory, run, finished=not any(has_turn(memory, one) for one in known))


@dataclass(slots=True)
class _Run:
    """The rounds of one cycle so far."""

    memory: Memory
    pause: Pause | None = None
    budget: float = inf
    rounds: list[tuple[Decision, ...]] = field(default_factory=list)
    judged: int = 0
    told: list[Decision] = field(default_factory=list)
    """Decisions that no round made: they are told with the next round."""

    def before_all(
        self, promised: Sequence[Item], released: Sequence[QueueName]
    ) -> Generator[None]:
        """Judge those who go before all heads.

        What is kept goes to its owners before promises are tried that may only do better.
        """
        if promised:
            yield from self.serve(promised)
        if self.memory.places.unsettled:
            settle_elsewhere(self.memory)
            wake_waiting(self.memory)
        if self.memory.places.returning and (moved := returning(self.memory)):
            yield from self.serve(moved)
        if released and (better := hopeful(self.memory, released)):
            yield from self.serve(better)

    def serve(self, items: Iterable[Item]) -> Generator[None]:
        """Judge some that go before all heads, unless they must not be judged any more."""
        heads = [one for one in items if may_be_judged(self.memory, one, self.told)]
        yield from self.round(heads, in_order=True)

    def is_over(self) -> bool:
        """Say whether the cycle ends before everybody was judged."""
        return self.judged >= self.budget or bool(self.pause and self.pause())

    def round(self, items: Sequence[Item], *, in_order: bool = False) -> Generator[None]:
        """Judge some heads together, and apply what was decided."""
        memory = self.memory
        if not memory.settings.rules.waits_for_lacks:
            for name in (one.peers.queue for one in items if one.peers.stand is READY):
                memory.queues[name].judged += 1
        self.judged += len(items)
        heads, world = map(partial(as_head, memory), items), world_of(memory, items)
        rulings = yield from process_round(heads, world, in_order=in_order, pause=self.pause)
        if len(rulings) < len(items) and memory.settings.fair_sharing is not None:
            ruled = {one.decision.workload for one in rulings}
            for item in items:
                item.waited += item.fact.key not in ruled
        if memory.places.returning:
            end_turns(memory, rulings)
        self.told += settle(memory, rulings)
        self.close()
        wake_waiting(memory)

    def close(self) -> None:
        """Make a round of what was told."""
        if self.told:
            self.rounds.append(tuple(self.told))
            self.told = []


def _cycle(memory: Memory, run: _Run, *, finished: bool) -> Cycle:
    run.close()
    return Cycle(
        number=memory.cycles,
        now=memory.clock,
        rounds=tuple(run.rounds),
        judged=run.judged,
        finished=finished,
        wake_at=_wake_at(memory),
    )


def _wake_at(memory: Memory) -> float | None:
    """Return the earliest time at which a decision may change without any event; None for never."""
    held, charges, turns = memory.aside.held, memory.ledger.charges, memory.ledger.turns
    timer = memory.timers.next(lambda key: key in held or key in charges)
    times = [timer] if timer is not None and (memory.items or held) else []
    if memory.places.passes and (due_at := next_pass(memory)) < inf:
        times.append(due_at)
    if turns is not None and turns.next_at is not None:
        times.append(turns.next_at)
    credited = memory.credits.next_at() if memory.credits.any and memory.items else None
    if credited is not None:
        times.append(credited)
    return min(times, default=None)


def _announce(memory: Memory) -> list[Decision]:
    """Return the reasons of workloads that no round will decide on, each once.

    These are held workloads and those in inactive ClusterQueues.
    """
    told: list[Decision] = []
    for key in memory.aside.untold:
        item = memory.items.get(key)
        if key in memory.aside.held:
            told.append(memory.aside.held[key].wait)
        elif item is not None and not memory.objects.is_active(item.peers.queue):
            told.append(suspended(item))
    memory.aside.untold.clear()
    return told
