"""Balances of namespaces that share a queue: nobody gains by making, moving or deleting."""

from queueing.core.credits.facts import HOUR
from queueing.core.facts import Gone, Kind
from queueing.core.names import QueueName
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    admitted,
    cohort,
    workload,
)
from queueing.testing.invariants import check_invariants
from tests.state.credits.shared_queue import (
    START,
    balances,
    door,
    end,
    lent_by_b,
    objects,
    policy,
    queue,
    run,
    runs,
    world,
)

LONG_AFTER = START + 10 * HOUR

# What people may try ----------------------------------------------------------------------------


def test_more_local_queues_in_a_namespace_change_nothing() -> None:
    made = lent_by_b()
    before = balances(made, START + 100)
    for number in range(5):
        made.observe(door("a", name=f"more{number}"))
    run(made, "a1", 1, at=START + 100, local_queue="a/more1")
    assert balances(made, START + 100) == before
    assert balances(made, START + 200) == {name: 2 * value for name, value in before.items()}


def test_debt_is_not_wiped_by_deleting_local_queues_nor_by_running_on_without_one() -> None:
    made = lent_by_b()
    assert balances(made, START + 100)["a"] == -450
    made.observe(Gone(Kind.LOCAL_QUEUE, "a/main"))
    assert balances(made, START + 100)["a"] == -450
    assert balances(made, START + 200)["a"] == -450 - 900, "it is entitled to nothing, and runs on"
    end(made, "a0", START + 200)
    made.cycle(START + 200)
    made.observe(door("a", name="again"))
    assert balances(made, START + 300)["a"] == -1350


def test_debt_survives_a_queue_that_is_deleted_and_made_again() -> None:
    made = lent_by_b()
    end(made, "a0", START + 100)
    made.cycle(START + 100)
    made.observe(Gone(Kind.WORKLOAD, "a/a0"))
    made.observe(Gone(Kind.CLUSTER_QUEUE, "q"))
    made.cycle(START + 110)
    made.observe(queue())
    assert balances(made, START + 120) == {"a": -450, "b": 450}


def test_debt_goes_along_to_another_queue_and_a_surplus_stays() -> None:
    made = lent_by_b()
    end(made, "a0", START + 100)
    made.cycle(START + 100)
    made.observe(queue("r"))
    for team in "ab":
        made.observe(Gone(Kind.LOCAL_QUEUE, f"{team}/main"))
        made.observe(door(team, "r"))
    assert balances(made, START + 101, "r") == {"a": -450, "b": 0}
    assert balances(made, START + 101) == {"a": 0, "b": 450}


def test_a_newcomer_does_not_start_with_what_others_earned() -> None:
    made = lent_by_b()
    made.cycle(START + 100)
    made.observe(door("c"))
    assert balances(made, START + 100) == {"a": -450, "b": 450, "c": 0}


def test_who_comes_and_goes_takes_nothing_from_others() -> None:
    made = lent_by_b()
    end(made, "a0", START + 100)
    made.cycle(START + 100)
    for turn in range(5):
        made.observe(door("c"))
        made.cycle(START + 101 + turn)
        made.observe(Gone(Kind.LOCAL_QUEUE, "c/main"))
    assert balances(made, START + 110) == {"a": -450, "b": 450, "c": 0}


def test_a_cut_of_the_queues_quota_shrinks_a_surplus_and_no_debt() -> None:
    made = lent_by_b()
    end(made, "a0", START + 100)
    made.cycle(START + 100)
    made.observe(queue(cores=3))
    assert balances(made, START + 100) == {"a": -450, "b": 150}


def test_flooding_counts_at_once() -> None:
    made = lent_by_b()
    later = START + HOUR
    end(made, "a0", later)
    made.cycle(later)
    for number in range(1, 10):
        for team in "ab":
            fact = workload(
                f"{team}/{team}{number}",
                {"cpu": 1000},
                local_queue=f"{team}/main",
                created=0 if team == "a" else later,
            )
            made.observe(fact)
    made.cycle(later + 1)
    check_invariants(made.engine)
    of_a = sum(name.startswith("a") for name in runs(made))
    assert (of_a, len(runs(made))) == (4, 9)


def test_when_the_policy_goes_turns_are_as_before() -> None:
    made = lent_by_b()
    made.cycle(START + HOUR)
    made.engine.observe(policy(orders_local_queues=False))
    run(made, "a1", 9, at=START + HOUR)
    run(made, "b1", 9, at=START + HOUR + 1)
    end(made, "a0", START + 2 * HOUR)
    made.cycle(START + 2 * HOUR)
    assert runs(made) == {"a1"}


def test_the_account_of_a_queue_and_of_a_cohort_of_its_name_are_apart() -> None:
    made = world(*objects("a", "b")[:-3], cohort("q"), queue(cohort="q"), door("a"), door("b"))
    names = [(one.name, one.cohort, one.queue) for one in made.engine.credits.accounts()]
    assert names == [("q", "q", None), ("clusterqueue.q", None, QueueName("q"))]


def long_gone() -> SimulatedCluster:
    """Make a queue that `a` left so long ago that its account is forgotten, debt and all."""
    made = world(*objects("a", "b"), terms=policy(half_life_s=HOUR))
    run(made, "a0", 9, at=START)
    made.observe(Gone(Kind.LOCAL_QUEUE, "a/main"))
    made.cycle(START + 10)
    end(made, "a0", START + 20)
    assert balances(made, LONG_AFTER).keys() == {"b"}
    return made


def test_a_queue_may_go_after_the_account_of_a_namespace_was_forgotten() -> None:
    made = long_gone()
    made.observe(Gone(Kind.CLUSTER_QUEUE, "q"))
    made.cycle(LONG_AFTER + 10)
    check_invariants(made.engine)


def test_who_was_forgotten_and_holds_quota_again_pays_again() -> None:
    """Nothing is admitted without a LocalQueue; this one is, by somebody else's status."""
    made = long_gone()
    made.observe(
        admitted("a/a1", {"cpu": 9000}, queue="q", local_queue="a/main", created=LONG_AFTER)
    )
    assert balances(made, LONG_AFTER + 100)["a"] < -800
