"""Who is not woken could not be helped: the bound on what can be had never says no wrongly."""

import pytest

from queueing.core.decisions import Admit
from queueing.core.rounds import Judgement, World, judge_round
from queueing.state.cycle.selection import head_of
from queueing.state.cycle.supply import Supply
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item
from queueing.testing.happenings import play
from queueing.testing.living import LivingCluster
from queueing.testing.random_events import Life
from tests.properties.profiles import QUEUEING, hold, hold_at_length


def judged_alone(memory: Memory, item: Item) -> Judgement:
    """Judge one workload on the tree as it stands, and leave the tree as it was."""
    world = World(
        tree=memory.tree,
        rules=memory.objects.rules,
        holders=memory.ledger,
        settings=memory.settings,
    )
    with memory.tree.attempt():
        return judge_round([head_of(memory, item)], world)[0]


def assert_the_hopeless_wait(memory: Memory) -> None:
    for name, queue in memory.queues.items():
        if not memory.objects.is_active(name) or name not in memory.roots:
            continue
        supply = Supply(memory, memory.roots[name])
        for peers in queue.peers.values():
            item = peers.top()
            if item is None or supply.may_cover(peers):
                continue
            judgement = judged_alone(memory, item)
            assert not isinstance(judgement.decision, Admit)
            assert judgement.preemptions == ()


def whoever_cannot_be_covered_is_neither_admitted_nor_preempts(life: Life) -> None:
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        cluster.cycle()
        if not cluster.engine._memory.reshaped:
            assert_the_hopeless_wait(cluster.engine._memory)


@pytest.mark.parametrize("mode", QUEUEING)
def test_whoever_cannot_be_covered_is_neither_admitted_nor_preempts(mode: str) -> None:
    hold(whoever_cannot_be_covered_is_neither_admitted_nor_preempts, mode)


@pytest.mark.slow
@pytest.mark.parametrize("mode", QUEUEING)
def test_whoever_cannot_be_covered_waits_at_length(mode: str) -> None:
    hold_at_length(whoever_cannot_be_covered_is_neither_admitted_nor_preempts, mode)
