"""A cycle that the budget cuts, in a tree in which somebody waits for victims to leave."""

import pytest

from queueing.core.decisions import Cycle, Preempt
from queueing.core.facts import PreemptionPolicy
from queueing.core.settings import FairSharing, Settings
from queueing.core.stakes import Stake
from queueing.testing.builders import admitted, cluster_queue, preemption, workload
from queueing.testing.obedient import ObedientCluster
from queueing.testing.worlds import Deep, world

LOWER = preemption(within=PreemptionPolicy.LOWER_PRIORITY)


def preempted(cycle: Cycle) -> list[str]:
    """Return who has to go from now on."""
    found = (one for one in cycle.decisions if isinstance(one, Preempt))
    return [one.workload for one in found if not one.already_evicted]


def test_those_who_stand_count_in_a_budget() -> None:
    policies = preemption(within=PreemptionPolicy.LOWER_PRIORITY, reclaim=PreemptionPolicy.ANY)
    fair = Settings(fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare",)))
    deep = Deep(queues=10, each=20, preemption=policies)
    cluster = ObedientCluster([*deep.objects(), *deep.workloads()], fair)
    while len({one.preemptor for one in cluster.preemptions}) < 10:
        cluster.cycle(budget=60)
    portion = cluster.cycle(budget=60)
    assert not portion.finished
    assert portion.judged <= 2 * 10


@pytest.mark.parametrize("passed", [0.75, 1.0])
def test_time_stands_still_for_less_than_a_second_while_a_cycle_goes_on(passed: float) -> None:
    queues = [
        cluster_queue(name, {"default": {"cpu": 400}}, cohort="all", preemption=LOWER)
        for name in ("stands", "waits", "with-many")
    ]
    cluster = ObedientCluster(world(cluster_queues=queues))
    for name in ("stands", "with-many"):
        holder = admitted(f"of-{name}", {"cpu": 400}, queue=name, local_queue=f"team/{name}")
        cluster.observe(holder)
    cluster.observe(
        admitted(
            "protected",
            {"cpu": 400},
            queue="waits",
            local_queue="team/waits",
            created=cluster.now - 599.5,
            stake=Stake(minimum_runtime_s=600),
        )
    )
    cluster.observe(workload("stands", {"cpu": 400}, local_queue="team/stands", priority=1))
    assert preempted(cluster.cycle()) == ["team/of-stands"]
    cluster.observe(workload("waits", {"cpu": 400}, local_queue="team/waits", priority=1))
    for number in range(20):
        cluster.observe(workload(f"no-{number}", {"cpu": 1 + number}, local_queue="team/with-many"))
    cycle = cluster.cycle(budget=1)
    assert "team/waits" in [one.workload for one in cycle.decisions]
    assert not cycle.finished
    cluster.now += passed
    found = []
    while not cycle.finished:
        cycle = cluster.cycle(budget=1)
        found += preempted(cycle)
    cycle = cluster.cycle()
    assert (found, preempted(cycle)) == (
        ([], ["team/protected"]) if passed < 1 else (["team/protected"], [])
    )
