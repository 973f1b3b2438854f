"""Laws that hold with the differences from Kueue off, too.

Its rules promise less: a head whose preemptions are in flight blocks its queue, and whom its wake
list forgets waits on. So there is no completeness; and who waits where, and how far he came, is
part of what an engine knows, and is carried over to the new one that has to decide the same.
Usage, victim sets, bad input and long lives have their laws in all modes beside the others.
"""

import pytest

from queueing.state.intake import isolate
from queueing.state.memory import Memory
from queueing.state.stands import Stand
from queueing.state.wakes import wake_waiting
from queueing.testing.happenings import play
from queueing.testing.living import LivingCluster, fresh
from queueing.testing.random_events import EVERYTHING, GENTLE, Life, Table
from tests.properties.profiles import Law, hold, hold_at_length, seeded
from tests.properties.test_rebuild_laws import (
    a_budget_changes_the_pace_only,
    come_to_an_end,
    done_in,
    is_known,
    the_order_of_arrival_is_irrelevant,
)
from tests.properties.test_rest_laws import (
    all_that_ended_leaves_nothing,
    comes_to_rest,
    hearing_everything_again_changes_nothing,
)

KUEUE = "as Kueue"


def who_waits_is_all_that_a_new_engine_must_know(life: Life) -> None:
    cluster = LivingCluster(life.facts, life.settings)
    for step in life.steps:
        play(cluster, step)
        cluster.answer()
        old = cluster.engine._memory
        wake_waiting(old)
        engine = fresh(cluster.facts(), cluster.settings)
        wake_waiting(engine._memory)
        carry_over(old, engine._memory)
        want = done_in(engine.cycle(cluster.now))
        cycle = cluster.engine.cycle(cluster.now)
        if is_known(cluster):
            assert done_in(cycle) == want
        cluster.write(cycle)
        come_to_an_end(cluster)


def carry_over(old: Memory, new: Memory) -> None:
    """Let everybody who waits in one memory wait in the same way in another."""
    new.releases.update(old.releases)
    for key, known in old.items.items():
        item = new.items[key]
        peers = known.peers
        if peers is not None and peers.token == ("alone", known.fact.uid):
            isolate(item, sticky=item.order != known.order)
        item.progress, item.progress_at = known.progress, known.progress_at
        item.preempting, item.tries = known.preempting, known.tries
        if peers is not None and item.peers is not None and peers.stand is not Stand.READY:
            item.peers.wait = peers.wait
            item.peers.queue.settle(item.peers, peers.stand)
    new.standing.update(old.standing)


LAWS = [
    pytest.param(who_waits_is_all_that_a_new_engine_must_know, EVERYTHING, id="a rebuilt engine"),
    pytest.param(the_order_of_arrival_is_irrelevant, EVERYTHING, id="the order of arrival"),
    pytest.param(a_budget_changes_the_pace_only, EVERYTHING, id="a budget changes the pace only"),
    pytest.param(comes_to_rest, GENTLE, id="comes to rest"),
    pytest.param(all_that_ended_leaves_nothing, GENTLE, id="nothing is left"),
    pytest.param(hearing_everything_again_changes_nothing, GENTLE, id="nothing new"),
]


@pytest.mark.parametrize(("law", "rare"), LAWS)
def test_as_kueue(law: Law, rare: Table) -> None:
    hold(law, KUEUE, rare)


def test_a_life_that_broke_a_law_once() -> None:
    who_waits_is_all_that_a_new_engine_must_know(seeded(70080, KUEUE))


@pytest.mark.slow
@pytest.mark.parametrize(("law", "rare"), LAWS)
def test_as_kueue_at_length(law: Law, rare: Table) -> None:
    hold_at_length(law, KUEUE, rare)
