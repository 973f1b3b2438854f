"""Who would fit, but for one who waits for victims, is judged again when that changes."""

from dataclasses import replace
from fractions import Fraction

import pytest

from queueing.core.facts import PreemptionPolicy, WorkloadFact
from queueing.core.names import Key
from queueing.core.settings import FairSharing, Settings
from queueing.testing.builders import cluster_queue, cohort, pod_set, preemption, workload
from queueing.testing.obedient import ObedientCluster
from queueing.testing.worlds import world

LOWER = PreemptionPolicy.LOWER_PRIORITY
TWO_PARTS = (pod_set({"cpu": 1}), pod_set({"cpu": 1}, name="second"))
"""Each of them fits where 1 is free, so that it is worth a look whether both do."""
SHARES = FairSharing(strategies=("LessThanOrEqualToFinalShare", "LessThanInitialShare"))
MODES = [
    pytest.param(Settings(), id="by priority"),
    pytest.param(Settings(fair_sharing=SHARES), id="by shares"),
]


def job(name: str, cpu: int, queue: str, *, priority: int = 0, created: float = 0) -> WorkloadFact:
    return workload(
        name, {"cpu": cpu}, local_queue=f"team/{queue}", priority=priority, created=created
    )


def one_kept_off(settings: Settings) -> ObedientCluster:
    """Return a cluster of 8 in which 1 is free, and one who stands on the left needs it soon."""
    queues = [
        cluster_queue(
            name,
            {"default": {"cpu": 4}},
            cohort="all",
            preemption=preemption(within=LOWER),
            fair_weight=Fraction(weight),
        )
        for name, weight in (("left", 9), ("right", 1))
    ]
    cluster = ObedientCluster(world(cohort("all"), cluster_queues=queues), settings)
    for fact in (
        job("small", 3, "left"),
        job("whole", 4, "right"),
        workload("hopeless", pod_sets=TWO_PARTS, local_queue="team/left", created=1),
        job("stands", 4, "left", priority=2, created=2),
        job("kept-off", 1, "right"),
    ):
        cluster.observe(fact)
        cluster.cycle()
    assert cluster.draining() == ["team/small"]
    assert cluster.running() == ["team/whole"]
    return cluster


@pytest.mark.parametrize("settings", MODES)
def test_who_is_kept_off_is_judged_again_when_another_has_enough_leave_for_all(
    settings: Settings,
) -> None:
    cluster = one_kept_off(settings)
    cluster.observe(job("second", 2, "right", priority=1))
    cluster.cycle()
    assert cluster.draining() == ["team/small", "team/whole"]
    assert cluster.running() == ["team/kept-off"]


@pytest.mark.parametrize("settings", MODES)
def test_who_turns_out_to_be_hopeless_keeps_nobody_off_in_the_same_round(
    settings: Settings,
) -> None:
    cluster = one_kept_off(settings)
    cluster.observe(job("stands", 4, "left", created=2))
    cluster.cycle()
    assert cluster.running() == ["team/kept-off", "team/whole"]


def test_a_preemptor_is_judged_again_when_its_victim_gets_a_higher_priority() -> None:
    queue = cluster_queue(quotas={"default": {"cpu": 7}}, preemption=preemption(within=LOWER))
    cluster = ObedientCluster(world(queue))
    cluster.observe(workload("victim", {"cpu": 6}))
    cluster.cycle()
    pods = (pod_set({"cpu": 1}, 4, min_count=1),)
    cluster.observe(workload("preemptor", pod_sets=pods, priority=2))
    cluster.cycle()
    assert cluster.draining() == ["team/victim"]
    cluster.observe(replace(cluster.workloads[Key("team/victim")], priority=3))
    cluster.cycle()
    assert cluster.running() == ["team/preemptor"]
