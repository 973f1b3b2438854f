"""A pool of a cohort, and what credits buy of it."""

from dataclasses import replace
from fractions import Fraction

import pytest

from queueing.core.credits.facts import (
    MICRO,
    CreditGrantFact,
    Member,
)
from queueing.core.credits.prices import Prices
from queueing.core.decisions import Preempt
from queueing.core.facts import PreemptionPolicy
from queueing.core.names import Key, ResourceName, Uid
from queueing.core.settings import FairSharing, Settings
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
from tests.state.credits.rivals import (
    START,
    run,
)
from tests.state.members import LASTING

# Shapes -----------------------------------------------------------------------------------------


def pool(*, weights: tuple[float, float] = (1, 1)) -> SimulatedCluster:
    """Make two queues without quota of their own, and a pool of 4 cores and 4 gpus."""
    fair = FairSharing(strategies=("LessThanOrEqualToFinalShare", "LessThanInitialShare"))
    quotas = {"default": {"cpu": 4000, "gpu": 4}}
    made = SimulatedCluster(
        [cohort("all", quotas=quotas), flavor(), namespace()], settings=Settings(fair_sharing=fair)
    )
    for name, weight in zip("ab", weights, strict=True):
        made.observe(
            cluster_queue(
                name,
                {"default": {"cpu": 0, "gpu": 0}},
                cohort="all",
                preemption=preemption(reclaim=PreemptionPolicy.ANY),
                fair_weight=Fraction(weight),
            )
        )
        made.observe(local_queue(f"team/{name}", name))
    prices = Prices(
        {(None, ResourceName(one)): price for one, price in (("cpu", MICRO), ("gpu", MICRO))}
    )
    made.engine.observe(replace(LASTING, prices=prices))
    made.cycle(START)
    return made


def give(made: SimulatedCluster, name: str, seconds: int) -> None:
    """Give a queue so many seconds of a core."""
    grant = CreditGrantFact(
        name="gift",
        uid=Uid("gift"),
        receiver=Member("ClusterQueue", name),
        amount=seconds * MICRO,
        at=int(START),
    )
    made.engine.observe(grant)


@pytest.mark.parametrize(
    ("credit", "victims"),
    [
        pytest.param(0, [], id="not without credits"),
        pytest.param(10**6, ["team/s0", "team/s1", "team/s2", "team/s3"], id="with credits"),
    ],
)
def test_credits_buy_a_gang_that_is_larger_than_its_share(credit: int, victims: list[str]) -> None:
    made = pool()
    for number in range(4):
        run(made, f"s{number}", "a", 1, at=START)
    if credit:
        give(made, "b", credit)
    made.cycle(START + 1)
    made.observe(workload("gang", {"cpu": 4000}, local_queue="team/b", created=START + 5))
    decided = made.engine.cycle(START + 200).decisions
    assert sorted(one.workload for one in decided if isinstance(one, Preempt)) == victims


def test_credits_help_nobody_whose_weight_is_zero() -> None:
    made = pool(weights=(0, 1))
    give(made, "a", 10**6)
    for name in "ab":
        made.observe(workload(name, {"cpu": 4000}, local_queue=f"team/{name}", created=START + 1))
    made.cycle(START + 10)
    assert made.workloads[Key("team/b")].holds_quota
    assert not made.workloads[Key("team/a")].holds_quota


def test_a_debt_for_one_resource_starves_nobody_of_another() -> None:
    made = pool()
    run(made, "cores", "a", 4, at=START)
    made.cycle(START + 10**5)
    made.observe(workload("gpus", {"gpu": 4}, local_queue="team/a", created=START + 10**5))
    made.cycle(START + 10**5)
    assert made.workloads[Key("team/gpus")].holds_quota
