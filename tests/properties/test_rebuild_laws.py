"""Laws of memory: what the engine carries from cycle to cycle changes nothing that it decides."""

from collections.abc import Collection
from copy import deepcopy
from random import Random

import pytest

from queueing.core.decisions import Admit, Cycle, Decision, Preempt, Wait
from queueing.core.names import QueueName, Uid
from queueing.state.cycle.beginning import take_credits, take_turns
from queueing.state.cycle.wakes import wake_waiting
from queueing.state.engine import Engine
from queueing.state.memory.feuds import Feuds
from queueing.state.memory.memory import Memory
from queueing.testing.happenings import play
from queueing.testing.living import LivingCluster
from queueing.testing.random_events import Life
from queueing.testing.random_worlds import MODES
from tests.properties.profiles import QUEUEING, Law, hold, hold_at_length, seeded

Done = Admit | Preempt
PORTIONS_MAX = 500


def done_in(cycle: Cycle) -> list[Done]:
    """Return what a cycle does: admissions, and evictions that are not on their way already."""
    return [
        one
        for one in cycle.decisions
        if isinstance(one, Admit) or (isinstance(one, Preempt) and not one.already_evicted)
    ]


def rebuilt(cluster: LivingCluster, spared: Collection[Uid] = ()) -> list[Done]:
    """Return what an engine would do now that is told what is stored, and who preempted whom.

    Whom somebody preempted before is not stored: it is carried over, and all else follows from the
    facts, also who waits for whose leaving. Nobody may preempt those who are `spared`.
    """
    engine = _anew(cluster)
    _spare(engine._memory, spared)
    return done_in(engine.cycle(cluster.now))


def rebuilt_with_claims(cluster: LivingCluster) -> list[Done]:
    """Return what an engine would do now that is told, too, who waits for whose leaving."""
    engine = _anew(cluster)
    old, new = cluster.engine._memory, engine._memory
    for marked in list(new.claims):
        new.claims.drop(marked.owner)
    for claim in old.claims:
        new.claims.put(claim.owner, claim.queue, claim.victims)
    new.standing = dict(old.standing)
    return done_in(engine.cycle(cluster.now))


def _anew(cluster: LivingCluster) -> Engine:
    old = cluster.engine._memory
    old.clock = max(old.clock, cluster.now)
    take_turns(old)  # statuses store usage histories as of the last look at them
    wake_waiting(old)  # a tree that changed from outside forgets who preempted whom
    engine = cluster.successor()
    new = engine._memory
    new.clock = max(new.clock, cluster.now)
    take_credits(new)  # weights that are bent for the first time are no news, nor are budgets
    wake_waiting(new)  # works out the trees
    names = {root.path(): root for root in new.roots.values()}
    for root, feuds in old.feuds.items():
        if root.path() in names:
            new.feuds[names[root.path()]] = deepcopy(feuds)
    return engine


def _spare(memory: Memory, uids: Collection[Uid]) -> None:
    """Keep everybody who waits from preempting some."""
    for item in memory.items.values():
        root = None if item.peers is None else memory.roots.get(item.peers.queue)
        if root is not None:
            feuds = memory.feuds.setdefault(root, Feuds())
            for uid in uids:
                feuds.note(item.fact.uid, uid)


def is_known(cluster: LivingCluster) -> bool:
    """Say whether the engine knows all that is stored, and holds nobody back after refusals."""
    return not cluster.untold and not cluster.unanswered and not cluster.seen["Admit Refused"]


def come_to_an_end(cluster: LivingCluster) -> None:
    """Run cycles, each of which hears what the last one did, while they do anything."""
    while done_in(cluster.cycle()):
        cluster.answer()


def nothing_is_left_to_admit_after_a_cycle(life: Life) -> None:
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        cluster.answer()
        come_to_an_end(cluster)
        if is_known(cluster):
            left = [one for one in rebuilt(cluster) if isinstance(one, Admit)]
            assert left == []


def a_finished_cycle_leaves_nobody_to_the_next(life: Life) -> None:
    """So each single cycle, also one that did something.

    Whom it admits may be preempted from the next cycle on, when the admission is written: by that
    there may be room for others then.
    """
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        cluster.answer()
        while True:
            cycle = cluster.cycle()
            assert cycle.finished
            is_sure = not cluster.unanswered
            cluster.answer()
            if is_sure and is_known(cluster):
                admitted = [one.uid for one in cycle.decisions if isinstance(one, Admit)]
                left = [one for one in rebuilt(cluster, admitted) if isinstance(one, Admit)]
                assert left == []
            if not done_in(cycle):
                break


def a_rebuilt_engine_decides_the_same(life: Life) -> None:
    _decides_the_same(life, also_while_others_stand=False)


def a_rebuilt_engine_decides_the_same_while_others_stand(life: Life) -> None:
    """Not so in every life: see the decision on what a new leader knows of claims."""
    _decides_the_same(life, also_while_others_stand=True)


def _decides_the_same(life: Life, *, also_while_others_stand: bool) -> None:
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        cluster.answer()
        want = rebuilt(cluster)
        stood = bool(cluster.engine._memory.standing)
        cycle = cluster.engine.cycle(cluster.now)
        # Whoever stands judges anew in a new engine, and may find other victims that came since;
        # the old one lets those leave that it has. What is decided in the end has its law above.
        if is_known(cluster) and (
            also_while_others_stand or not (stood or cluster.engine._memory.standing)
        ):
            assert done_in(cycle) == want
        cluster.write(cycle)
        come_to_an_end(cluster)


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
    cluster = LivingCluster.of(life)
    for at, step in enumerate(life.steps):
        play(cluster, step)
        whole, cut = (cluster.successor() for _ in range(2))
        want = done_in(whole.cycle(cluster.now))
        got: list[Done] = []
        for _ in range(PORTIONS_MAX):
            cycle = cut.cycle(cluster.now, 1 + at % 4)
            got += done_in(cycle)
            if cycle.finished:
                break
        else:
            raise AssertionError(f"no end after {PORTIONS_MAX} portions")
        for root in cut._memory.members.values():
            names = set(root)
            assert [one for one in got if _preemptors_queue(one) in names] == [
                one for one in want if _preemptors_queue(one) in names
            ]


def _preemptors_queue(done: Done) -> QueueName:
    return done.cluster_queue if isinstance(done, Admit) else done.preemptor_queue


LAWS = [
    pytest.param(nothing_is_left_to_admit_after_a_cycle, id="nothing is left to admit"),
    pytest.param(a_finished_cycle_leaves_nobody_to_the_next, id="nobody is left to the next cycle"),
    pytest.param(a_rebuilt_engine_decides_the_same, id="a rebuilt engine decides the same"),
]
EVERYWHERE = [
    pytest.param(the_order_of_arrival_is_irrelevant, id="the order of arrival is irrelevant"),
    pytest.param(a_budget_changes_the_pace_only, id="a budget changes the pace only"),
]


@pytest.mark.parametrize("mode", QUEUEING)
@pytest.mark.parametrize("law", LAWS)
def test_memory(law: Law, mode: str) -> None:
    hold(law, mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("law", EVERYWHERE)
def test_facts(law: Law, mode: str) -> None:
    hold(law, mode)


BROKEN_ONCE = {
    "classical": (10023, 10113, 10270, 18652, 50165, 50515, 200259),
    "fair sharing": (10405, 10654, 10735, 11608, 51265, 200493, 700775),
    "taking turns": (10136, 11566, 11608, 51178),
}
"""Lives in which an engine once decided otherwise than a new one, or did not come to an end."""


@pytest.mark.parametrize("mode", QUEUEING)
def test_lives_that_broke_a_law_once(mode: str) -> None:
    for seed in BROKEN_ONCE[mode]:
        a_rebuilt_engine_decides_the_same(seeded(seed, mode))
        nothing_is_left_to_admit_after_a_cycle(seeded(seed, mode))


BROKEN_WHILE_OTHERS_STOOD = {
    "classical": (93, 227, 400024, 400147),
    "fair sharing": (59, 227, 400024, 400429),
    "taking turns": (400387,),
}
"""Lives in which one engine knew of somebody who waits for victims what the other did not."""


@pytest.mark.parametrize("mode", QUEUEING)
def test_others_may_stand_in_most_lives(mode: str) -> None:
    hold(a_rebuilt_engine_decides_the_same_while_others_stand, mode)


@pytest.mark.parametrize("mode", QUEUEING)
def test_lives_that_broke_a_law_while_others_stood(mode: str) -> None:
    for seed in BROKEN_WHILE_OTHERS_STOOD[mode]:
        a_rebuilt_engine_decides_the_same_while_others_stand(seeded(seed, mode))


@pytest.mark.slow
@pytest.mark.parametrize("mode", QUEUEING)
@pytest.mark.parametrize("law", LAWS)
def test_memory_at_length(law: Law, mode: str) -> None:
    hold_at_length(law, mode)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("law", EVERYWHERE)
def test_facts_at_length(law: Law, mode: str) -> None:
    hold_at_length(law, mode)
