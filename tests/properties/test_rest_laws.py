"""Laws of rest: without news everything comes to an end, and nothing is left behind."""

from functools import partial

import pytest

from queueing.testing.happenings import play
from queueing.testing.living import LivingCluster
from queueing.testing.random_events import GENTLE, Life
from tests.properties.profiles import QUEUEING, Law, hold, hold_at_length


def comes_to_rest(life: Life, budget: int | None = None) -> None:
    cluster = LivingCluster(life.facts, life.settings)
    for step in life.steps:
        play(cluster, step)
    cluster.rest(budget)
    cluster.engine.check()


def all_that_ended_leaves_nothing(life: Life) -> None:
    cluster = LivingCluster(life.facts, life.settings)
    for step in life.steps:
        play(cluster, step)
    cluster.rest()
    while running := cluster.running():
        for key in running:
            cluster.finish(key)
        cluster.rest()
    cluster.engine.check()
    memory = cluster.engine._memory
    assert not memory.ledger.charges
    # Who waits in a stopped queue may still claim, but nothing that anybody holds.
    assert not any(claim.victims for claim in memory.claims)
    for queue in cluster.queues():
        view = cluster.engine.cluster_queue(queue.name)
        assert view is not None
        assert not any(one.total for one in view.reservation.values())


def hearing_everything_again_changes_nothing(life: Life) -> None:
    cluster = LivingCluster(life.facts, life.settings)
    for step in life.steps:
        play(cluster, step)
    cluster.rest()
    cluster.engine.changed()
    for fact in cluster.facts():
        cluster.engine.observe(fact)
    cycle = cluster.engine.cycle(cluster.now)
    assert (cycle.rounds, cycle.judged, cycle.finished) == ((), 0, True)
    told = cluster.engine.changed()
    assert (told.cluster_queues, told.local_queues, told.cohorts) == ((), (), ())


def nobody_is_preempted_twice_for_the_same_head(life: Life) -> None:
    cluster = LivingCluster(life.facts, life.settings)
    for step in life.steps:
        play(cluster, step)
        cluster.preemptions.clear()
        cluster.rest()
        pairs = [(one.uid, one.preemptor_uid) for one in cluster.preemptions]
        assert len(pairs) == len(set(pairs))


LAWS = [
    pytest.param(comes_to_rest, id="comes to rest"),
    pytest.param(partial(comes_to_rest, budget=2), id="comes to rest, two heads at a time"),
    pytest.param(all_that_ended_leaves_nothing, id="nothing is left"),
    pytest.param(hearing_everything_again_changes_nothing, id="nothing new in the same facts"),
    pytest.param(nobody_is_preempted_twice_for_the_same_head, id="nobody is preempted twice"),
]


@pytest.mark.parametrize("mode", QUEUEING)
@pytest.mark.parametrize("law", LAWS)
def test_a_cluster_left_alone(law: Law, mode: str) -> None:
    hold(law, mode, GENTLE)


@pytest.mark.slow
@pytest.mark.parametrize("mode", QUEUEING)
@pytest.mark.parametrize("law", LAWS)
def test_a_cluster_left_alone_at_length(law: Law, mode: str) -> None:
    hold_at_length(law, mode, GENTLE)
