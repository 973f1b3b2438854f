"""A lower priority does not pass equals of a higher one that are getting quota just now."""

from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.testing.builders import cluster_queue, workload
from queueing.testing.obedient import ObedientCluster
from queueing.testing.worlds import world


def job(name: str, cpu: int, priority: int) -> WorkloadFact:
    return workload(name, {"cpu": cpu}, priority=priority, local_queue="team/main")


def cluster_with_movers() -> ObedientCluster:
    """Return a cluster of 10 in which the first of two large ones got 6, and `low` wants the 4."""
    cluster = ObedientCluster(world(cluster_queue("main", {"default": {"cpu": 10}})))
    for one in (job("large-1", 6, 2), job("large-2", 6, 2), job("low", 4, 0)):
        cluster.observe(one)
    return cluster


def test_a_lower_priority_waits_two_seconds_and_the_cycle_says_until_when() -> None:
    cluster = cluster_with_movers()
    cycle = cluster.cycle()
    assert cluster.running() == ["team/large-1"]
    assert cycle.wake_at == cluster.now + 2.0
    cluster.now = cycle.wake_at
    assert cluster.cycle().wake_at is None
    assert cluster.running() == ["team/large-1", "team/low"]


def test_it_waits_no_longer_than_until_all_of_the_higher_priority_have_quota() -> None:
    cluster = cluster_with_movers()
    cluster.cycle()
    cluster.now += 1.0
    cluster.finish(Key("team/large-1"))
    cluster.cycle()
    assert cluster.running() == ["team/large-2", "team/low"]


def test_an_equal_priority_passes_at_once() -> None:
    cluster = cluster_with_movers()
    cluster.observe(job("equal", 4, 2))
    cluster.cycle()
    assert cluster.running() == ["team/equal", "team/large-1"]
