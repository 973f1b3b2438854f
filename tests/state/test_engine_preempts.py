"""Preemption across cycles: claims, victims on their way out, and circles."""

from dataclasses import replace

from queueing.core.decisions import Admit, Mode, Outcome, Preempt, Verdict, Wait
from queueing.core.facts import Fact, PreemptionPolicy
from queueing.core.names import Key
from queueing.core.settings import Compatibility, Settings
from queueing.state.intake.marks import preemptor_of
from queueing.testing.builders import (
    admitted,
    cluster_queue,
    pod_set,
    preemption,
    quota,
    workload,
)
from queueing.testing.invariants import check_invariants
from queueing.testing.obedient import ObedientCluster
from queueing.testing.worlds import world

LOWER = preemption(within=PreemptionPolicy.LOWER_PRIORITY)


def small_queue() -> list[Fact]:
    return world(cluster_queue(preemption=LOWER))


def half_drained() -> ObedientCluster:
    """Return a cluster in which `high` waits for what two held, of whom one has left."""
    cluster = ObedientCluster(small_queue())
    for name in ("low-1", "low-2"):
        cluster.observe(admitted(name, {"cpu": 5_000}))
    cluster.observe(workload("high", {"cpu": 10_000}, priority=2))
    cluster.cycle()
    cluster.drain(Key("team/low-1"))
    return cluster


def one_beside_a_preemptor(settings: Settings | None = None) -> ObedientCluster:
    """Return a cluster in which `high` must preempt `low`, and `other` fits beside both."""
    cluster = ObedientCluster(small_queue(), settings)
    cluster.observe(admitted("low", {"cpu": 8_000}))
    cluster.observe(workload("high", {"cpu": 9_000}, priority=2))
    cluster.observe(workload("other", {"cpu": 1_000}, priority=1))
    return cluster


def test_a_preemptor_gets_what_its_victims_give_back() -> None:
    cluster = ObedientCluster(small_queue())
    cluster.observe(admitted("low", {"cpu": 10_000}))
    cluster.observe(workload("high", {"cpu": 6_000}, priority=1))
    (preempt, wait) = cluster.cycle().decisions
    assert isinstance(preempt, Preempt)
    assert (preempt.workload, preempt.preemptor) == ("team/low", "team/high")
    assert isinstance(wait, Wait)
    assert (wait.mode, wait.targets) == (Mode.PREEMPT, ("team/low",))
    assert cluster.cycle().rounds == ()
    cluster.drain(Key("team/low"))
    (admit,) = [one for one in cluster.cycle().decisions if isinstance(one, Admit)]
    assert admit.workload == "team/high"
    check_invariants(cluster.engine)


def test_a_lesser_one_cannot_take_what_a_preemptor_waits_for() -> None:
    cluster = half_drained()
    cluster.observe(workload("between", {"cpu": 1_000}, priority=1))
    assert not any(isinstance(one, Admit) for one in cluster.cycle().decisions)
    cluster.drain(Key("team/low-2"))
    cluster.rest()
    assert cluster.running() == ["team/high"]


def test_the_next_is_tried_while_victims_of_the_first_are_on_their_way() -> None:
    cluster = one_beside_a_preemptor()
    kinds = {(type(one), one.workload) for one in cluster.cycle().decisions}
    assert (Preempt, "team/low") in kinds
    assert (Admit, "team/other") in kinds


def test_in_kueue_mode_a_preemptor_blocks_its_queue() -> None:
    cluster = one_beside_a_preemptor(Settings(compatibility=Compatibility.KUEUE))
    assert {type(one) for one in cluster.cycle().decisions} == {Preempt, Wait}


def test_after_a_restart_the_claim_is_read_from_the_victims() -> None:
    cluster = half_drained()
    cluster.observe(workload("between", {"cpu": 1_000}, priority=1))
    cluster.restart()
    assert not any(isinstance(one, Admit) for one in cluster.cycle().decisions)
    assert len(cluster.preemptions) == 2
    cluster.rest()
    assert cluster.running() == ["team/high"]


def test_a_refused_eviction_is_decided_again() -> None:
    cluster = ObedientCluster(small_queue())
    low = admitted("low", {"cpu": 10_000})
    cluster.observe(low)
    cluster.observe(workload("high", priority=1))
    preempt = cluster.engine.cycle(1.0).decisions[0]
    assert isinstance(preempt, Preempt)
    assert cluster.engine.cycle(2.0).rounds == ()
    cluster.engine.settle(Outcome(decision=preempt, verdict=Verdict.REFUSED))
    assert cluster.engine.cycle(3.0).decisions[0] == preempt
    check_invariants(cluster.engine)


def test_a_preemptor_that_goes_frees_those_it_kept_off() -> None:
    cluster = half_drained()
    cluster.cycle()
    cluster.observe(replace(cluster.workloads[Key("team/high")], active=False))
    cluster.rest()
    assert "team/low-1" in cluster.running()
    check_invariants(cluster.engine)


def test_queues_that_take_from_each_other_in_a_circle_come_to_rest() -> None:
    both = preemption(reclaim=PreemptionPolicy.ANY, borrow=PreemptionPolicy.LOWER_PRIORITY)
    queues = [
        cluster_queue("main", {"default": {"cpu": 8_000}}, cohort="all", preemption=both),
        cluster_queue("other", {"default": {"cpu": 4_000}}, cohort="all", preemption=both),
        cluster_queue("spare", {"default": {"cpu": quota(0)}}, cohort="all"),
    ]
    cluster = ObedientCluster(world(*queues))
    cluster.observe(workload("borrows", {"cpu": 10_000}, priority=2, created=5.0))
    cluster.rest()
    cluster.observe(workload("reclaims", {"cpu": 4_000}, local_queue="team/other"))
    cluster.rest()
    assert len(cluster.preemptions) <= 2
    check_invariants(cluster.engine)


def test_ends_of_other_work_do_not_preempt_a_victim_again_that_is_back_before_its_preemptor() -> (
    None
):
    lower = PreemptionPolicy.LOWER_PRIORITY
    policy = preemption(within=lower, reclaim=lower)
    queues = [
        cluster_queue(name, {"default": {"cpu": 3_000}}, cohort="all", preemption=policy)
        for name in ("main", "other", "third")
    ]
    cluster = ObedientCluster(world(*queues))
    cluster.observe(admitted("low", {"cpu": 2_000}))
    cluster.observe(
        admitted("borrows", {"cpu": 4_000}, queue="other", local_queue="team/other", created=1.0)
    )
    ends = [f"ends-{number}" for number in range(4)]
    cluster.observe(
        admitted(ends[0], {"cpu": 3_000}, queue="third", local_queue="team/third", created=2.0)
    )
    for name in ends[1:]:
        cluster.observe(workload(name, {"cpu": 3_000}, local_queue="team/third", created=2.5))
    cluster.observe(workload("high", {"cpu": 3_000}, priority=1, created=3.0))
    cluster.cycle()
    assert set(cluster.draining()) == {"team/low", "team/borrows"}
    cluster.drain(Key("team/low"))
    cluster.cycle()
    assert "team/low" in cluster.running(), "beside what is claimed there is room"
    for name in ends[:-1]:
        cluster.finish(Key(f"team/{name}"))
        cluster.cycle()
    assert cluster.draining() == ["team/borrows"], "it is not worth preempting again"
    cluster.drain(Key("team/borrows"))
    cluster.rest()
    assert {"team/high", "team/low"} <= set(cluster.running())
    check_invariants(cluster.engine)


def test_the_message_of_a_victim_names_its_preemptor() -> None:
    text = "Preempted to accommodate a workload (UID: 4b1f-2, JobUID: 77) due to reclamation"
    assert preemptor_of(text) == "4b1f-2"
    assert preemptor_of("Preempted by hand") is None


def test_a_preemptor_that_looks_at_its_flavors_again_has_its_turn_at_once() -> None:
    """In Kueue mode it is judged along with heads of other queues, out of its own turn."""
    reclaims = preemption(reclaim=PreemptionPolicy.ANY)
    ours = {
        "one": {"cpu": quota(3_000, borrowing=0)},
        "two": {"cpu": quota(2_000, borrowing=0)},
    }
    theirs = {"one": {"cpu": 5_000}, "two": {"cpu": 0}}
    queues = [
        cluster_queue("ours", ours, cohort="all", preemption=reclaims),
        cluster_queue("theirs", theirs, cohort="all"),
    ]
    kueue = Settings(compatibility=Compatibility.KUEUE)
    cluster = ObedientCluster(world(cluster_queues=queues), kueue)
    theirs_door = "team/theirs"
    borrower = {"cpu": 2_000}
    cluster.observe(
        admitted("borrower", borrower, queue="theirs", flavor="two", local_queue=theirs_door)
    )
    both = (pod_set({"cpu": 2_000}), pod_set({"cpu": 3_000}, name="second"))
    cluster.observe(workload("high", local_queue="team/ours", pod_sets=both))
    assert [type(one) for one in cluster.cycle().decisions].count(Preempt) == 1
    cluster.observe(workload("neighbour", local_queue=theirs_door))
    cluster.cycle()
    assert "team/neighbour" in cluster.running()
    check_invariants(cluster.engine)


def test_the_low_priority_that_borrows_goes_though_its_admission_is_not_stored_yet() -> None:
    reclaims = preemption(reclaim=PreemptionPolicy.ANY)
    queues = [
        cluster_queue(name, {"default": {"cpu": 4}}, cohort="all", preemption=reclaims)
        for name in ("own", "guest")
    ]
    engine = ObedientCluster(world(cluster_queues=queues)).engine
    engine.observe(admitted("high", {"cpu": 4}, queue="guest", priority=9))
    engine.observe(workload("borrower", {"cpu": 2}, local_queue="team/guest"))
    assert [one.workload for one in engine.cycle(3.0).decisions] == ["team/borrower"]
    engine.observe(workload("owner", {"cpu": 4}, local_queue="team/own"))
    victims = [one.workload for one in engine.cycle(4.0).decisions if isinstance(one, Preempt)]
    assert victims == ["team/borrower"]
