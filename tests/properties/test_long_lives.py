"""One life of many steps: preemption comes to an end after each of them, and all kinds occur."""

from collections import Counter

import pytest

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import Gone, Kind
from queueing.core.settings import Compatibility
from queueing.testing.invariants import check_invariants
from tests.lives.happenings import play
from tests.lives.living import LivingCluster
from tests.lives.random_events import EVERYTHING, some_step
from tests.lives.random_worlds import MODES, by_seed
from tests.properties.profiles import QUEUEING, seeded
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


def test_random_lives_reach_what_the_laws_are_about() -> None:
    seen: Counter[str] = Counter()
    for mode in MODES:
        for seed in range(120):
            life = seeded(seed, mode)
            cluster = LivingCluster.of(life)
            for step in life.steps:
                play(cluster, step)
            seen.update(cluster.seen)
            seen["as Kueue"] += life.settings.compatibility is Compatibility.KUEUE
            seen["promises"] += len(cluster.engine._memory.ledger.promised)
    elsewhere = {PreemptionReason.FLAVOR_MIGRATION, PreemptionReason.MOVED}  # variants, places
    for reason in set(PreemptionReason) - elsewhere:
        assert seen[f"preempted {reason}"], reason
    for what in ("Admit Refused", "Admit Unknown", "Preempt Refused", "restart", "promises"):
        assert seen[what], what
    assert seen["Preempt Done"] > 40
    assert seen["admitted with borrowing"] > 100
    assert seen["admitted with checks"] > 40
