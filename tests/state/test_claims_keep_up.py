"""A preemptor that waits for its victims follows what happens meanwhile."""

from queueing.core.facts import PreemptionPolicy
from queueing.core.names import Key
from queueing.testing.builders import cluster_queue, cohort, preemption, workload
from queueing.testing.obedient import ObedientCluster
from queueing.testing.worlds import world

LOWER = PreemptionPolicy.LOWER_PRIORITY


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


def test_a_preemptor_takes_more_victims_when_another_was_faster() -> None:
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
    cluster.observe(workload("faster", {"cpu": 3}, local_queue="team/other", priority=2))
    cluster.cycle()
    assert "team/faster" in cluster.running()
    assert cluster.draining() == ["team/first", "team/second", "team/third"]
