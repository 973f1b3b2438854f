"""Claims that several workloads use: the second needs no quota, and the last takes it along."""

from dataclasses import replace

import pytest

from queueing.core.credits.facts import CreditPolicyFact
from queueing.core.decisions import Reason
from queueing.core.devices import DeviceAsk, DeviceOffer
from queueing.core.facts import (
    Condition,
    Fact,
    PodSet,
    PreemptionPolicy,
    Strategy,
    WorkloadFact,
)
from queueing.core.names import (
    CohortName,
    FlavorName,
    FlavorResource,
    Key,
    PodSetName,
    QueueName,
    ResourceName,
)
from queueing.core.settings import Settings
from queueing.reports import queues as reports
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    cluster_queue,
    flavor,
    groups,
    local_queue,
    namespace,
    pod_set,
    preemption,
    workload,
)
from queueing.testing.invariants import check_invariants
from tests.state.members import CORE_PRICES

GPU = ResourceName("gpu")
HELD = FlavorResource(FlavorName("default"), GPU)
LOWER = preemption(within=PreemptionPolicy.LOWER_PRIORITY)


def user(claim: str = "shared", *, gpus: int = 8, name: str = "main", count: int = 1) -> PodSet:
    ask = DeviceAsk(resource=GPU, shape=f"{gpus} of {claim}", units=gpus, claim=claim)
    asked = pod_set({"gpu": gpus, "cpu": 1}, count, name=name)
    return replace(asked, devices=(ask,))


MAIN = cluster_queue(
    quotas={"default": {"gpu": 8, "cpu": 10}},
    strategy=Strategy.BEST_EFFORT_FIFO,
    preemption=LOWER,
)


def world(*workloads: WorkloadFact, gpus: int = 8, cpus: int = 10) -> SimulatedCluster:
    together = {
        f"{size} of shared": DeviceOffer(amount=size, pods_max=256, together=True)
        for size in (4, 8)
    }
    facts: list[Fact] = [
        namespace(),
        replace(flavor(), devices=together),
        replace(MAIN, groups=groups({"default": {"gpu": gpus, "cpu": cpus}})),
        local_queue(),
        *workloads,
    ]
    return SimulatedCluster(facts, settings=Settings())


def job(name: str, *pod_sets: PodSet, at: float = 0.0, priority: int = 0) -> WorkloadFact:
    return workload(name, pod_sets=pod_sets or (user(),), created=at, priority=priority)


def used(made: SimulatedCluster) -> int:
    check_invariants(made.engine)
    view = reports.cluster_queue(made.engine.memory, QueueName("main"))
    return view.reservation[HELD].total if view is not None and HELD in view.reservation else 0


def running(made: SimulatedCluster) -> list[str]:
    return sorted(key for key, one in made.workloads.items() if one.holds_quota)


def end(made: SimulatedCluster, name: str) -> None:
    fact = made.workloads[Key(f"team/{name}")]
    done = Condition(type="Finished", status=True, reason="Succeeded", changed=9.0)
    made.observe(replace(fact, conditions={**fact.conditions, "Finished": done}))


def test_whoever_comes_second_needs_no_quota_for_a_claim_that_is_held() -> None:
    made = world(job("a"), job("b", at=1.0), job("other", user("its own"), at=2.0))
    made.cycle(1.0)
    made.cycle(2.0)
    assert running(made) == ["team/a", "team/b"]
    assert used(made) == 8
    admission = made.workloads[Key("team/b")].admission
    assert admission is not None
    assert admission.pod_sets[0].usage[GPU] == 8, "its status says what it may have to bear"


def test_whoever_asks_less_of_a_claim_than_it_is_charged_adds_nothing() -> None:
    """It needs nobody to leave, least of all one by whose leaving nothing would get free."""
    made = world(job("a"))
    made.cycle(1.0)
    made.observe(job("b", user(gpus=4), at=1.0, priority=1))
    made.cycle(2.0)
    assert running(made) == ["team/a", "team/b"]
    assert not any(one.is_true("Evicted") for one in made.workloads.values())
    assert used(made) == 8


def test_the_charge_passes_to_the_next_and_ends_with_the_last() -> None:
    made = world(job("a"), job("b", at=1.0), job("other", user("its own"), at=2.0))
    made.cycle(1.0)
    made.cycle(2.0)
    end(made, "a")
    made.cycle(10.0)
    assert used(made) == 8
    assert "team/other" not in running(made)
    end(made, "b")
    made.cycle(11.0)
    assert running(made) == ["team/other"]
    assert used(made) == 8


def test_whoever_takes_a_charge_over_may_borrow_no_more_than_before() -> None:
    made = world(job("a"), job("b", at=1.0))
    made.cycle(1.0)
    made.cycle(2.0)
    may_not_borrow(made, from_priority=0)
    made.cycle(3.0)
    end(made, "a")
    made.observe(job("other", user("its own"), at=3.0))
    made.cycle(4.0)
    assert running(made) == ["team/b"]
    assert used(made) == 8


def may_not_borrow(made: SimulatedCluster, *, from_priority: int) -> None:
    """Let the queue be one that may borrow, but not its workloads of this priority and above."""
    lender = cluster_queue("lender", {"default": {"gpu": 8, "cpu": 10}}, cohort="all")
    for fact in (replace(MAIN, cohort=CohortName("all")), lender):
        made.observe(fact)
    rule = CreditPolicyFact(
        name="rule", prices=CORE_PRICES, non_borrowing_min_priority=from_priority
    )
    made.engine.observe(rule)


def test_of_those_who_may_not_borrow_the_second_needs_nominal_quota_for_what_it_adds() -> None:
    made = world(job("a", priority=5))
    may_not_borrow(made, from_priority=5)
    made.cycle(1.0)
    made.observe(job("b", at=1.0, priority=5))
    made.observe(job("other", user("its own", gpus=1), at=2.0, priority=5))
    made.cycle(2.0)
    assert running(made) == ["team/a", "team/b"]
    waits = made.engine.waiting(Key("team/other"))
    assert waits is not None
    assert waits.reason is Reason.MAY_NOT_BORROW


@pytest.mark.parametrize(
    ("filler", "want"), [(1, ["team/a", "team/filler"]), (0, ["team/a", "team/b", "team/filler"])]
)
def test_who_may_not_borrow_takes_over_no_more_than_nominal_quota(
    filler: int, want: list[str]
) -> None:
    """What one of a lower priority is charged for a claim is its own once that one has ended."""
    made = world(job("a"), job("filler", user("its own", gpus=filler), at=0.5, priority=5))
    may_not_borrow(made, from_priority=5)
    made.cycle(1.0)
    made.observe(job("b", at=1.0, priority=5))
    made.cycle(2.0)
    assert running(made) == want


@pytest.mark.parametrize("gpus", [0, 4, 11], ids=lambda left: f"{left} gpus are left")
@pytest.mark.parametrize("asks", [4, 8], ids=lambda asks: f"it asks {asks}")
@pytest.mark.parametrize("cohort", [None, CohortName("all")], ids=["alone", "in a cohort"])
def test_who_adds_nothing_is_let_in_where_quota_was_cut_below_what_is_used(
    gpus: int, asks: int, cohort: CohortName | None
) -> None:
    """It takes nothing, so nobody has to leave for it."""
    made = world(job("a"), job("low", pod_set({"gpu": 4, "cpu": 1}), at=0.5), gpus=12)
    made.cycle(1.0)
    assert running(made) == ["team/a", "team/low"]
    left = groups({"default": {"gpu": gpus, "cpu": 10}})
    made.observe(replace(MAIN, groups=left, cohort=cohort))
    made.observe(job("b", user(gpus=asks), at=1.0, priority=1))
    made.cycle(2.0)
    assert running(made) == ["team/a", "team/b", "team/low"]
    assert not any(one.is_true("Evicted") for one in made.workloads.values())
    assert used(made) == 12


def test_who_adds_something_to_what_is_used_beyond_a_cut_quota_makes_room() -> None:
    low = job("low", pod_set({"gpu": 6, "cpu": 1}), at=0.5)
    made = world(job("a", user(gpus=4)), low, gpus=10)
    made.cycle(1.0)
    made.observe(replace(MAIN, groups=groups({"default": {"gpu": 8, "cpu": 10}})))
    made.observe(job("b", user(gpus=8), at=1.0, priority=1))
    made.cycle(2.0)
    assert [key for key, one in made.workloads.items() if one.is_true("Evicted")] == ["team/low"]


def test_it_is_told_that_the_local_queue_of_whoever_takes_a_charge_over_is_another() -> None:
    made = world(job("a"))
    made.observe(local_queue("team/second"))
    made.observe(replace(job("b", at=1.0), local_queue=Key("team/second")))
    made.cycle(1.0)
    made.cycle(2.0)
    made.engine.changed()
    end(made, "a")
    assert "team/second" in made.engine.changed().local_queues


def test_what_a_claim_lacks_for_is_not_what_waits_for_something_else() -> None:
    made = world(job("a"), job("b", user(gpus=8), pod_set({"cpu": 20}, name="more"), at=1.0))
    made.cycle(1.0)
    made.cycle(2.0)
    assert running(made) == ["team/a"]
    waits = made.engine.waiting(Key("team/b"))
    assert waits is not None
    assert "gpu" not in waits.message


def test_pod_sets_that_use_one_claim_are_charged_for_it_once() -> None:
    made = world(job("a", user(name="one"), user(name="two")))
    made.cycle(1.0)
    assert running(made) == ["team/a"]
    assert used(made) == 8


def test_pods_that_are_over_take_nothing_off_a_claim_that_others_use() -> None:
    made = world(job("a", user(name="one", count=4), user(name="two")))
    made.cycle(1.0)
    fact = made.workloads[Key("team/a")]
    made.observe(replace(fact, reclaimable={PodSetName("one"): 4}))
    assert used(made) == 8
    made.observe(replace(fact, reclaimable={PodSetName("one"): 4, PodSetName("two"): 1}))
    assert used(made) == 0


def test_a_claim_counts_as_the_largest_that_it_is_to_anybody() -> None:
    made = world(job("a", user(gpus=4)), job("b", user(gpus=8), at=1.0), gpus=10)
    made.cycle(1.0)
    made.cycle(2.0)
    assert used(made) == 8
    end(made, "a")
    assert used(made) == 8


def test_all_who_share_a_claim_leave_for_one_who_needs_what_it_holds() -> None:
    made = world(job("a"), job("b", at=1.0))
    made.cycle(1.0)
    made.cycle(2.0)
    assert running(made) == ["team/a", "team/b"]
    made.observe(job("urgent", user("its own"), at=3.0, priority=9))
    made.cycle(3.0)
    evicted = [key for key, one in made.workloads.items() if one.is_true("Evicted")]
    assert sorted(evicted) == ["team/a", "team/b"]
    assert used(made) == 8
    made.drain(4.0)
    made.cycle(4.0)
    assert running(made) == ["team/urgent"]
    assert used(made) == 8


def test_nobody_leaves_where_one_who_shares_the_claim_must_not() -> None:
    made = world(job("a"), job("b", at=1.0, priority=9))
    made.cycle(1.0)
    made.cycle(2.0)
    made.observe(job("urgent", user("its own"), at=3.0, priority=5))
    made.cycle(3.0)
    assert not [key for key, one in made.workloads.items() if one.is_true("Evicted")]


def test_nobody_leaves_alone_while_the_admission_of_one_who_shares_the_claim_is_written() -> None:
    """The second has a priority that shields the first, from the cycle on that lets it in."""
    made = world(job("a", user(), pod_set({"cpu": 1}, name="more")), cpus=3)
    made.cycle(1.0)
    made.observe(job("b", at=1.0, priority=9))
    made.observe(job("urgent", pod_set({"cpu": 2}), at=2.0, priority=5))
    for at in (2.0, 3.0):
        made.cycle(at)
        assert running(made) == ["team/a", "team/b"]
        assert not [key for key, one in made.workloads.items() if one.is_true("Evicted")]


def test_nobody_takes_over_a_claim_from_those_who_leave() -> None:
    made = world(job("a"), job("b", user(), at=1.0), cpus=1)
    made.cycle(1.0)
    assert running(made) == ["team/a"]
    made.observe(job("urgent", user("its own"), at=2.0, priority=9))
    made.cycle(2.0)
    made.cycle(3.0)
    assert running(made) == ["team/a"]
    made.drain(4.0)
    made.cycle(4.0)
    assert running(made) == ["team/urgent"]


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")], ids=["as admitted", "reversed"])
def test_a_new_leader_charges_the_same(order: tuple[str, ...]) -> None:
    made = world(job("a"), job("b", at=1.0))
    made.cycle(1.0)
    made.cycle(2.0)
    known = [made.workloads[Key(f"team/{name}")] for name in order]
    again = world(*known)
    assert used(again) == used(made) == 8
    for charge in again.engine._memory.ledger.charges.values():
        mine = made.engine._memory.ledger.charges[charge.holder.key]
        assert charge.holder.usage == mine.holder.usage
