"""The laws once more, in lives in which anything that somebody may edit is edited."""

from collections import Counter
from functools import partial
from itertools import product

import pytest

from tests.lives.happenings import play
from tests.lives.living import LivingCluster
from tests.lives.random_edits import EDITS, some_edits
from tests.lives.random_events import Event, Life
from tests.lives.random_worlds import MODES, by_seed
from tests.properties.profiles import Law, look_until, others_each_time, try_lives
from tests.properties.test_contended_laws import CASES
from tests.properties.test_promise_laws import costs_limits_and_runtimes_leave_nobody_behind
from tests.properties.test_rebuild_laws import (
    a_budget_changes_the_pace_only,
    nobody_waits_whom_a_new_engine_would_admit,
)
from tests.properties.test_rest_laws import a_cycle_that_nothing_asked_for_decides_nothing
from tests.properties.test_usage_laws import an_admission_takes_only_what_was_available

FEW = CASES[2::9]
MANY = 12


def edited(seed: int, mode: str) -> Life:
    """Return the life of a number."""
    return some_edits(by_seed(seed), modes=[mode])


@pytest.mark.parametrize(("law", "mode"), FEW)
def test_laws_hold_while_anything_is_edited(law: Law, mode: str) -> None:
    try_lives(law, partial(edited, mode=mode), mode, [1])


BROKEN_ONCE = [
    pytest.param(
        costs_limits_and_runtimes_leave_nobody_behind,
        "fair sharing",
        3778198303,
        id="who took over a charge was not counted with it",
    ),
    pytest.param(
        a_cycle_that_nothing_asked_for_decides_nothing,
        "fair sharing",
        3181944656,
        id="a queue's ledger closes after a namespace of it was forgotten",
    ),
    pytest.param(
        a_budget_changes_the_pace_only,
        "as Kueue",
        1422642745,
        id="a budget holds what is billed for a shared claim",
    ),
    *(
        pytest.param(an_admission_takes_only_what_was_available, mode, seed, id=words)
        for mode, seed, words in (
            ("fair sharing", 1344639234, "nobody saves for whoever holds no quota"),
            ("as Kueue", 2739730601, "so in Kueue mode"),
        )
    ),
    *(
        pytest.param(nobody_waits_whom_a_new_engine_would_admit, mode, seed, id=words)
        for mode, seed, words in (
            ("classical", 3778198291, "whom its queue lets in no more"),
            ("classical", 83000023, "who may not borrow in one flavor hears of an admission"),
            ("classical", 85002020, "fewer pods of it may not borrow"),
            ("fair sharing", 23, "who must not be judged comes before others only once"),
            ("fair sharing", 1523029084, "others hear of other terms"),
            ("fair sharing", 84002028, "victims that share a claim leave together"),
            ("fair sharing", 2223242389, "whoever came first in a queue keeps no quota any more"),
            ("taking turns", 892580809, "so where LocalQueues take turns"),
            ("taking turns", 1712258066, "who waits hears that pods are ready"),
        )
    ),
]
"""Lives in which a law once did not hold."""


@pytest.mark.parametrize(("law", "mode", "seed"), BROKEN_ONCE)
def test_lives_with_edits_that_broke_a_law_once(law: Law, mode: str, seed: int) -> None:
    law(edited(seed, mode))


@pytest.mark.slow
@pytest.mark.parametrize(("law", "mode"), CASES)
def test_laws_hold_while_anything_is_edited_at_length(law: Law, mode: str) -> None:
    try_lives(law, partial(edited, mode=mode), mode, others_each_time(MANY))


def test_edits_meet_those_whom_they_concern() -> None:
    """Everything there is to edit is edited, and some of it under those who run or leave."""
    some = (
        "groups under those who hold quota",
        "spare one on the way out",
        "portion that leaves some to the next",
    )
    lives = product(range(15), MODES)
    look_until(dict.fromkeys((*EDITS, *some), 1), (_reached(edited(*one)) for one in lives))


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
