"""Laws of remedies: each that is told, applied, has the engine admit the workload."""

from functools import partial

import msgspec
import pytest

from queueing.core.decisions import Admit
from queueing.core.names import Key
from queueing.explain import answers
from queueing.explain.model import DECODER
from queueing.explain.text import written
from queueing.testing.invariants import check_invariants
from queueing.testing.trees import picture
from tests.lives.happenings import play
from tests.lives.living import LivingCluster, NeverRestsError
from tests.lives.random_events import GENTLE, Life
from tests.lives.random_worlds import MODES
from tests.properties.profiles import hold, others_each_time, seeded, try_lives

MANY = 50
CYCLES = 12
"""Cycles, with all victims gone after each, within which a remedy must have its effect."""


def at_rest(life: Life) -> LivingCluster | None:
    """Play a life and let it come to rest; None if preemption goes in a circle."""
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
    try:
        cluster.rest()
    except NeverRestsError:
        return None
    return cluster


def is_admitted(cluster: LivingCluster, key: Key) -> bool:
    """Let victims leave between cycles, until a workload gets quota."""
    for _ in range(CYCLES):
        cluster.tell()
        cycle = cluster.engine.cycle(cluster.now)
        admitted = any(isinstance(one, Admit) and one.workload == key for one in cycle.decisions)
        cluster.write(cycle)
        if admitted:
            return True
        for victim in cluster.draining():
            cluster.drain(victim)
    return False


def every_remedy_works(life: Life) -> None:
    """Also: to be asked changes nothing."""
    cluster = at_rest(life)
    if cluster is None:
        return
    engine = cluster.engine
    before = picture(engine.memory.tree)
    told = [
        (key, proposal)
        for key in sorted(engine.pending_keys())
        for proposal in answers.proposals(engine, key)
    ]
    for key in sorted(cluster.workloads):
        answer = answers.workload(engine, key)
        assert answer is not None
        assert DECODER.decode(msgspec.json.encode(answer)) == answer
        assert written(answer)
    for queue in cluster.queues():
        about = answers.cluster_queue(engine, queue.name)
        assert about is not None
        assert written(about)
    assert picture(engine.memory.tree) == before
    check_invariants(engine)
    for key, proposal in told:
        again = at_rest(life)
        assert again is not None
        again.put(proposal.fact)
        assert is_admitted(again, key), (
            f"{key} waits after {proposal.text}: {again.engine.waiting(key)}"
        )


@pytest.mark.parametrize("mode", MODES)
def test_what_is_said_to_help(mode: str) -> None:
    hold(every_remedy_works, mode, GENTLE)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_what_is_said_to_help_at_length(mode: str) -> None:
    life_of = partial(seeded, mode=mode, rare=GENTLE)
    try_lives(every_remedy_works, life_of, mode, others_each_time(MANY))


BROKEN_ONCE = [
    pytest.param("as Kueue", 3154937411, id="a new engine would preempt where the old one rests"),
    pytest.param("as Kueue", 522069770, id="who preempts comes first in its queue"),
    pytest.param("as Kueue", 90129, id="a head that blocks another queue keeps quota from it"),
    pytest.param(
        "fair sharing", 700077, id="who leaves a strict queue lets others have their turn"
    ),
    pytest.param(
        "fair sharing", 2114227477, id="who had got what its victims left goes before nobody"
    ),
    pytest.param(
        "fair sharing", 1324428766, id="nor does it when its queue was stopped since and is resumed"
    ),
    pytest.param(
        "fair sharing", 1150727262, id="whether a new one is evicted in time is for writes to say"
    ),
]
"""Lives in which a remedy once did not help."""


@pytest.mark.parametrize(("mode", "seed"), BROKEN_ONCE)
def test_lives_in_which_a_remedy_once_did_not_help(mode: str, seed: int) -> None:
    every_remedy_works(seeded(seed, mode, GENTLE))
