"""A round may pause between heads: that changes no decision, and facts wait until it ends."""

from queueing.core.decisions import Admit, Cycle, Decision, Outcome, Verdict
from queueing.core.facts import Gone, Kind, PreemptionPolicy
from queueing.core.names import Key
from queueing.core.settings import FairSharing, Settings
from queueing.state.engine import Engine
from queueing.testing.builders import cluster_queue, preemption, workload
from queueing.testing.invariants import check_invariants
from queueing.testing.worlds import Deep, world

FAIR = Settings(fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare",)))
POLICIES = preemption(within=PreemptionPolicy.LOWER_PRIORITY, reclaim=PreemptionPolicy.ANY)


def decided(engine: Engine, *, pausing: bool) -> tuple[list[Decision], int]:
    """Run a whole cycle; return its decisions, and in how many calls."""
    found: list[Decision] = []
    for calls in range(1, 10_000):
        cycle = engine.cycle(1.0, pause=lambda: pausing)
        found += cycle.decisions
        if cycle.finished:
            return found, calls
    raise AssertionError("the cycle does not end")


def paused_in_a_round() -> tuple[Engine, Cycle]:
    """Return an engine that has judged the first of two heads."""
    engine = Engine()
    queues = [cluster_queue(name, cohort="all") for name in ("one", "two")]
    for fact in world(cluster_queues=queues):
        engine.observe(fact)
    for name in ("one", "two"):
        engine.observe(workload(name, local_queue=f"team/{name}"))
    return engine, engine.cycle(1.0, pause=lambda: True)


def tree_of(decision: Decision) -> int:
    """Return the number of the cohort: each has four queues."""
    return int(str(decision.cluster_queue).removeprefix("queue-")) // 4


def test_an_engine_that_pauses_after_each_head_decides_the_same_in_each_tree_in_order() -> None:
    found = []
    for pausing in (False, True):
        engine = Engine(FAIR)
        deep = Deep(queues=12, each=15, queues_per_cohort=4, shapes=30, preemption=POLICIES)
        for fact in (*deep.objects(), *deep.workloads()):
            engine.observe(fact)
        decisions, calls = decided(engine, pausing=pausing)
        assert (calls > 100) is pausing
        check_invariants(engine)
        found.append(sorted(decisions, key=tree_of))  # the trees may have taken turns
    assert found[0] == found[1]


def test_a_paused_cycle_says_that_it_goes_on() -> None:
    _, cycle = paused_in_a_round()
    assert (cycle.finished, cycle.decisions, cycle.wake_at) == (False, (), None)


def test_facts_that_come_in_a_round_wait_until_it_has_ended() -> None:
    engine, _ = paused_in_a_round()
    engine.observe(workload("late", local_queue="team/one"))
    engine.observe(Gone(Kind.WORKLOAD, "team/two"))
    assert sorted(engine.pending_keys()) == ["team/one", "team/two"]
    calls = (engine.cycle(1.0) for _ in range(9))
    first = next(cycle for cycle in calls if cycle.decisions)
    assert [one.workload for one in first.decisions] == ["team/one", "team/two"]
    assert engine.pending_keys() == ["team/late"]
    then, _ = decided(engine, pausing=False)
    assert [one.workload for one in then] == ["team/late"]
    check_invariants(engine)


def test_an_outcome_that_comes_in_a_round_counts_when_it_has_ended() -> None:
    engine = Engine()
    for fact in world(cluster_queue()):
        engine.observe(fact)
    engine.observe(workload("first"))
    (admit,) = engine.cycle(1.0).decisions
    assert isinstance(admit, Admit)
    engine.observe(workload("second"))
    engine.cycle(2.0, pause=lambda: True)
    engine.settle(Outcome(decision=admit, verdict=Verdict.REFUSED))
    assert engine.is_assumed(Key("team/first"))
    decided(engine, pausing=False)
    again, _ = decided(engine, pausing=False)
    assert [one.workload for one in again] == ["team/first"]
    check_invariants(engine)


def test_a_call_that_goes_on_with_a_round_pauses_by_its_own_wish() -> None:
    engine, _ = paused_in_a_round()
    assert engine.cycle(1.0, pause=lambda: False).finished


def test_nobody_is_swept_into_a_round_that_pauses() -> None:
    engine, _ = paused_in_a_round()
    assert engine.sweep(1) == 0
    assert engine.waiting(Key("team/one")) is not None
