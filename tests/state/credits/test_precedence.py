"""While there is room, a round admits one of each queue: bent weights count there, too."""

import pytest

from queueing.core.credits.facts import (
    HOUR,
    MICRO,
    CreditGrantFact,
    CreditPolicyFact,
    Member,
)
from queueing.core.decisions import Admit, Preempt
from queueing.core.facts import Fact, PreemptionPolicy
from queueing.core.names import Uid
from queueing.core.settings import Compatibility, FairSharing, Settings
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    flavor,
    local_queue,
    namespace,
    preemption,
    workload,
)
from tests.state.members import CORE_PRICES

START = 1_000_000.0
POOL, OWN = 32, 2
FAIR = FairSharing(strategies=("LessThanOrEqualToFinalShare", "LessThanInitialShare"))
TERMS = CreditPolicyFact(name="default", prices=CORE_PRICES)
"""A balance of six hours of one's entitlement, here 18 cores, doubles the weight."""


def two_queues() -> list[Fact]:
    """Make a pool, and two queues with a little of their own."""
    found: list[Fact] = [
        flavor(),
        namespace(),
        cohort("all", quotas={"default": {"cpu": POOL * 1000}}),
    ]
    reclaim = preemption(reclaim=PreemptionPolicy.ANY)
    for name in "ab":
        own = {"default": {"cpu": OWN * 1000}}
        found.append(cluster_queue(name, own, cohort="all", preemption=reclaim))
        found.append(local_queue(f"team/{name}", name))
    return found


def filled(settings: Settings, *, hours: int) -> tuple[dict[str, int], int]:
    """Let both want it all at once, after a grant to one; return what each has, and how many were
    preempted on the way."""
    world = SimulatedCluster((*two_queues(), TERMS), settings=settings)
    world.cycle(START)
    grant = CreditGrantFact(
        name="gift",
        uid=Uid("gift"),
        receiver=Member("ClusterQueue", "a"),
        amount=hours * HOUR * 18 * MICRO,
        at=int(START),
    )
    world.engine.observe(grant)
    for number in range(POOL + 2 * OWN):
        for name in "ab":
            made = START + number / 1000
            door = f"team/{name}"
            job = workload(f"{name}-{number}", {"cpu": 1000}, local_queue=door, created=made)
            world.observe(job)
    decisions = world.cycle(START + 600).decisions
    held = dict.fromkeys("ab", 0)
    for one in decisions:
        if isinstance(one, Admit):
            held[str(one.cluster_queue)] += 1
    return held, sum(isinstance(one, Preempt) for one in decisions)


@pytest.mark.parametrize("mode", list(Compatibility))
def test_a_pool_is_filled_by_bent_weights_and_nobody_is_preempted_for_it(
    mode: Compatibility,
) -> None:
    settings = Settings(fair_sharing=FAIR, compatibility=mode)
    held, preempted = filled(settings, hours=12)
    assert preempted == 0
    assert sum(held.values()) == POOL + 2 * OWN
    borrowed = {name: cores - OWN for name, cores in held.items()}
    assert borrowed["a"] / borrowed["b"] == pytest.approx(4, rel=0.2), "two doublings"


@pytest.mark.parametrize("mode", list(Compatibility))
def test_without_balances_queues_get_as_much_as_each_other(mode: Compatibility) -> None:
    held, _ = filled(Settings(fair_sharing=FAIR, compatibility=mode), hours=0)
    assert held["a"] == held["b"]


def test_what_is_within_the_own_quota_does_not_stand_back() -> None:
    held, _ = filled(Settings(fair_sharing=FAIR), hours=1000)
    assert held["b"] >= OWN
