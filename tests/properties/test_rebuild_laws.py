"""Laws of memory: what the engine carries from cycle to cycle changes nothing that it decides."""

from collections.abc import Callable
from copy import deepcopy
from random import Random

import pytest

from queueing.core.decisions import Admit, Cycle, Decision, Preempt, Wait
from queueing.core.names import QueueName
from queueing.state.engine import Engine
from queueing.state.intake.joining import isolate
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item
from queueing.state.scheduler.balances import take_turns
from queueing.state.scheduler.schedule import begin
from queueing.state.scheduler.wake import wake_waiting
from tests.lives.happenings import play
from tests.lives.living import LivingCluster
from tests.lives.random_events import GENTLE, Life
from tests.lives.random_worlds import MODES
from tests.properties.profiles import AT_BOTH_LENGTHS, QUEUEING, Hold, Law

Done = Admit | Preempt
PORTIONS_MAX = 4_000
"""In Kueue mode a search that goes in circles is tried 256 times, with up to three pauses each; and
several workloads may have one."""
RESTS_MAX = 60


def done_in(cycle: Cycle) -> list[Done]:
    """Return what a cycle does: admissions, and evictions that are not on their way already."""
    return [
        one
        for one in cycle.decisions
        if isinstance(one, Admit) or (isinstance(one, Preempt) and not one.already_evicted)
    ]


def rebuilt(cluster: LivingCluster) -> Engine:
    """Return an engine that is told what is stored, and what is carried over because it is not.

    That is who preempted whom before, and what is promised to whom.
    """
    old = cluster.engine._memory
    old.clock = max(old.clock, cluster.now)
    if old.ledger.turns is not None:  # statuses store usage histories as of the last look at them
        take_turns(old, old.ledger.turns)
    wake_waiting(old)  # a tree that changed from outside forgets who preempted whom
    engine = cluster.successor()
    new = engine._memory
    begin(new, cluster.now)  # weights that are bent, budgets, runtimes that are over: none is news
    wake_waiting(new)  # works out the trees
    new.pairs = deepcopy(old.pairs)
    for holder in old.ledger.promised.values():
        carry_over(old.items[holder.key], new)
        new.ledger.promise(holder)
    return engine


def carry_over(known: Item, new: Memory) -> None:
    """Let an item wait in another memory as it does in its own, apart from its peers."""
    item = new.items[known.fact.key]
    isolate(new, item)
    peers, waits = item.peers, known.peers
    item.wait, peers.wait = known.wait, waits.wait
    new.queues[peers.queue].set_aside(peers, waits.stand)


def is_known(cluster: LivingCluster) -> bool:
    """Say whether the engine knows all that is stored, and holds nobody back after refusals."""
    waits = cluster.untold or cluster.unanswered or cluster.held_back
    writes = cluster.engine._memory.writes
    return not (waits or writes.delays or writes.punished)


def come_to_rest(cluster: LivingCluster) -> None:
    """Let all be decided that can be, and who waits be judged once more: one sweep."""
    swept = False
    for _ in range(RESTS_MAX):
        cluster.answer()
        before = sum(cluster.seen.values())
        cluster.rest()
        if sum(cluster.seen.values()) == before:
            if swept:
                return
            cluster.engine.sweep(len(cluster.workloads))
            swept = True
        cluster.now += 1.0
    raise AssertionError(f"no rest after {RESTS_MAX} rests")


def nobody_waits_whom_a_new_engine_would_admit(life: Life) -> None:
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        come_to_rest(cluster)
        if is_known(cluster):
            cycle = rebuilt(cluster).cycle(cluster.now)
            assert [one for one in cycle.decisions if isinstance(one, Admit)] == []


def the_order_of_arrival_is_irrelevant(life: Life) -> None:
    cluster = LivingCluster.of(life)
    random = Random(len(life.steps))
    for step in life.steps:
        play(cluster, step)
        known = cluster.facts()
        want = cluster.successor(known).cycle(cluster.now)
        random.shuffle(known)
        got = cluster.successor(known).cycle(cluster.now)
        assert _sorted_announcements(got) == _sorted_announcements(want)


def _sorted_announcements(cycle: Cycle) -> tuple[object, ...]:
    """Return what a cycle decided; who is in no queue is told of in any order."""
    told = [one for one in cycle.decisions if _is_told(one)]
    judged = [one for one in cycle.decisions if not _is_told(one)]
    return sorted(map(str, told)), judged, cycle.finished, cycle.wake_at


def _is_told(decision: Decision) -> bool:
    return isinstance(decision, Wait) and decision.mode is None


def a_budget_changes_the_pace_only(life: Life) -> None:
    """Trees are independent: only the order between them may differ, and how often one waits."""
    _cut_as_whole(life, lambda engine, now, at: engine.cycle(now, 1 + at % 4))


def a_pause_changes_the_pace_only(life: Life) -> None:
    """So it is where an engine pauses after some of the heads."""
    _cut_as_whole(life, _paused)


def _paused(engine: Engine, now: float, at: int) -> Cycle:
    asked = iter(range(10**6))
    return engine.cycle(now, None, lambda: next(asked) % (1 + at % 3) == 0)


def _cut_as_whole(life: Life, portion: Callable[[Engine, float, int], Cycle]) -> None:
    cluster = LivingCluster.of(life)
    for at, step in enumerate(life.steps):
        play(cluster, step)
        whole, cut = (cluster.successor() for _ in range(2))
        want = done_in(whole.cycle(cluster.now))
        got: list[Done] = []
        for _ in range(PORTIONS_MAX):
            cycle = portion(cut, cluster.now, at)
            got += done_in(cycle)
            if cycle.finished:
                break
        else:
            raise AssertionError(f"no end after {PORTIONS_MAX} portions")
        memory = cut._memory
        for root in {memory.root_of(name): None for name in memory.objects.queues}:
            names = set() if root is None else set(memory.queues_of(root))
            assert [one for one in got if _preemptors_queue(one) in names] == [
                one for one in want if _preemptors_queue(one) in names
            ]


def _preemptors_queue(done: Done) -> QueueName:
    return done.cluster_queue if isinstance(done, Admit) else done.preemptor_queue


LAWS = [pytest.param(nobody_waits_whom_a_new_engine_would_admit, id="nobody waits at rest")]
EVERYWHERE = [
    pytest.param(the_order_of_arrival_is_irrelevant, id="the order of arrival is irrelevant"),
    pytest.param(a_budget_changes_the_pace_only, id="a budget changes the pace only"),
    pytest.param(a_pause_changes_the_pace_only, id="a pause changes the pace only"),
]


@AT_BOTH_LENGTHS
@pytest.mark.parametrize("mode", QUEUEING)
@pytest.mark.parametrize("law", LAWS)
def test_memory(hold: Hold, law: Law, mode: str) -> None:
    hold(law, mode, GENTLE)


@AT_BOTH_LENGTHS
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("law", EVERYWHERE)
def test_facts(hold: Hold, law: Law, mode: str) -> None:
    hold(law, mode)
