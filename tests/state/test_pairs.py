"""No preemption is repeated until something changes from outside, so none goes in circles."""

from queueing.core.facts import PreemptionPolicy
from queueing.core.flavor_quotas import FlavorPolicy, Fungibility
from queueing.core.names import Key, Uid
from queueing.core.settings import Compatibility, Settings
from queueing.state.memory.pairs import Pairs
from queueing.testing.builders import cluster_queue, pod_set, preemption, quota, workload
from queueing.testing.invariants import check_invariants
from queueing.testing.obedient import ObedientCluster
from queueing.testing.worlds import world

ONE, TWO, THREE = Uid("one"), Uid("two"), Uid("three")


def test_a_pair_is_known_from_its_first_preemption_on() -> None:
    pairs = Pairs()
    pairs.note(ONE, TWO)
    assert pairs.victims_of(ONE) == {TWO}
    assert pairs.victims_of(TWO) == frozenset(), "the other way round it is another pair"


def test_a_preemption_that_was_not_carried_out_is_no_pair() -> None:
    pairs = Pairs()
    pairs.note(ONE, TWO)
    pairs.retract(ONE, TWO)
    assert pairs.victims_of(ONE) == frozenset()


def test_whoever_changes_is_in_no_pair_any_more() -> None:
    pairs = Pairs()
    for preemptor, victim in ((ONE, TWO), (TWO, THREE), (THREE, ONE)):
        pairs.note(preemptor, victim)
    pairs.forget(TWO)
    assert [pairs.victims_of(one) for one in (ONE, TWO, THREE)] == [set(), set(), {ONE}]


def test_the_pairs_of_some_can_be_kept_while_all_others_are_forgotten() -> None:
    pairs = Pairs()
    pairs.note(ONE, TWO)
    pairs.note(TWO, THREE)
    pairs.forget_but({TWO})
    assert [pairs.victims_of(one) for one in (ONE, TWO)] == [set(), {THREE}]


def a_circle(compatibility: Compatibility) -> ObedientCluster:
    """Return a cluster in which `owner` reclaims in one round what it cannot use in the next.

    Its workers need all of flavor one; in every other search its driver takes a part of that.
    """
    owner = cluster_queue(
        "owner",
        {"one": {"cpu": quota(6, borrowing=3)}, "two": {"cpu": quota(4, lending=0)}},
        cohort="all",
        fungibility=Fungibility(when_can_preempt=FlavorPolicy.MAY_STOP_SEARCH),
        preemption=preemption(reclaim=PreemptionPolicy.ANY),
    )
    guest = cluster_queue("guest", {"one": {"cpu": quota(0, borrowing=2)}}, cohort="all")
    facts = world(cluster_queues=[owner, guest])
    cluster = ObedientCluster(facts, Settings(compatibility=compatibility))
    pods = (
        pod_set({"cpu": 2}, name="driver"),
        pod_set({"cpu": 3}, 2, name="workers"),
        pod_set({"cpu": 1}, name="last"),
    )
    cluster.observe(workload("guest", {"cpu": 2}, local_queue="team/guest", created=1.0))
    cluster.cycle()
    cluster.observe(workload("owner", pod_sets=pods, local_queue="team/owner", created=2.0))
    return cluster


def test_two_who_are_in_each_others_way_come_to_rest() -> None:
    cluster = a_circle(Compatibility.QUEUEING)
    cluster.rest()
    assert len(cluster.preemptions) <= 1
    check_invariants(cluster.engine)


def test_an_owner_takes_back_its_quota_again_once_another_of_its_queue_has_ended() -> None:
    within = preemption(within=PreemptionPolicy.LOWER_PRIORITY, reclaim=PreemptionPolicy.ANY)
    owner = cluster_queue("owner", {"one": {"cpu": quota(10)}}, cohort="all", preemption=within)
    guest = cluster_queue("guest", {"one": {"cpu": quota(0, borrowing=10)}}, cohort="all")
    cluster = ObedientCluster(world(cluster_queues=[owner, guest]))
    arrivals = (("guest", "guest", 4, 0), ("first", "owner", 10, 1), ("urgent", "owner", 6, 2))
    for created, (name, queue, cpu, priority) in enumerate(arrivals):
        door = f"team/{queue}"
        cluster.observe(
            workload(
                name, {"cpu": cpu}, priority=priority, local_queue=door, created=float(created)
            )
        )
        cluster.rest()
    assert cluster.running() == [Key("team/guest"), Key("team/urgent")]
    cluster.finish(Key("team/urgent"))
    cluster.rest()
    assert cluster.running() == [Key("team/first")]
