"""Who stays on a shelf could not be helped: the bound on what can be had never says no wrongly."""

import pytest

from queueing.core.decisions import Admit
from queueing.state.memory.memory import Memory
from queueing.state.queues.pending import PendingQueue
from queueing.state.scheduler.reach import Reach
from tests.lives.happenings import play
from tests.lives.living import LivingCluster
from tests.lives.random_events import Life
from tests.properties.profiles import AT_BOTH_LENGTHS, QUEUEING, Hold
from tests.properties.test_preemption_laws import judged_alone


def assert_who_is_out_of_reach_gets_nothing(memory: Memory, queue: PendingQueue) -> None:
    reach = Reach(memory)
    for peers in queue.peers.values():
        item = peers.top()
        if item is not None and reach.missing(peers) is not None:
            ruling = judged_alone(memory, item)
            assert not isinstance(ruling.decision, Admit)
            assert ruling.preemptions == ()


def who_is_out_of_reach_gets_nothing(life: Life) -> None:
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        cluster.cycle()
        memory = cluster.engine._memory
        for name, queue in memory.queues.items():
            known = not memory.edits.reshaped and name in memory.objects.queues
            if known and memory.objects.is_active(name):
                assert_who_is_out_of_reach_gets_nothing(memory, queue)


@AT_BOTH_LENGTHS
@pytest.mark.parametrize("mode", QUEUEING)
def test_who_is_out_of_reach_gets_nothing(hold: Hold, mode: str) -> None:
    hold(who_is_out_of_reach_gets_nothing, mode)
