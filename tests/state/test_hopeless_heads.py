"""A head that nothing can help costs those behind it nothing: who would borrow waits for these."""

import pytest

from queueing.core.decisions import Admit, Cycle
from queueing.core.facts import Fact
from queueing.core.settings import Settings
from queueing.testing.builders import admitted, cluster_queue, pod_set, workload
from queueing.testing.worlds import world
from tests.lives.living import LivingCluster, fresh

LENDER = cluster_queue("lender", {"default": {"cpu": 4}}, cohort="pool")
BORROWER = cluster_queue("borrower", {"default": {"cpu": 0}}, cohort="pool")


def asks(name: str, cpu: int, queue: str = "lender", priority: int = 0) -> Fact:
    return workload(name, {"cpu": cpu}, local_queue=f"team/{queue}", priority=priority)


def admitted_in(cycle: Cycle) -> list[str]:
    return [one.workload for one in cycle.decisions if isinstance(one, Admit)]


def test_who_would_borrow_waits_for_those_behind_a_hopeless_head() -> None:
    jobs = [
        asks("huge", 50, priority=9),
        asks("small", 4, priority=5),
        asks("other", 3, "borrower"),
    ]
    engine = fresh(world(LENDER, BORROWER, *jobs), Settings())
    assert admitted_in(engine.cycle(1.0)) == ["team/small"]


def test_who_is_known_to_be_hopeless_costs_no_turn_when_quota_is_released() -> None:
    running = admitted("running", {"cpu": 4}, queue="lender")
    jobs = [
        asks("huge", 50, priority=9),
        asks("small", 4, priority=5),
        asks("other", 3, "borrower"),
    ]
    cluster = LivingCluster(world(LENDER, BORROWER, running, *jobs), Settings())
    cluster.cycle()
    cluster.finish(running.key)
    cluster.tell()
    assert admitted_in(cluster.engine.cycle(cluster.now)) == ["team/small"]


@pytest.mark.parametrize("budget", [1, 2, 5, 100])
def test_a_budget_changes_nothing_among_many_hopeless_heads(budget: int) -> None:
    huge = [asks(f"huge-{cpu}", cpu, priority=9) for cpu in range(50, 80)]
    jobs = [*huge, asks("small", 4, priority=5), asks("other", 3, "borrower")]
    engine = fresh(world(LENDER, BORROWER, *jobs), Settings())
    done: list[str] = []
    for _ in range(100):
        cycle = engine.cycle(1.0, budget)
        assert cycle.judged < budget + 2, "at most one more round than the budget allows"
        done += admitted_in(cycle)
        if cycle.finished:
            break
    assert done == ["team/small"]
    assert engine.cycle(1.0).rounds == ()


def test_a_sweep_finds_whom_the_admission_of_another_helped() -> None:
    """Its first pod set took the spot quota that its second needs, until another took it first."""
    flavors = {"spot": {"cpu": 4, "memory": 9}, "default": {"cpu": 4, "memory": 0}}
    picky = cluster_queue("picky", flavors, cohort="pool")
    pods = (pod_set({"cpu": 4}, name="first"), pod_set({"cpu": 2, "memory": 1}, name="second"))
    two = workload("two", pod_sets=pods, local_queue="team/picky", priority=9)
    engine = fresh(world(picky, two), Settings(flavor_fungibility=False))
    assert admitted_in(engine.cycle(1.0)) == []
    engine.observe(asks("small", 2, "picky"))
    assert admitted_in(engine.cycle(1.0)) == ["team/small"]
    assert engine.sweep(1) == 1
    assert admitted_in(engine.cycle(1.0)) == ["team/two"]


def test_who_lacks_two_things_takes_no_turn_when_one_of_them_is_released() -> None:
    """Else it would lose to the borrower, at each release anew, and with it all behind it."""

    def both(name: str, memory: int, cpu: int) -> Fact:
        return cluster_queue(name, {"default": {"memory": memory, "cpu": cpu}}, cohort="pool")

    def wants(name: str, queue: str, **requests: int) -> Fact:
        return workload(name, requests, local_queue=f"team/{queue}")

    queues = [both("lender", 4, 0), both("borrower", 0, 0), both("third", 4, 10)]
    holds_cpu = admitted("holds-cpu", {"cpu": 10}, queue="third")
    running = admitted("running", {"memory": 8}, queue="borrower")
    jobs = [
        wants("a-both", "lender", memory=8, cpu=10),
        wants("b-own", "lender", memory=4),
        wants("c-borrows", "borrower", memory=8),
    ]
    cluster = LivingCluster(world(*queues, holds_cpu, running, *jobs), Settings())
    cluster.cycle()
    cluster.finish(running.key)
    cluster.tell()
    assert admitted_in(cluster.engine.cycle(cluster.now)) == ["team/b-own"]
