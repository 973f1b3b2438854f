"""The laws once more, in lives in which cohorts are deep and everybody borrows."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import product

import pytest

from queueing.core.decisions import PreemptionReason
from queueing.core.quota.node import QuotaNode
from tests.lives.happenings import play
from tests.lives.living import LivingCluster
from tests.lives.random_contention import some_contention
from tests.lives.random_events import Life
from tests.lives.random_worlds import MODES, by_seed
from tests.properties.profiles import QUEUEING, Law, look_until, others_each_time, try_lives
from tests.properties.test_bad_input_laws import a_broken_object_harms_nobody_else
from tests.properties.test_promise_laws import (
    a_promise_is_given_once_and_is_no_usage,
    nobody_is_evicted_twice_for_the_same_head,
)
from tests.properties.test_rebuild_laws import (
    a_budget_changes_the_pace_only,
    a_pause_changes_the_pace_only,
    nobody_waits_whom_a_new_engine_would_admit,
    the_order_of_arrival_is_irrelevant,
)
from tests.properties.test_rest_laws import (
    a_cycle_that_nothing_asked_for_decides_nothing,
    all_that_ended_leaves_nothing,
    comes_to_rest,
    hearing_everything_again_changes_nothing,
)
from tests.properties.test_usage_laws import (
    an_admission_takes_only_what_was_available,
    usage_is_the_sum_of_live_reservations_at_every_node,
)

EVERYWHERE: list[Law] = [
    a_cycle_that_nothing_asked_for_decides_nothing,
    a_broken_object_harms_nobody_else,
    a_budget_changes_the_pace_only,
    a_pause_changes_the_pace_only,
    all_that_ended_leaves_nothing,
    an_admission_takes_only_what_was_available,
    comes_to_rest,
    hearing_everything_again_changes_nothing,
    the_order_of_arrival_is_irrelevant,
    usage_is_the_sum_of_live_reservations_at_every_node,
]
BUT_KUEUE: list[Law] = [
    a_promise_is_given_once_and_is_no_usage,
    nobody_is_evicted_twice_for_the_same_head,
    nobody_waits_whom_a_new_engine_would_admit,
]
CASES = [
    pytest.param(law, mode, id=f"{law.__name__}, {mode}")
    for laws, modes in ((EVERYWHERE, MODES), (BUT_KUEUE, QUEUEING))
    for law in laws
    for mode in modes
]
FEW = CASES[::4]
MANY = 26


def contended(seed: int, mode: str) -> Life:
    """Return the life of a number."""
    return some_contention(by_seed(seed), modes=[mode])


@pytest.mark.parametrize(("law", "mode"), FEW)
def test_laws_hold_in_deep_cohorts(law: Law, mode: str) -> None:
    try_lives(law, partial(contended, mode=mode), mode, [1])


BROKEN_ONCE = [
    pytest.param(
        a_budget_changes_the_pace_only, "fair sharing", 3237023724, id="others hear of a cut round"
    ),
    pytest.param(
        a_pause_changes_the_pace_only,
        "classical",
        20,
        id="who waits for a time keeps no cycle open",
    ),
    pytest.param(
        hearing_everything_again_changes_nothing,
        "classical",
        1217654300,
        id="nothing rests while it is not known what became of a write",
    ),
    pytest.param(
        an_admission_takes_only_what_was_available,
        "as Kueue",
        1414264979,
        id="whom a cycle admits, it has leave",
    ),
    pytest.param(
        nobody_is_evicted_twice_for_the_same_head,
        "classical",
        9000240,
        id="an eviction that was not written has earlier ones forgotten",
    ),
    *(
        pytest.param(nobody_waits_whom_a_new_engine_would_admit, mode, seed, id=words)
        for mode, seed, words in (
            ("fair sharing", 2, "another became the head, and its promise kept quota from that"),
            ("classical", 3957, "who is set aside held up another"),
            ("fair sharing", 5002, "who was kept off hears of an admission"),
            ("fair sharing", 31000020, "who gets nothing held up others"),
            ("classical", 240747638, "each of three takes the place of the next"),
            ("classical", 77001081, "there are two sets of victims"),
            ("classical", 85002047, "two keep off a third by turns"),
            ("fair sharing", 3517784677, "a victim that left gave back more than it was promised"),
        )
    ),
]
"""Lives in which a law once did not hold."""


@pytest.mark.parametrize(("law", "mode", "seed"), BROKEN_ONCE)
def test_lives_in_deep_cohorts_that_broke_a_law_once(law: Law, mode: str, seed: int) -> None:
    law(contended(seed, mode))


@pytest.mark.slow
@pytest.mark.parametrize(("law", "mode"), CASES)
def test_laws_hold_in_deep_cohorts_at_length(law: Law, mode: str) -> None:
    try_lives(law, partial(contended, mode=mode), mode, others_each_time(MANY))


def test_contended_lives_reach_what_other_lives_seldom_do() -> None:
    elsewhere = {PreemptionReason.FLAVOR_MIGRATION, PreemptionReason.MOVED}  # variants, places
    wanted = {str(one): 1 for one in set(PreemptionReason) - elsewhere}
    wanted |= {"admitted three levels deep": 21, "borrowed by a cohort": 101}
    lives = product(range(5), MODES)
    look_until(wanted, (_reached(contended(seed, mode)) for seed, mode in lives))


def _reached(life: Life) -> Counter[str]:
    seen: Counter[str] = Counter()
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        inner = [node for path in _paths(cluster).values() for node in path[:-1]]
        seen["borrowed by a cohort"] += any(
            node.parent is not None and node.borrows(node.cells) for node in inner
        )
    paths = _paths(cluster)
    for fact in cluster.workloads.values():
        if fact.admission is not None:
            path = paths.get(fact.admission.cluster_queue, ())
            seen["admitted three levels deep"] += len(path) > 2
    seen.update(str(preempt.reason) for preempt in cluster.preemptions)
    return seen


def _paths(cluster: LivingCluster) -> dict[str, Sequence[QuotaNode]]:
    """Return the cohorts above each queue, its own first."""
    tree = cluster.engine._memory.tree
    names = [queue.name for queue in cluster.queues() if tree.has_queue(queue.name)]
    return {name: list(tree.queue(name).ancestors()) for name in names}
