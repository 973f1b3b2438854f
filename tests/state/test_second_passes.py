"""Workloads that hold quota are placed anew: what is charged until the status says so."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from queueing.core.decisions import Admit, Decision, Outcome, Place, Preempt, Strand, Verdict
from queueing.core.entries import Head
from queueing.core.facts import (
    Fact,
    Gone,
    Kind,
    NodeUsageFact,
    PreemptionPolicy,
    WorkloadFact,
)
from queueing.core.names import Key, PodSetName
from queueing.core.nomination import World
from queueing.core.second_pass import Attempt, second_pass
from queueing.core.settings import Compatibility, Settings
from queueing.core.topology.assignment import Assignment
from queueing.state.engine import Engine
from queueing.state.scheduler import second_passes
from queueing.testing.builders import (
    admitted,
    check_state,
    cluster_queue,
    condition,
    flavor,
    preemption,
    quota,
    workload,
)
from queueing.testing.invariants import check_invariants
from tests.state.hosts import CPU, QUEUE, node, on, used

PATIENT = [Settings(compatibility=one, evicts_unplaceable=False) for one in Compatibility]


def placed(name: str, cpu: int, failed: str, **pods: int) -> WorkloadFact:
    """Return an admitted workload of pods with so many cores on these nodes."""
    made = admitted(name, {"cpu": cpu * 1000}, queue="main", local_queue="team/main")
    assert made.admission is not None
    count = sum(pods.values())
    (held,) = made.admission.pod_sets
    held = replace(held, count=count, usage={CPU: cpu * count * 1000}, placement=on(**pods))
    return replace(
        made,
        pod_sets=(replace(made.pod_sets[0], count=count),),
        admission=replace(made.admission, pod_sets=(held,)),
        unhealthy=(failed,) if failed else (),
    )


OBJECTS: tuple[Fact, ...] = (*QUEUE, node("a", 2, schedulable=False), node("b", 2))


def started(settings: Settings, *facts: Fact) -> Engine:
    made = Engine(settings)
    for one in (*OBJECTS, *facts):
        made.observe(one)
    return made


@pytest.fixture(params=PATIENT, ids=[one.compatibility for one in PATIENT])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made = started(request.param, placed("w", 1, "a", a=2))
    yield made
    check_invariants(made)


def pass_of(engine: Engine, now: float = 1.0) -> Decision:
    (found,) = engine.cycle(now).decisions
    return found


def places(found: Decision) -> list[Assignment | None]:
    assert isinstance(found, Place)
    return [one.placement for one in found.pod_sets]


def told(engine: Engine, now: float) -> list[str]:
    return [f"{type(one).__name__} {one.workload}" for one in engine.cycle(now).decisions]


def test_what_was_placed_anew_is_taken_at_once(engine: Engine) -> None:
    assert places(pass_of(engine)) == [on(b=2)]
    engine.observe(workload("v", {"cpu": 1000}, local_queue="team/main"))
    assert told(engine, 2.0) == ["Wait team/v"]


def test_a_fact_from_before_the_write_does_not_give_the_new_places_back(engine: Engine) -> None:
    pass_of(engine)
    older = placed("w", 1, "a", a=2)
    conditions = {**older.conditions, "PodsReady": condition("PodsReady", status=False)}
    engine.observe(replace(older, conditions=conditions))
    engine.observe(workload("v", {"cpu": 1000}, local_queue="team/main"))
    assert told(engine, 2.0) == ["Wait team/v"]


def test_a_write_that_was_refused_is_tried_again_a_second_later(engine: Engine) -> None:
    first = pass_of(engine)
    assert isinstance(first, Place)
    engine.settle(Outcome(decision=first, verdict=Verdict.REFUSED))
    cycle = engine.cycle(1.5)
    assert (cycle.decisions, cycle.wake_at) == ((), 2.0)
    assert pass_of(engine, 2.0) == first


def test_a_write_of_unknown_outcome_is_decided_again_if_it_is_not_stored(engine: Engine) -> None:
    first = pass_of(engine)
    assert isinstance(first, Place)
    engine.settle(Outcome(decision=first, verdict=Verdict.UNKNOWN))
    assert told(engine, 40.0) == []
    engine.observe(placed("w", 1, "a", a=2))
    assert pass_of(engine, 41.0) == first


@pytest.mark.parametrize(
    "news",
    [
        pytest.param([placed("w", 1, "", a=2)], id="the node recovered"),
        pytest.param([placed("w", 1, "", a=2), placed("w", 1, "a", a=2)], id="and failed again"),
        pytest.param([placed("w", 1, "a", a=1)], id="it was resized"),
        pytest.param([Gone(Kind.WORKLOAD, "team/w")], id="it is gone"),
    ],
)
def test_a_decision_stands_until_another_fact_asks_anew(engine: Engine, news: list[Fact]) -> None:
    first = pass_of(engine)
    assert isinstance(first, Place)
    engine.observe(placed("w", 1, "a", a=2))
    assert engine.stands_by(first)
    for one in news:
        engine.observe(one)
    assert not engine.stands_by(first)


def test_a_fact_with_the_new_places_ends_it(engine: Engine) -> None:
    first = pass_of(engine)
    assert isinstance(first, Place)
    engine.settle(Outcome(decision=first, verdict=Verdict.DONE))
    engine.observe(placed("w", 1, "", b=2))
    cycle = engine.cycle(2.0)
    assert (cycle.decisions, cycle.wake_at) == ((), None)


def test_who_finds_no_place_is_tried_ever_later_and_when_there_is_room(engine: Engine) -> None:
    engine.observe(used("b", 1))
    assert isinstance(pass_of(engine), Strand)
    times = [1.0]
    for _ in range(6):
        wake_at = engine.cycle(times[-1]).wake_at
        assert wake_at is not None
        assert isinstance(pass_of(engine, wake_at), Strand)
        times.append(wake_at)
    assert [later - sooner for sooner, later in pairwise(times)] == [
        2.0,
        4.0,
        8.0,
        16.0,
        30.0,
        30.0,
    ]
    engine.observe(node("c", 0))
    assert told(engine, times[-1] + 1) == []
    engine.observe(NodeUsageFact(name="b", usage={}))
    assert places(pass_of(engine, times[-1] + 2)) == [on(b=2)]


def test_places_that_a_victim_uses_still_are_given_when_it_has_left() -> None:
    low, evicted = placed("low", 2, "", b=1), condition("Evicted", "Preempted")
    low = replace(low, conditions={**low.conditions, "Evicted": evicted})
    engine = started(Settings(), low, placed("w", 1, "a", a=2))
    found = pass_of(engine)
    assert isinstance(found, Strand)
    assert not found.evicts
    assert found.message == (
        "couldn't assign flavors to pod set main:"
        " workloads that are being evicted still use the nodes"
    )
    check_invariants(engine)
    engine.observe(Gone(Kind.WORKLOAD, "team/low"))
    assert places(pass_of(engine, 1.5)) == [on(b=2)]
    check_invariants(engine)


def test_who_found_no_place_is_tried_when_one_of_its_flavors_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []

    def counted(head: Head, world: World) -> Attempt:
        tried.append(head.workload.key)
        return second_pass(head, world)

    monkeypatch.setattr(second_passes, "second_pass", counted)
    engine = started(PATIENT[0], placed("w", 1, "a", a=2), placed("near", 1, "", b=1))
    for name, pool, made in (("default", "near", node("b", 2)), ("far", "far", node("away", 4))):
        engine.observe(flavor(name, topology="hosts", labels={"pool": pool}))
        engine.observe(replace(made, labels={**made.labels, "pool": pool}))
    engine.observe(replace(placed("distant", 1, "", away=1), local_queue=None))
    assert told(engine, 1.0) == ["Strand team/w"]
    engine.observe(Gone(Kind.WORKLOAD, "team/distant"))
    engine.cycle(1.1)
    assert tried == ["team/w"]
    engine.observe(Gone(Kind.WORKLOAD, "team/near"))
    assert told(engine, 1.2) == ["Place team/w"]


def test_what_stays_is_not_asked_of_a_full_node_again() -> None:
    full = placed("w", 1, "a", a=1, b=1)
    engine = started(Settings(), full, used("b", 1))
    engine.observe(node("c", 1))
    assert places(pass_of(engine)) == [on(b=1, c=1)]


@pytest.mark.parametrize("mode", list(Compatibility))
def test_an_admission_of_pod_sets_that_there_are_not_is_told_of_and_tried_again(
    mode: Compatibility,
) -> None:
    w = placed("w", 1, "", b=1)
    assert w.admission is not None
    (held,) = w.admission.pod_sets
    held = replace(held, name=PodSetName("other"), placement=None, delayed=True)
    reserved = {name: one for name, one in w.conditions.items() if name != "Admitted"}
    w = replace(w, admission=replace(w.admission, pod_sets=(held,)), conditions=reserved)
    engine = started(Settings(compatibility=mode), replace(w, checks=(check_state(),)))
    cycle = engine.cycle(1.0)
    (found,) = cycle.decisions
    assert isinstance(found, Strand)
    assert found.message.endswith("pod set other: no such pod set in the Workload")
    assert cycle.wake_at == 3.0
    check_invariants(engine)


def test_a_node_that_recovers_ends_the_search(engine: Engine) -> None:
    engine.observe(Gone(Kind.NODE, "b"))
    assert isinstance(pass_of(engine), Strand)
    engine.observe(node("a", 2))
    engine.observe(placed("w", 1, "", a=2))
    cycle = engine.cycle(100.0)
    assert (cycle.decisions, cycle.wake_at) == ((), None)


@pytest.mark.parametrize("settings", PATIENT, ids=[one.compatibility for one in PATIENT])
def test_who_is_being_evicted_makes_no_cycle_due(settings: Settings) -> None:
    lower = preemption(within=PreemptionPolicy.LOWER_PRIORITY)
    queue = cluster_queue("main", {"default": {"cpu": quota(2_000)}}, preemption=lower)
    engine = started(settings, placed("w", 1, "a", a=2), queue, node("b", 1))
    assert told(engine, 1.0) == ["Strand team/w"]
    engine.observe(replace(workload("v", {"cpu": 1000}, local_queue="team/main"), priority=9))
    (evicted,) = (one for one in engine.cycle(2.0).decisions if isinstance(one, Preempt))
    cycle = engine.cycle(60.0)
    assert (cycle.decisions, cycle.wake_at) == ((), None)
    engine.settle(Outcome(decision=evicted, verdict=Verdict.REFUSED))
    assert "Strand team/w" in told(engine, 61.0)


@pytest.mark.parametrize("mode", list(Compatibility))
def test_who_finds_no_place_and_may_not_wait_is_told_to_leave_once(mode: Compatibility) -> None:
    engine = started(Settings(compatibility=mode), placed("w", 1, "a", a=2), Gone(Kind.NODE, "b"))
    found = pass_of(engine)
    assert isinstance(found, Strand)
    assert found.evicts
    assert told(engine, 60.0) == []
    engine.settle(Outcome(decision=found, verdict=Verdict.REFUSED))
    assert pass_of(engine, 61.0) == found
    check_invariants(engine)


@pytest.mark.parametrize("mode", list(Compatibility))
def test_a_workload_of_one_pod_keeps_its_place(mode: Compatibility) -> None:
    alone = replace(placed("w", 1, "a", a=2), is_one_pod=True)
    assert places(pass_of(started(Settings(compatibility=mode), alone))) == [on(a=2)]
    moves = Settings(compatibility=mode, keeps_places_of_pods=False)
    assert places(pass_of(started(moves, alone))) == [on(b=2)]


def limited(cpu: int) -> Fact:
    """Return the queue with so many millicores, which preempts lower priorities."""
    policy = preemption(within=PreemptionPolicy.LOWER_PRIORITY)
    return cluster_queue("main", {"default": {"cpu": quota(cpu)}}, preemption=policy)


LOWER = limited(100_000)
LATE = Key("team/late")


def awaiting(name: str, pods: int, *, priority: int = 5) -> WorkloadFact:
    """Return a workload whose checks are Ready and whose pods of a core have no places yet."""
    made = placed(name, 1, "", b=pods)
    assert made.admission is not None
    (held,) = made.admission.pod_sets
    held = replace(held, placement=None, delayed=True)
    reserved = {name: one for name, one in made.conditions.items() if name != "Admitted"}
    admission = replace(made.admission, pod_sets=(held,))
    made = replace(made, admission=admission, conditions=reserved, checks=(check_state(),))
    return replace(made, priority=priority)


def leaving(fact: WorkloadFact) -> WorkloadFact:
    evicted = condition("Evicted", "Preempted")
    return replace(fact, conditions={**fact.conditions, "Evicted": evicted})


LOW = placed("low", 1, "", b=1)
NO_ROOM = (
    'couldn\'t assign flavors to pod set main: topology "hosts" allows to fit only 1 out of 2'
    " pod(s)"
)


@pytest.mark.parametrize("mode", list(Compatibility))
def test_first_places_are_preempted_for_if_need_be(mode: Compatibility) -> None:
    engine = started(Settings(compatibility=mode), LOWER, LOW, awaiting("w", 2))
    victim, waits = engine.cycle(1.0).decisions
    assert isinstance(victim, Preempt)
    assert (victim.workload, victim.preemptor, victim.reason) == (
        "team/low",
        "team/w",
        "InClusterQueue",
    )
    assert isinstance(waits, Strand)
    assert waits.message == f"{NO_ROOM}. Pending the preemption of 1 workload(s)"
    check_invariants(engine)
    engine.observe(leaving(LOW))
    assert told(engine, 1.5) == []
    check_invariants(engine)
    engine.observe(Gone(Kind.WORKLOAD, "team/low"))
    assert places(pass_of(engine, 2.0)) == [on(b=2)]
    check_invariants(engine)


@pytest.mark.parametrize("mode", list(Compatibility))
def test_nobody_is_placed_where_a_victim_still_runs_at_the_next_attempt(
    mode: Compatibility,
) -> None:
    engine = started(Settings(compatibility=mode), LOWER, LOW, awaiting("w", 2))
    engine.cycle(1.0)
    engine.observe(leaving(LOW))
    assert told(engine, 3.0)[-1] == "Strand team/w"
    check_invariants(engine)
    engine.observe(Gone(Kind.WORKLOAD, "team/low"))
    assert places(pass_of(engine, 4.0)) == [on(b=2)]


def test_a_victim_is_needed_as_long_as_a_second_pass_waits_for_its_place() -> None:
    engine = started(Settings(), LOWER, LOW, awaiting("w", 2))
    victim = next(one for one in engine.cycle(1.0).decisions if isinstance(one, Preempt))
    assert engine.stands_by(victim)
    engine.observe(Gone(Kind.WORKLOAD, "team/w"))
    assert not engine.stands_by(victim)


def test_a_victim_is_not_needed_while_who_waits_for_its_place_is_itself_a_victim() -> None:
    engine = started(Settings(), LOWER, LOW, awaiting("w", 2))
    victim = next(one for one in engine.cycle(1.0).decisions if isinstance(one, Preempt))
    engine.observe(limited(4_000))
    engine.observe(node("c", 3))
    engine.observe(replace(workload("high", {"cpu": 3000}, local_queue="team/main"), priority=9))
    second = next(one for one in engine.cycle(1.5).decisions if isinstance(one, Preempt))
    assert second.workload == "team/w"
    assert (engine.stands_by(victim), engine.stands_by(second)) == (False, True)
    engine.settle(Outcome(decision=second, verdict=Verdict.REFUSED))
    assert engine.stands_by(victim)


def test_nobody_takes_the_places_that_a_victim_leaves_to_a_second_pass() -> None:
    engine = started(Settings(), LOWER, LOW, awaiting("w", 2))
    engine.cycle(1.0)
    engine.observe(leaving(LOW))
    engine.observe(replace(workload("late", {"cpu": 1000}, local_queue="team/main"), priority=5))
    assert told(engine, 2.0) == ["Wait team/late"]
    check_invariants(engine)
    engine.observe(Gone(Kind.WORKLOAD, "team/low"))
    assert "Place team/w" in told(engine, 3.0)


@pytest.mark.parametrize("verdict", [Verdict.WITHDRAWN, Verdict.REFUSED])
def test_a_victim_that_is_spared_keeps_what_other_victims_leave_to_it(verdict: Verdict) -> None:
    """It waits for its place on b, and is itself chosen for its quota, but stays."""
    engine = started(Settings(), LOWER, LOW, awaiting("w", 2))
    engine.cycle(1.0)
    engine.observe(leaving(LOW))
    engine.observe(limited(3_000))
    engine.observe(node("c", 2))
    engine.observe(replace(workload("high", {"cpu": 2000}, local_queue="team/main"), priority=9))
    (evicted,) = (one for one in engine.cycle(1.5).decisions if isinstance(one, Preempt))
    assert evicted.workload == "team/w"
    engine.observe(Gone(Kind.WORKLOAD, "team/high"))
    engine.observe(Gone(Kind.NODE, "c"))
    engine.settle(Outcome(decision=evicted, verdict=verdict))
    check_invariants(engine)
    engine.observe(LOWER)
    engine.observe(replace(workload("late", {"cpu": 2000}, local_queue="team/main"), priority=1))
    assert "Wait team/late" in told(engine, 2.0)
    check_invariants(engine)
    engine.observe(Gone(Kind.WORKLOAD, "team/low"))
    assert told(engine, 4.0) == ["Place team/w", "Wait team/late"]
    check_invariants(engine)


def test_a_higher_priority_stops_a_second_pass_for_what_is_kept_for_it() -> None:
    engine = started(Settings(), LOWER, LOW, awaiting("w", 2))
    engine.cycle(1.0)
    engine.observe(leaving(LOW))
    engine.observe(replace(workload("late", {"cpu": 2000}, local_queue="team/main"), priority=9))
    assert told(engine, 2.0) == ["Preempt team/w", "Wait team/late"]
    check_invariants(engine)
    engine.observe(leaving(awaiting("w", 2)))
    engine.observe(Gone(Kind.WORKLOAD, "team/w"))
    assert told(engine, 3.0) == []
    engine.observe(Gone(Kind.WORKLOAD, "team/low"))
    assert told(engine, 4.0) == ["Admit team/late"]
    check_invariants(engine)


def test_a_victim_that_was_promised_a_place_is_stopped_for_that_place() -> None:
    """One pod of w is to go from a to c. Without w, c has two cores for high, and a none."""
    facts = (node("a", 2), node("c", 2), leaving(placed("low", 2, "", c=1)))
    w = replace(placed("w", 1, "a", a=1, b=1), priority=1)
    engine = started(Settings(evicts_unplaceable=False), LOWER, *facts, w, used("a", 2))
    engine.observe(used("b", 1))
    assert told(engine, 1.0) == ["Strand team/w"]
    engine.observe(replace(workload("high", {"cpu": 2000}, local_queue="team/main"), priority=9))
    assert told(engine, 1.5) == ["Preempt team/w", "Wait team/high"]
    check_invariants(engine)
    engine.observe(Gone(Kind.WORKLOAD, "team/low"))
    engine.observe(Gone(Kind.WORKLOAD, "team/w"))
    (found,) = engine.cycle(2.0).decisions
    assert isinstance(found, Admit)
    assert [one.placement for one in found.pod_sets] == [on(c=1)]
    check_invariants(engine)


@pytest.mark.parametrize(
    ("low", "queue", "more"),
    [
        pytest.param(replace(LOW, priority=5), LOWER, (), id="no lower priority"),
        pytest.param(LOW, QUEUE[3], (), id="no policy"),
        pytest.param(LOW, LOWER, (used("b", 1),), id="no room without all that is placed"),
    ],
)
@pytest.mark.parametrize("mode", list(Compatibility))
def test_nobody_is_preempted_for_first_places_in_vain(
    mode: Compatibility, low: WorkloadFact, queue: Fact, more: tuple[Fact, ...]
) -> None:
    engine = started(Settings(compatibility=mode), low, queue, awaiting("w", 2), *more)
    assert told(engine, 1.0) == ["Strand team/w"]
    check_invariants(engine)


def test_a_new_leader_keeps_what_victims_leave_to_a_second_pass() -> None:
    low = leaving(LOW)
    engine = started(Settings(), LOWER, low, awaiting("w", 2))
    engine.observe(workload("late", {"cpu": 1000}, local_queue="team/main"))
    assert told(engine, 1.0) == ["Strand team/w", "Wait team/late"]
    check_invariants(engine)
    engine.observe(Gone(Kind.WORKLOAD, "team/low"))
    assert "Place team/w" in told(engine, 2.0)


def test_what_is_kept_for_a_second_pass_is_free_when_it_is_stopped() -> None:
    engine = started(Settings(), LOWER, LOW, awaiting("w", 2))
    engine.cycle(1.0)
    engine.observe(leaving(LOW))
    engine.observe(leaving(awaiting("w", 2)))
    engine.observe(workload("late", {"cpu": 1000}, local_queue="team/main"))
    assert told(engine, 2.0) == ["Admit team/late"]
    check_invariants(engine)


def test_the_one_of_higher_priority_is_placed_first() -> None:
    low, high = placed("low", 1, "a", a=1), replace(placed("high", 2, "a", a=1), priority=5)
    engine = started(Settings(evicts_unplaceable=False), low, high)
    assert told(engine, 1.0) == ["Place team/high", "Strand team/low"]
    assert not any(isinstance(one, Admit) for one in engine.cycle(2.0).decisions)
    check_invariants(engine)
