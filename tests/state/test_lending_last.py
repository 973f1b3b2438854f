"""Lend last: nobody borrows what the owner is about to take, and nobody waits for an idle one."""

import pytest

from queueing.core.decisions import Admit, Cycle, Preempt
from queueing.core.facts import PreemptionPolicy, WorkloadFact
from queueing.core.rounds import ROUNDS_MAX
from queueing.core.settings import Compatibility, FairSharing, Settings
from queueing.testing.builders import cluster_queue, preemption, quota, workload
from queueing.testing.obedient import ObedientCluster
from queueing.testing.worlds import world

RECLAIMS = preemption(reclaim=PreemptionPolicy.ANY)


def job(name: str, cpu: int, queue: str, created: float = 9.0) -> WorkloadFact:
    return workload(name, {"cpu": cpu}, local_queue=f"team/{queue}", created=created)


def cluster_of(
    *jobs: WorkloadFact, compatibility: Compatibility = Compatibility.QUEUEING
) -> ObedientCluster:
    """Return a cluster in which `own` has 4 and `guest` nothing."""
    own = cluster_queue("own", {"default": {"cpu": 4}}, cohort="all", preemption=RECLAIMS)
    guest = cluster_queue("guest", {"default": {"cpu": 0}}, cohort="all")
    settings = Settings(compatibility=compatibility)
    cluster = ObedientCluster(world(cluster_queues=[own, guest]), settings)
    for one in jobs:
        cluster.observe(one)
    return cluster


def admitted_in(cycle: Cycle) -> list[str]:
    return [one.workload for one in cycle.decisions if isinstance(one, Admit)]


@pytest.mark.parametrize(
    ("compatibility", "evictions"),
    [
        pytest.param(Compatibility.QUEUEING, 0, id="lends last"),
        pytest.param(Compatibility.KUEUE, 1, id="as Kueue"),
    ],
)
def test_nobody_is_started_only_to_be_reclaimed(
    compatibility: Compatibility, evictions: int
) -> None:
    jobs = [job(f"own-{number}", 1, "own") for number in range(4)]
    cluster = cluster_of(*jobs, job("guest", 2, "guest", 1.0), compatibility=compatibility)
    cluster.rest()
    assert cluster.running() == [f"team/own-{number}" for number in range(4)]
    assert len(cluster.preemptions) == evictions


def test_who_borrows_what_the_owner_has_no_use_for_does_not_wait_for_a_round() -> None:
    cluster = cluster_of(job("mine", 1, "own"), job("guest", 2, "guest"))
    cycle = cluster.cycle()
    assert admitted_in(cycle) == ["team/mine", "team/guest"]
    assert len(cycle.rounds) == 1


def test_who_borrows_has_its_turn_in_the_cycle_in_which_the_owners_have_had_theirs() -> None:
    cluster = cluster_of(job("mine", 3, "own"), job("too-large", 5, "own"), job("g", 1, "guest"))
    assert admitted_in(cluster.cycle()) == ["team/mine", "team/g"]


def test_who_asks_for_more_than_the_owner_has_left_is_no_reason_to_wait() -> None:
    cluster = cluster_of(job("mine", 1, "own"), job("too-large", 5, "own"), job("g", 2, "guest"))
    first, *_ = cluster.cycle().rounds
    assert [type(one) for one in first] == [Admit, Admit]


def test_who_borrows_waits_also_for_the_equals_of_a_head_that_waited_for_quota() -> None:
    waiting = [job(f"own-{number}", 1, "own") for number in range(4)]
    cluster = cluster_of(job("early", 4, "own", 0.0), job("guest", 1, "guest", 1.0), *waiting)
    cluster.rest()
    [early] = cluster.running()
    cluster.finish(early)
    cluster.rest()
    assert cluster.running() == [f"team/own-{number}" for number in range(4)]
    assert cluster.preemptions == []


def shared_fairly(beside: int, compatibility: Compatibility = Compatibility.QUEUEING) -> Cycle:
    """Return the cycle in which an owner reclaims, and so many older ones of another queue fit."""
    own = cluster_queue("own", {"default": {"cpu": 10}}, cohort="all", preemption=RECLAIMS)
    other = cluster_queue("other", {"default": {"cpu": quota(40, lending=0)}}, cohort="all")
    guest = cluster_queue("guest", {"default": {"cpu": 0}}, cohort="all")
    fair = FairSharing(strategies=("LessThanOrEqualToFinalShare",))
    settings = Settings(compatibility=compatibility, fair_sharing=fair)
    cluster = ObedientCluster(world(cluster_queues=[own, other, guest]), settings)
    cluster.observe(job("guest", 6, "guest", 0.0))
    cluster.rest()
    cluster.observe(job("mine", 9, "own"))
    for number in range(beside):
        cluster.observe(job(f"fits-{number:02}", 1, "other", 1.0))
    return cluster.cycle()


def preempted_in(cycle: Cycle) -> list[int]:
    """Return the rounds in which somebody is preempted."""
    return [at for at, one in enumerate(cycle.rounds) if any(isinstance(x, Preempt) for x in one)]


@pytest.mark.parametrize(
    ("compatibility", "at"),
    [
        pytest.param(Compatibility.QUEUEING, 1, id="who fits comes first"),
        pytest.param(Compatibility.KUEUE, 0, id="as Kueue"),
    ],
)
def test_who_preempts_by_shares_chooses_its_victims_after_who_fits(
    compatibility: Compatibility, at: int
) -> None:
    assert preempted_in(shared_fairly(1, compatibility)) == [at]


def test_many_who_fit_keep_nobody_from_what_it_may_preempt() -> None:
    assert preempted_in(shared_fairly(2 * ROUNDS_MAX)) == [ROUNDS_MAX]
