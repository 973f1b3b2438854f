"""The laws once more, in lives in which anything that somebody may edit is edited."""

from collections import Counter
from random import Random, SystemRandom

import pytest

from queueing.testing.happenings import play
from queueing.testing.living import LivingCluster
from queueing.testing.random_edits import EDITS, some_edits
from queueing.testing.random_events import Event, Life
from queueing.testing.random_worlds import MODES
from tests.properties.profiles import SEEDS, Law
from tests.properties.test_claim_laws import (
    a_new_leader_keeps_the_claims_that_are_marked,
    costs_limits_and_runtimes_leave_nobody_behind,
)
from tests.properties.test_contended_laws import CASES, try_law
from tests.properties.test_rebuild_laws import (
    a_finished_cycle_leaves_nobody_to_the_next,
    a_rebuilt_engine_decides_the_same,
    nothing_is_left_to_admit_after_a_cycle,
)
from tests.properties.test_usage_laws import an_admission_takes_only_what_was_available

FEW = CASES[2::9]
MANY = 40


def edited(seed: int, mode: str) -> Life:
    """Return the life of a number."""
    random = Random(seed)
    return some_edits(lambda options: random.choice(options), modes=[mode])  # noqa: PLW0108 - a generic function must be one


@pytest.mark.parametrize(("law", "mode"), FEW)
def test_laws_hold_while_anything_is_edited(law: Law, mode: str) -> None:
    try_law(law, edited(1, mode), f"1 of {mode}")


BROKEN_ONCE = [
    pytest.param(
        nothing_is_left_to_admit_after_a_cycle,
        "classical",
        3778198291,
        id="whom its queue lets in no more still stood",
    ),
    pytest.param(
        a_finished_cycle_leaves_nobody_to_the_next,
        "taking turns",
        3778198291,
        id="so in a single cycle",
    ),
    pytest.param(
        costs_limits_and_runtimes_leave_nobody_behind,
        "fair sharing",
        3778198303,
        id="who took over a charge was not counted with it",
    ),
    *(
        pytest.param(a_new_leader_keeps_the_claims_that_are_marked, "classical", seed, id=words)
        for seed, words in (
            (879307086, "who may not borrow waits for no victims"),
            (879307465, "nor does one whom a budget bars"),
        )
    ),
    *(
        pytest.param(an_admission_takes_only_what_was_available, mode, seed, id=words)
        for mode, seed, words in (
            ("fair sharing", 1344639234, "nobody saves for whoever holds no quota"),
            ("as Kueue", 2739730601, "so in Kueue mode"),
        )
    ),
    pytest.param(
        a_finished_cycle_leaves_nobody_to_the_next,
        "classical",
        83000023,
        id="who may not borrow in one flavor hears of an admission",
    ),
    pytest.param(
        a_rebuilt_engine_decides_the_same,
        "fair sharing",
        83000033,
        id="who may not borrow keeps no quota from others",
    ),
    pytest.param(
        a_rebuilt_engine_decides_the_same,
        "classical",
        85002020,
        id="fewer pods of it may not borrow, and it hears when they may",
    ),
    pytest.param(
        a_finished_cycle_leaves_nobody_to_the_next,
        "fair sharing",
        1523029084,
        id="one that stands hears of other terms",
    ),
    pytest.param(
        nothing_is_left_to_admit_after_a_cycle,
        "taking turns",
        892580809,
        id="so where LocalQueues take turns",
    ),
    pytest.param(
        a_rebuilt_engine_decides_the_same,
        "taking turns",
        1712258066,
        id="who was kept off hears that pods are ready",
    ),
    pytest.param(
        nothing_is_left_to_admit_after_a_cycle,
        "fair sharing",
        84002028,
        id="victims that share a claim leave as they were chosen, together",
    ),
]
"""Lives in which a law once did not hold."""


@pytest.mark.parametrize(("law", "mode", "seed"), BROKEN_ONCE)
def test_lives_with_edits_that_broke_a_law_once(law: Law, mode: str, seed: int) -> None:
    law(edited(seed, mode))


@pytest.mark.slow
@pytest.mark.parametrize(("law", "mode"), CASES)
def test_laws_hold_while_anything_is_edited_at_length(law: Law, mode: str) -> None:
    first = SystemRandom().randrange(SEEDS)
    for seed in range(first, first + MANY):
        try_law(law, edited(seed, mode), f"{seed} of {mode}")


def test_edits_meet_those_whom_they_concern() -> None:
    """Everything there is to edit is edited, and some of it under those who run or leave."""
    seen: Counter[str] = Counter()
    for mode in MODES:
        for seed in range(15):
            seen.update(_reached(edited(seed, mode)))
    for kind in EDITS:
        assert seen[kind], kind
    assert seen["groups under those who hold quota"]
    assert seen["spare one on the way out"]
    assert seen["portion that leaves some to the next"]


def _reached(life: Life) -> Counter[str]:
    seen: Counter[str] = Counter()
    cluster = LivingCluster.of(life)
    for step in life.steps:
        if isinstance(step, Event):
            leaving, running = cluster.draining(), cluster.running()
            seen[step.kind] += 1
            seen["groups under those who hold quota"] += step.kind == "groups" and bool(running)
            seen["spare one on the way out"] += step.kind == "spare" and bool(leaving)
        play(cluster, step)
        if isinstance(step, Event) and step.kind == "portion":
            left = not cluster.engine.cycle(cluster.now, 0).finished
            seen["portion that leaves some to the next"] += left
    return seen
