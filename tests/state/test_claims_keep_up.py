"""What was promised to a preemptor that waits for its victims, while others come and go."""

from dataclasses import replace

import pytest

from queueing.core.facts import ClusterQueueFact, PreemptionPolicy
from queueing.core.flavor_quotas import FlavorPolicy, Fungibility
from queueing.core.names import Key
from queueing.testing.builders import cluster_queue, cohort, preemption, workload
from queueing.testing.obedient import ObedientCluster
from queueing.testing.worlds import world

LOWER = PreemptionPolicy.LOWER_PRIORITY
RATHER_PREEMPTS = Fungibility(
    when_can_borrow=FlavorPolicy.TRY_NEXT_FLAVOR, when_can_preempt=FlavorPolicy.MAY_STOP_SEARCH
)


def test_a_preemptor_takes_another_flavor_that_gets_free_before_its_victims_are_gone() -> None:
    queue = cluster_queue(
        quotas={"spot": {"cpu": 5}, "default": {"cpu": 6}}, preemption=preemption(within=LOWER)
    )
    cluster = ObedientCluster(world(queue))
    cluster.observe(workload("on-spot", {"cpu": 4}, priority=3))
    cluster.cycle()
    cluster.observe(workload("victim", {"cpu": 6}))
    cluster.cycle()
    cluster.observe(workload("preemptor", {"cpu": 2}, priority=1))
    cluster.cycle()
    assert cluster.draining() == ["team/victim"]
    cluster.finish(Key("team/on-spot"))
    cluster.cycle()
    assert "team/preemptor" in cluster.running()


def test_an_owner_that_may_not_reclaim_waits_for_a_borrower_that_was_promised_its_quota() -> None:
    mine = cluster_queue(
        "mine", {"spot": {"cpu": 6}}, cohort="all", preemption=preemption(within=LOWER)
    )
    other = cluster_queue("other", {"spot": {"cpu": 3}}, cohort="all")
    cluster = ObedientCluster(world(cohort("all"), cluster_queues=[mine, other]))
    for name, amount in (("first", 2), ("second", 2), ("third", 2)):
        cluster.observe(workload(name, {"cpu": amount}, local_queue="team/mine"))
        cluster.cycle()
    cluster.observe(workload("large", {"cpu": 5}, local_queue="team/mine", priority=1))
    cluster.cycle()
    assert cluster.draining() == ["team/first"]
    cluster.observe(workload("owner", {"cpu": 3}, local_queue="team/other", priority=2))
    cluster.cycle()
    assert cluster.draining() == ["team/first"]
    cluster.drain(Key("team/first"))
    cluster.cycle()
    assert cluster.running() == ["team/large", "team/second", "team/third"]


def waiting_for_a_victim(*flavors: str) -> ObedientCluster:
    """Return a cluster in which a preemptor waits for a victim on the first of some flavors.

    Up to two more may be used there, and its victim is enough still; but then it has to borrow.
    """
    mine = cluster_queue(
        "mine",
        {flavor: {"cpu": 6} for flavor in flavors},
        cohort="all",
        preemption=preemption(within=LOWER),
        fungibility=RATHER_PREEMPTS,
    )
    other = cluster_queue("other", {"spot": {"cpu": 2}}, cohort="all")
    cluster = ObedientCluster(world(cohort("all"), cluster_queues=[mine, other]))
    cluster.observe(workload("victim", {"cpu": 3}, local_queue="team/mine"))
    cluster.cycle()
    cluster.observe(workload("preemptor", {"cpu": 6}, local_queue="team/mine", priority=2))
    cluster.cycle()
    assert cluster.draining() == ["team/victim"]
    return cluster


def test_a_preemptor_keeps_to_the_flavor_of_its_victims_when_another_was_faster() -> None:
    cluster = waiting_for_a_victim("spot", "default")
    cluster.observe(workload("faster", {"cpu": 2}, local_queue="team/mine", priority=3))
    cluster.cycle()
    assert cluster.running() == ["team/faster"]
    cluster.drain(Key("team/victim"))
    cluster.cycle()
    admission = cluster.workloads[Key("team/preemptor")].admission
    assert admission is not None
    assert admission.pod_sets[0].flavors == {"cpu": "spot"}


@pytest.mark.parametrize("flavors", [["spot"], ["spot", "default"]], ids=["one", "two"])
def test_a_preemptor_is_not_judged_again_for_every_admission(flavors: list[str]) -> None:
    cluster = waiting_for_a_victim(*flavors)
    for name in ("one", "two"):
        cluster.observe(workload(name, {"cpu": 1}, local_queue="team/other", priority=3))
    cycle = cluster.cycle()
    assert cluster.running() == ["team/one", "team/two"]
    assert cycle.judged == 2


def test_a_preemptor_that_its_queue_lets_in_no_more_waits_for_no_victim() -> None:
    """So others may have what it waited for, and a new leader does not admit it."""
    cluster = waiting_for_a_victim("spot")
    victim = Key("team/victim")
    assert cluster.engine.is_claimed(victim)
    found = cluster.objects["ClusterQueue", "mine"]
    assert isinstance(found, ClusterQueueFact)
    cluster.observe(replace(found, namespace_selector=None))
    cluster.cycle()
    assert not cluster.engine.is_claimed(victim)
    cluster.observe(workload("other", {"cpu": 5}, local_queue="team/other"))
    cluster.cycle()
    assert cluster.running() == ["team/other"]
    cluster.finish(Key("team/other"))
    cluster.restart()
    cluster.observe(workload("another", {"cpu": 1}, local_queue="team/other"))
    cluster.drain(victim)
    cluster.rest()
    assert cluster.running() == ["team/another"]
