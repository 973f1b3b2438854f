"""One life of many steps: preemption comes to an end after each of them, and all kinds occur."""

from collections import Counter
from itertools import product

import pytest

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import Gone, Kind
from queueing.testing.invariants import check_invariants
from tests.lives.happenings import lived, play
from tests.lives.living import LivingCluster
from tests.lives.random_events import EVERYTHING, Life, some_step
from tests.lives.random_worlds import MODES, by_seed
from tests.properties.profiles import QUEUEING, look_until, seeded
from tests.properties.test_promise_laws import Counting

PENDING_MAX = 24
"""More would only wait; a small cluster gets through more steps."""


def tidy(cluster: LivingCluster) -> None:
    """Delete what has ended, and the oldest of too many."""
    for key, fact in sorted(cluster.workloads.items()):
        if fact.is_true("Finished") or len(cluster.workloads) > PENDING_MAX:
            cluster.put(Gone(Kind.WORKLOAD, key))


def live_on(mode: str, steps: int, seed: int) -> None:
    choose = by_seed(seed)
    life = seeded(seed, mode)
    cluster = Counting.of(life)
    for at in range(steps):
        play(cluster, some_step(choose, EVERYTHING))
        if at % 10 == 0:
            tidy(cluster)
            cluster.answer()
            cluster.preemptions.clear()
            cluster.rest()
            check_invariants(cluster.engine)
            cluster.assert_nobody_was_preempted_twice()


@pytest.mark.parametrize("mode", QUEUEING)
def test_preemption_ends_in_hundreds_of_steps(mode: str) -> None:
    live_on(mode, 300, seed=7)


@pytest.mark.slow
@pytest.mark.parametrize("mode", QUEUEING)
def test_preemption_ends_in_ten_thousand_steps(mode: str) -> None:
    for seed in range(10):
        live_on(mode, 1_000, seed)


REACHED = {
    **{
        f"preempted {reason}": 1
        for reason in PreemptionReason
        if reason not in {PreemptionReason.FLAVOR_MIGRATION, PreemptionReason.MOVED}
    },
    "Admit Refused": 1,
    "Admit Unknown": 1,
    "Preempt Refused": 1,
    "restart": 1,
    "promises": 1,
    "Preempt Done": 41,
    "admitted with borrowing": 101,
    "admitted with checks": 41,
}
"""How often it must happen in all lives together. Moves are for lives with variants or places."""
SEEDS = 120


def test_random_lives_reach_what_the_laws_are_about() -> None:
    look_until(REACHED, (_seen(seeded(*one)) for one in product(range(SEEDS), MODES)))


def _seen(life: Life) -> Counter[str]:
    cluster = lived(LivingCluster, life)
    cluster.seen["promises"] += len(cluster.engine._memory.ledger.promised)
    return cluster.seen
