"""Laws of what is only remembered: looking at everybody again decides as a new engine does.

Who is known to wait, on which shelf and for which news is what a living engine has beyond the
objects, who waits for whom to leave, and who preempted whom. It spares work. So an engine that
forgets it decides, decision for decision, what a new one does that is told of claims and feuds: at
every moment, also while others stand. Claims are read from the objects, too, and nearly always
those tell all of them.
"""

from collections.abc import Callable

import pytest

from queueing.state.cycle.beginning import take_credits
from queueing.state.memory.memory import Memory
from queueing.testing.happenings import play
from queueing.testing.living import LivingCluster
from queueing.testing.random_events import Life
from tests.properties.profiles import QUEUEING, Law, hold, hold_at_length
from tests.properties.test_contended_laws import contended
from tests.properties.test_rebuild_laws import (
    Done,
    come_to_an_end,
    done_in,
    is_known,
    rebuilt,
    rebuilt_with_claims,
)
from tests.properties.test_rich_laws import rich

EVERY = 3
"""Steps between two moments at which everybody is looked at again."""


def a_second_look_decides_what_a_new_engine_does(life: Life) -> None:
    _compare(life, rebuilt_with_claims)


def statuses_tell_who_waits_for_whom(life: Life) -> None:
    """The same for a new engine that reads claims from statuses: so in most lives, not in all."""
    _compare(life, rebuilt)


def _compare(life: Life, new: Callable[[LivingCluster], list[Done]]) -> None:
    cluster = LivingCluster.of(life)
    for at, step in enumerate(life.steps):
        play(cluster, step)
        cluster.answer()
        if at % EVERY == EVERY - 1 and is_known(cluster):
            memory = cluster.engine._memory
            memory.clock = max(memory.clock, cluster.now)
            take_credits(memory)  # balances that bend weights anew end feuds: so told, not before
            want = new(cluster)
            look_again(memory)
            cycle = cluster.engine.cycle(cluster.now)
            assert done_in(cycle) == want
            cluster.write(cycle)
        come_to_an_end(cluster)


def look_again(memory: Memory) -> None:
    """Let everybody who waits be judged again, as after news; who stands goes on until then."""
    memory.stepped_down.clear()
    memory.searching.clear()
    for name in sorted(memory.queues):
        for peers in list(memory.queues[name].waiting):
            memory.wake_peers(peers)


LAWS = [pytest.param(a_second_look_decides_what_a_new_engine_does, id="a second look")]


@pytest.mark.parametrize("mode", QUEUEING)
@pytest.mark.parametrize("law", LAWS)
def test_second_looks(law: Law, mode: str) -> None:
    hold(law, mode)


@pytest.mark.parametrize("mode", QUEUEING)
def test_second_looks_in_deep_cohorts_and_where_time_counts(mode: str) -> None:
    for life in (contended(8, mode), rich(8, mode), rich(39, mode)):
        a_second_look_decides_what_a_new_engine_does(life)
        statuses_tell_who_waits_for_whom(life)


@pytest.mark.parametrize("mode", QUEUEING)
def test_claims_are_read_in_most_lives(mode: str) -> None:
    hold(statuses_tell_who_waits_for_whom, mode)


@pytest.mark.slow
@pytest.mark.parametrize("mode", QUEUEING)
@pytest.mark.parametrize("law", LAWS)
def test_second_looks_at_length(law: Law, mode: str) -> None:
    hold_at_length(law, mode)
    for seed in range(60):
        law(contended(seed, mode))
        law(rich(seed, mode))
