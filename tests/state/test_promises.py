"""Promises: who waits for others to leave gets what they leave, and nobody else meanwhile."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from queueing.core.decisions import Admit, Mode, Wait
from queueing.core.facts import (
    CheckFact,
    ClusterQueueFact,
    Condition,
    PreemptionPolicy,
    WorkloadFact,
)
from queueing.core.names import CheckName, Key
from queueing.core.settings import FairSharing, Settings
from queueing.testing.builders import check_rule, cluster_queue, condition, preemption, workload
from queueing.testing.obedient import ObedientCluster
from queueing.testing.worlds import world

LOWER = preemption(within=PreemptionPolicy.LOWER_PRIORITY)
LOW = Key("team/low")
BY_SHARES = Settings(fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare",)))


def job(
    name: str, cpu: int, priority: int = 0, *, created: float = 9.0, queue: str = "main"
) -> WorkloadFact:
    return workload(
        name, {"cpu": cpu}, priority=priority, created=created, local_queue=f"team/{queue}"
    )


def promised_to(holder: WorkloadFact, *, low: int = 10) -> ObedientCluster:
    """Return a cluster of 10 in which `holder` was promised what `low`, which leaves, holds."""
    queue = cluster_queue("main", {"default": {"cpu": 10}}, preemption=LOWER)
    cluster = ObedientCluster(world(queue))
    cluster.observe(job("low", low))
    cluster.cycle()
    cluster.observe(holder)
    cluster.cycle()
    assert cluster.draining() == [LOW]
    assert cluster.engine.is_claimed(LOW)
    return cluster


def admitted_in_order(cluster: ObedientCluster) -> list[str]:
    return [one.workload for one in cluster.cycle().decisions if isinstance(one, Admit)]


def test_promises_are_served_in_queue_order_before_all_who_came_later() -> None:
    cluster = promised_to(job("large", 6, 2))
    cluster.observe(job("small", 4, 1))
    cluster.cycle()
    cluster.drain(LOW)
    cluster.observe(job("before-small-in-the-queue", 4, 1, created=1.0))
    assert admitted_in_order(cluster) == ["team/large", "team/small"]


def test_what_is_idle_and_promised_is_given_to_nobody_else() -> None:
    cluster = promised_to(job("high", 8, 1), low=6)
    cluster.observe(job("takes-of-the-promise", 3, created=10.0))
    cluster.observe(job("fits-beside", 2, created=11.0))
    assert admitted_in_order(cluster) == ["team/fits-beside"]


def test_who_could_preempt_the_holder_takes_its_promise_and_nobody_is_evicted_for_that() -> None:
    cluster = promised_to(job("middle", 10, 1))
    cluster.observe(job("top", 10, 2))
    cluster.cycle()
    cluster.drain(LOW)
    assert admitted_in_order(cluster) == ["team/top"]
    assert len(cluster.preemptions) == 1


def test_an_equal_does_not_take_a_promise() -> None:
    cluster = promised_to(job("holder", 10, 1))
    cluster.observe(job("equal", 10, 1, created=1.0))
    cluster.cycle()
    cluster.drain(LOW)
    assert admitted_in_order(cluster) == ["team/holder"]


@pytest.mark.parametrize("owner_comes", [True, False], ids=["then an owner comes", "nobody comes"])
def test_who_would_borrow_is_promised_nothing_that_an_owner_may_still_need(
    *, owner_comes: bool
) -> None:
    own = cluster_queue("own", {"default": {"cpu": 4}}, cohort="all", preemption=LOWER)
    guest = cluster_queue("guest", {"default": {"cpu": 0}}, cohort="all")
    cluster = ObedientCluster(world(cluster_queues=[own, guest]))
    for fact in (
        job("low", 4, queue="own"),
        job("high", 1, 1, queue="own"),
        job("borrows", 3, queue="guest"),
    ):
        cluster.observe(fact)
        cluster.cycle()
    if owner_comes:
        cluster.observe(job("mine", 3, queue="own", created=99.0))
        cluster.cycle()
    cluster.drain(LOW)
    cluster.cycle()
    assert cluster.running() == (
        ["team/high", "team/mine"] if owner_comes else ["team/borrows", "team/high"]
    )


def test_who_would_borrow_takes_the_promise_of_whom_it_could_preempt() -> None:
    own = cluster_queue("own", {"default": {"cpu": 6}}, cohort="all")
    policy = replace(
        LOWER,
        reclaim_within_cohort=PreemptionPolicy.ANY,
        borrow_within_cohort=PreemptionPolicy.LOWER_PRIORITY,
    )
    guest = cluster_queue("guest", {"default": {"cpu": 4}}, cohort="all", preemption=policy)
    cluster = ObedientCluster(world(cluster_queues=[own, guest]))
    for fact in (
        job("low", 10, queue="guest"),
        job("middle", 10, 1, queue="guest"),
        job("top", 10, 2, queue="guest"),
    ):
        cluster.observe(fact)
        cluster.cycle()
    cluster.drain(LOW)
    assert admitted_in_order(cluster) == ["team/top"]


def test_a_promise_ends_when_quota_is_cut_below_it() -> None:
    cluster = promised_to(job("large", 10, 1))
    found = cluster.objects["ClusterQueue", "main"]
    assert isinstance(found, ClusterQueueFact)
    cut = cluster_queue("main", {"default": {"cpu": 5}})
    cluster.observe(replace(found, groups=cut.groups))
    cluster.cycle()
    assert not cluster.engine.is_claimed(LOW)
    cluster.drain(LOW)
    cluster.observe(job("small", 5))
    assert admitted_in_order(cluster) == ["team/small"]


def test_a_promise_ends_with_its_holder() -> None:
    cluster = promised_to(job("holder", 10, 1))
    cluster.observe(replace(cluster.workloads[Key("team/holder")], active=False))
    cluster.cycle()
    assert not cluster.engine.is_claimed(LOW)
    cluster.observe(job("other", 10, created=1.0))
    cluster.cycle()
    cluster.drain(LOW)
    assert admitted_in_order(cluster) == ["team/other"]


def test_what_a_queue_that_turns_inactive_was_promised_is_promised_to_others_at_once() -> None:
    reclaims = preemption(reclaim=PreemptionPolicy.ANY)
    owner = cluster_queue("owner", {"default": {"cpu": 5}}, cohort="all", preemption=reclaims)
    guest = cluster_queue("guest", {"default": {"cpu": 5}}, cohort="all")
    check = CheckFact(name=CheckName("check"), controller="example.com/nodes", active=True)
    queues = [replace(owner, checks=(check_rule(),)), guest]
    cluster = ObedientCluster([check, *world(cluster_queues=queues)], BY_SHARES)
    for one in (job("low", 10, queue="guest"), job("owns", 5, queue="owner")):
        cluster.observe(one)
        cluster.cycle()
    cluster.observe(job("next", 10, queue="guest"))
    cluster.cycle()
    cluster.observe(replace(check, active=False))
    (wait,) = (one for one in cluster.cycle().decisions if one.workload == "team/next")
    assert isinstance(wait, Wait)
    assert wait.mode is Mode.DEFERRED_FIT


@pytest.mark.parametrize(
    "before",
    [
        pytest.param((), id="who never ran"),
        pytest.param([condition("Evicted", "Preempted", changed=1_000.0)], id="a victim just then"),
    ],
)
def test_a_new_leader_judges_those_first_whom_the_statuses_of_victims_name(
    before: Sequence[Condition],
) -> None:
    holder = job("holder", 10, 1)
    cluster = promised_to(replace(holder, conditions={one.type: one for one in before}))
    cluster.observe(job("before-it-in-the-queue", 10, 1, created=1.0))
    cluster.cycle()
    cluster.restart()
    cluster.cycle()
    cluster.drain(LOW)
    assert admitted_in_order(cluster) == ["team/holder"]


def test_a_victim_does_not_get_a_promise_for_what_it_preempted_long_ago() -> None:
    """Its own victim's status names it still, but it had got what that victim left."""
    cluster = promised_to(job("middle", 10, 1))
    cluster.drain(LOW)
    cluster.cycle()
    cluster.now += 60.0
    cluster.observe(job("top", 10, 2, created=99.0))
    cluster.cycle()
    cluster.now += 60.0
    cluster.drain(Key("team/middle"))
    cluster.restart()
    assert admitted_in_order(cluster) == ["team/top"]
    assert len(cluster.preemptions) == 2


def test_by_shares_who_would_borrow_is_promised_what_others_give_back() -> None:
    reclaims = preemption(reclaim=PreemptionPolicy.ANY)
    guests = [
        cluster_queue(name, {"default": {"cpu": 0}}, cohort="all", preemption=reclaims)
        for name in ("large", "half", "small", "later")
    ]
    owner = cluster_queue("owner", {"default": {"cpu": 10}}, cohort="all")
    cluster = ObedientCluster(world(cluster_queues=[owner, *guests]), BY_SHARES)
    for name in ("one", "two"):
        cluster.observe(job(name, 5, queue="large"))
        cluster.cycle()
    arrivals = (job("half", 4, queue="half"), job("small", 1, queue="small"))
    for one in (*arrivals, job("later", 1, created=1.0, queue="later")):
        cluster.observe(one)
        cluster.cycle()
    (victim,) = cluster.draining()
    cluster.drain(victim)
    assert admitted_in_order(cluster) == ["team/half", "team/small"]
