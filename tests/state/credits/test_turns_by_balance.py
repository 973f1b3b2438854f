"""Namespaces that share a queue: whose turn it is, and who is preempted."""

import pytest

from queueing.core.credits.facts import (
    HOUR,
)
from queueing.core.decisions import Preempt
from queueing.core.facts import PreemptionPolicy, Strategy
from queueing.core.settings import AdmissionFairSharing, Settings
from queueing.testing.builders import (
    preemption,
    workload,
)
from queueing.testing.invariants import check_invariants
from tests.state.credits.shared_queue import (
    START,
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


def test_who_lent_goes_first_until_it_holds_more_than_its_bent_weight_gives() -> None:
    made = lent_by_b()
    later = START + 4 * HOUR
    for number in range(1, 10):
        run(made, f"a{number}", 1, at=later - 100 + number)
    for number in range(1, 10):
        run(made, f"b{number}", 1, at=later - 50 + number)
    end(made, "a0", later)
    made.cycle(later)
    check_invariants(made.engine)
    of_b = sum(name.startswith("b") for name in runs(made))
    # Four hours of a debt of a whole part: 1 + held / part may be 2^(4/3) = 2.5 times as much.
    assert (of_b, len(runs(made))) == (8, 9)


def test_a_lender_who_holds_a_little_goes_before_a_debtor_who_holds_nothing() -> None:
    made = world(*objects("a", "b"))
    run(made, "a0", 8, at=START)
    run(made, "b0", 1, at=START)
    later = START + 4 * HOUR
    run(made, "a1", 8, at=later)
    run(made, "b1", 8, at=later + 1)
    end(made, "a0", later + 2)
    made.cycle(later + 2)
    assert runs(made) == {"b0", "b1"}


def test_who_lent_goes_first_also_where_everybody_wants_the_whole_queue() -> None:
    made = lent_by_b()
    run(made, "a1", 9, at=START + HOUR)
    run(made, "b1", 9, at=START + HOUR + 1)
    end(made, "a0", START + 2 * HOUR)
    made.cycle(START + 2 * HOUR)
    assert runs(made) == {"b1"}


def test_without_balances_it_is_the_order_of_before() -> None:
    made = world(*objects("a", "b"))
    for name in ("a1", "a2", "b1"):
        made.observe(
            workload(f"{name[0]}/{name}", {"cpu": 4000}, local_queue=f"{name[0]}/main", created=1)
        )
    made.cycle(START)
    assert runs(made) == {"a1", "a2"}


@pytest.mark.parametrize("usage_counts", [False, True])
def test_the_balance_stands_before_priority_as_usage_does(usage_counts: bool) -> None:
    history = AdmissionFairSharing(half_life_s=HOUR, sampling_interval_s=300.0)
    settings = Settings(admission_fair_sharing=history if usage_counts else None)
    made = world(*objects("a", "b"), settings=settings)
    run(made, "a0", 8, at=START)
    run(made, "a9", 1, at=START)
    run(made, "a1", 8, at=START + HOUR, priority=100)
    run(made, "b1", 8, at=START + HOUR + 1)
    end(made, "a0", START + 2 * HOUR)
    made.cycle(START + 2 * HOUR)
    assert runs(made) == {"a9", "b1"}


def test_a_strict_queue_waits_for_the_first_by_balance() -> None:
    strict = queue(strategy=Strategy.STRICT_FIFO)
    made = world(*objects("a", "b")[:-3], strict, door("a"), door("b"))
    run(made, "a0", 8, at=START)
    later = START + HOUR
    run(made, "b1", 4, at=later)
    run(made, "a1", 1, at=later + 1)
    assert runs(made) == {"a0"}, "one core is free, and b1, who lent, waits for four"


def test_victims_are_those_of_who_holds_most_for_its_bent_weight() -> None:
    within = preemption(within=PreemptionPolicy.LOWER_PRIORITY)
    made = world(*objects("a", "b")[:-3], queue(preemption=within), door("a"), door("b"))
    run(made, "a0", 8, at=START)
    later = START + HOUR
    end(made, "a0", later)
    made.cycle(later)
    run(made, "a1", 4, at=later + 1)
    run(made, "b1", 4, at=later + 2)
    made.observe(workload("c/c1", {"cpu": 4000}, local_queue="b/main", created=later, priority=10))
    cycle = made.cycle(later + 3)
    victims = [one.workload for one in cycle.decisions if isinstance(one, Preempt)]
    assert victims == ["a/a1"], "the newer b1 would go, were it not for the debt of a"


def test_the_engine_looks_again_when_balances_may_have_moved() -> None:
    made = lent_by_b()
    run(made, "a1", 9, at=START)
    cycle = made.engine.cycle(START + 1)
    assert cycle.wake_at is not None
    assert cycle.wake_at <= START + policy().horizon_s / 256 + 1
