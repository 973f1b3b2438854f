"""However many wait, a release is offered to those only whom it can help, in their order."""

import pytest

from queueing.core.decisions import Admit, Wait
from queueing.core.settings import FairSharing, Settings
from queueing.testing.builders import cluster_queue, quota, workload
from queueing.testing.invariants import check_invariants
from queueing.testing.obedient import ObedientCluster
from queueing.testing.worlds import world

FAIR = Settings(fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare",)))


def crowded(depth: int, settings: Settings) -> ObedientCluster:
    """One runs and takes all; each of those behind it has a shape, and so an amount, of its own."""
    facts = world(cluster_queues=[cluster_queue("deep", {"default": {"cpu": quota(100_000)}})])
    cluster = ObedientCluster(facts, settings)
    for number in range(depth + 1):
        asked = 100_000 - (number * 7) % 1_000
        job = workload(f"job-{number:04}", {"cpu": asked}, local_queue="team/deep", created=number)
        cluster.observe(job)
    cluster.cycle()
    return cluster


@pytest.mark.parametrize(
    "settings", [pytest.param(Settings(), id="classical"), pytest.param(FAIR, id="fair sharing")]
)
@pytest.mark.parametrize("depth", [20, 400])
def test_an_end_has_one_judged_and_admitted_however_many_it_could_help(
    depth: int, settings: Settings
) -> None:
    cluster = crowded(depth, settings)
    for _ in range(3):
        [running] = cluster.running()
        cluster.finish(running)
        cycle = cluster.cycle()
        assert cycle.finished
        assert cycle.judged == 1
        assert [type(one) for one in cycle.decisions] == [Admit]
    check_invariants(cluster.engine)


def test_the_first_in_the_queue_goes_first_and_not_the_smallest() -> None:
    cluster = crowded(50, Settings())
    order = []
    for _ in range(4):
        [running] = cluster.running()
        order.append(running)
        cluster.finish(running)
        cluster.cycle()
    assert order == [f"team/job-{number:04}" for number in range(4)]


@pytest.mark.parametrize(
    "settings", [pytest.param(Settings(), id="classical"), pytest.param(FAIR, id="fair sharing")]
)
def test_a_release_has_no_more_than_two_of_each_queue_judged_and_an_admission_nobody(
    settings: Settings,
) -> None:
    limits = {"default": {"cpu": quota(1_000)}}
    queues = [cluster_queue(f"queue-{one}", limits, cohort="tree") for one in range(5)]
    cluster = ObedientCluster(world(cluster_queues=queues), settings)
    for number in range(40):
        door, asked = f"team/queue-{number % 5}", 700 + number
        cluster.observe(workload(f"job-{number}", {"cpu": asked}, local_queue=door, created=number))
    cluster.cycle()
    for _ in range(3):
        cluster.finish(cluster.running()[0])
        cycle = cluster.cycle()
        assert [type(one) for one in cycle.decisions if not isinstance(one, Wait)] == [Admit]
        assert cycle.judged <= 2 * 5, "once beside the one who was faster, once without"
        assert not cluster.cycle().judged  # it hears that the admission was written
    check_invariants(cluster.engine)
