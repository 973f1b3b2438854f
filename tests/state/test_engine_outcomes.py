"""Assumptions: charged until a fact tells, taken back when refused."""

from dataclasses import replace

import pytest

from queueing.core.decisions import Admit, Outcome, Verdict
from queueing.core.facts import Fact, Gone, Kind
from queueing.core.names import Key, QueueName, Uid
from queueing.reports import queues as reports
from queueing.state.engine import Engine
from queueing.testing.builders import admitted, cluster_queue, condition, workload
from queueing.testing.invariants import check_invariants
from queueing.testing.worlds import world

MAIN = QueueName("main")
JOB = workload("job", {"cpu": 10_000})
NEXT = workload("next", {"cpu": 10_000}, created=1.0)


def engine_that_admitted() -> tuple[Engine, Admit]:
    engine = Engine()
    for fact in world(cluster_queue(), JOB):
        engine.observe(fact)
    (admit,) = engine.cycle(1.0).decisions
    assert isinstance(admit, Admit)
    engine.observe(NEXT)
    return engine, admit


def admits(engine: Engine, now: float) -> list[Key]:
    return [one.workload for one in engine.cycle(now).decisions if isinstance(one, Admit)]


@pytest.mark.parametrize("verdict", [Verdict.DONE, Verdict.UNKNOWN])
def test_what_may_have_been_written_stays_charged(verdict: Verdict) -> None:
    engine, admit = engine_that_admitted()
    engine.settle(Outcome(decision=admit, verdict=verdict))
    assert admits(engine, 2.0) == []
    engine.observe(admitted("job", {"cpu": 10_000}))
    assert admits(engine, 3.0) == []
    check_invariants(engine)


def test_a_refused_admission_is_taken_back_and_tried_again() -> None:
    engine, admit = engine_that_admitted()
    engine.settle(Outcome(decision=admit, verdict=Verdict.REFUSED, message="conflict"))
    check_invariants(engine)
    assert admits(engine, 2.0) == ["team/job"]


def test_an_outcome_for_a_workload_that_is_gone_changes_nothing() -> None:
    engine, admit = engine_that_admitted()
    engine.observe(Gone(kind=Kind.WORKLOAD, name="team/job"))
    engine.settle(Outcome(decision=admit, verdict=Verdict.REFUSED))
    assert admits(engine, 2.0) == ["team/next"]
    check_invariants(engine)


def engine_refused_twice() -> Engine:
    engine, admit = engine_that_admitted()
    engine.settle(Outcome(decision=admit, verdict=Verdict.REFUSED))
    (again,) = engine.cycle(2.0).decisions[:1]
    assert isinstance(again, Admit)
    engine.settle(Outcome(decision=again, verdict=Verdict.REFUSED))
    return engine


def test_who_is_refused_again_and_again_is_held_back_and_others_go_first() -> None:
    engine = engine_refused_twice()
    cycle = engine.cycle(3.0)
    assert [one.workload for one in cycle.decisions if isinstance(one, Admit)] == ["team/next"]
    assert cycle.wake_at == 4.0
    check_invariants(engine)


def test_who_was_held_back_is_tried_again_when_its_time_has_come() -> None:
    engine = engine_refused_twice()
    engine.observe(Gone(Kind.WORKLOAD, NEXT.key))
    assert admits(engine, 3.0) == []
    assert admits(engine, 3.5) == []
    assert admits(engine, 4.0) == ["team/job"]


def test_after_an_unknown_outcome_the_next_fact_is_the_answer_even_if_it_is_the_old_one() -> None:
    engine, admit = engine_that_admitted()
    engine.settle(Outcome(decision=admit, verdict=Verdict.UNKNOWN))
    engine.observe(JOB)
    assert admits(engine, 2.0) == ["team/job"]
    check_invariants(engine)


def test_a_fact_from_before_the_write_does_not_undo_it() -> None:
    engine, admit = engine_that_admitted()
    engine.settle(Outcome(decision=admit, verdict=Verdict.DONE))
    told = condition("QuotaReserved", "WaitingForQuota", status=False)
    engine.observe(replace(JOB, conditions={"QuotaReserved": told}))
    assert admits(engine, 2.0) == []
    check_invariants(engine)


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(Gone(Kind.WORKLOAD, "team/job"), id="gone"),
        pytest.param(replace(JOB, active=False), id="deactivated"),
        pytest.param(replace(JOB, uid=Uid("another")), id="another of that name"),
        pytest.param(
            replace(JOB, conditions={"Finished": condition("Finished", "Failed")}), id="finished"
        ),
        pytest.param(
            replace(JOB, active=True, conditions={"Evicted": condition("Evicted", changed=9.0)}),
            id="evicted meanwhile",
        ),
    ],
)
def test_what_can_only_have_come_after_the_write_frees_the_quota(after: Fact) -> None:
    engine, admit = engine_that_admitted()
    engine.settle(Outcome(decision=admit, verdict=Verdict.DONE))
    engine.observe(after)
    check_invariants(engine)
    view = reports.cluster_queue(engine.memory, MAIN)
    assert view is not None
    assert view.reserving == 0
    assert len(admits(engine, 2.0)) == 1


def test_the_outcome_of_an_older_decision_changes_nothing() -> None:
    engine, admit = engine_that_admitted()
    engine.observe(admitted("job", {"cpu": 10_000}))
    engine.settle(Outcome(decision=admit, verdict=Verdict.REFUSED))
    assert admits(engine, 2.0) == []
    check_invariants(engine)


def test_an_admission_does_not_stand_once_somebody_else_evicted_its_workload() -> None:
    engine, admit = engine_that_admitted()
    assert engine.stands_by(admit)
    engine.observe(replace(JOB, conditions={"Evicted": condition("Evicted", "Deactivated")}))
    assert not engine.stands_by(admit)


def test_an_admission_does_not_stand_once_its_workload_asks_for_other_pods() -> None:
    engine, admit = engine_that_admitted()
    engine.observe(workload("job", {"cpu": 5_000}, 2))
    assert not engine.stands_by(admit)
    (anew,) = [one for one in engine.cycle(2.0).decisions if isinstance(one, Admit)]
    assert (anew.workload, anew.pod_sets[0].count) == ("team/job", 2)
    check_invariants(engine)
