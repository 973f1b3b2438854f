"""What happens in virtual time, workload by workload."""

import random

from queueing.core.facts import Fact, PreemptionPolicy, StopPolicy, WorkloadFact
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.sim.simulation.arrivals import KnownLives
from queueing.sim.simulation.durations import fixed
from queueing.sim.simulation.runner import Simulation
from queueing.testing.builders import (
    admitted,
    check,
    check_rule,
    cluster_queue,
    flavor,
    local_queue,
    namespace,
    preemption,
    workload,
)
from queueing.testing.invariants import check_invariants


class Diary:
    """Writes down what happens, by time."""

    def __init__(self) -> None:
        self.lines: list[tuple[float, str, str]] = []

    def note(self, what: str, fact: WorkloadFact, now: float) -> None:
        self.lines.append((now, what, fact.key.partition("/")[2]))

    def came(self, fact: WorkloadFact, now: float) -> None:
        self.note("came", fact, now)

    def admitted(self, fact: WorkloadFact, now: float) -> None:
        self.note("admitted", fact, now)

    def evicted(self, fact: WorkloadFact, now: float) -> None:
        self.note("evicted", fact, now)

    def left(self, fact: WorkloadFact, now: float) -> None:
        self.note("left", fact, now)

    def ended(self, fact: WorkloadFact, now: float) -> None:
        self.note("ended", fact, now)


def simulation(
    diary: Diary,
    *queues: Fact,
    leaving: float = 30.0,
    runs: float = 100.0,
    known: dict[Key, float | None] | None = None,
) -> Simulation:
    lives = KnownLives(
        random.Random(1), others=fixed(runs), leaving=fixed(leaving), known=known or {}
    )
    made = Simulation.empty(Settings(), 0.0, lives=lives, watcher=diary)
    queue = queues or (cluster_queue(),)
    made.begin([namespace(), flavor(), *queue, local_queue()])
    return made


def coming(made: Simulation, at: float, fact: WorkloadFact) -> None:
    made.submit(at, fact)


def test_a_workload_is_admitted_when_it_comes_and_ends_when_it_has_run() -> None:
    diary = Diary()
    made = simulation(diary)
    coming(made, 5.0, workload("a"))
    made.run()
    assert diary.lines == [(5.0, "came", "a"), (5.0, "admitted", "a"), (105.0, "ended", "a")]


def test_who_does_not_fit_is_admitted_when_another_ends() -> None:
    diary = Diary()
    made = simulation(diary)
    coming(made, 0.0, workload("a", {"cpu": 10_000}))
    coming(made, 1.0, workload("b", {"cpu": 10_000}))
    made.run()
    assert (100.0, "admitted", "b") in diary.lines


def test_a_victim_gives_back_its_quota_when_its_pods_have_ended_and_runs_again() -> None:
    diary = Diary()
    made = simulation(
        diary, cluster_queue(preemption=preemption(within=PreemptionPolicy.LOWER_PRIORITY))
    )
    coming(made, 0.0, workload("low", {"cpu": 10_000}))
    coming(made, 10.0, workload("high", {"cpu": 10_000}, priority=9))
    made.run()
    assert diary.lines[2:] == [
        (10.0, "came", "high"),
        (10.0, "evicted", "low"),
        (40.0, "left", "low"),
        (40.0, "admitted", "high"),
        (140.0, "ended", "high"),
        (140.0, "admitted", "low"),
        (240.0, "ended", "low"),
    ]


def test_a_workload_ends_at_its_maximum_execution_time() -> None:
    diary = Diary()
    made = simulation(diary)
    coming(made, 0.0, workload("a", max_execution_s=7))
    made.run()
    assert diary.lines[-1] == (7.0, "ended", "a")


def test_a_workload_that_runs_again_has_only_the_rest_of_its_maximum_execution_time() -> None:
    diary = Diary()
    made = simulation(
        diary, cluster_queue(preemption=preemption(within=PreemptionPolicy.LOWER_PRIORITY))
    )
    coming(made, 0.0, workload("low", {"cpu": 10_000}, max_execution_s=60))
    coming(made, 10.0, workload("high", {"cpu": 10_000}, priority=9))
    made.run()
    assert diary.lines[-2:] == [(140.0, "admitted", "low"), (160.0, "ended", "low")]


def test_who_runs_at_the_beginning_runs_for_the_rest_of_its_time() -> None:
    diary = Diary()
    made = simulation(diary)
    made.time.now = 60.0
    made.begin([admitted("old")])
    made.run()
    assert diary.lines[-1] == (100.0, "ended", "old")


def test_who_has_no_end_holds_its_quota_for_ever() -> None:
    diary = Diary()
    made = simulation(diary, known={Key("team/a"): None})
    coming(made, 0.0, workload("a", {"cpu": 10_000}))
    coming(made, 1.0, workload("b"))
    made.run()
    assert [line for line in diary.lines if line[2] == "b"] == [(1.0, "came", "b")]


def test_admission_checks_are_ready_at_once() -> None:
    diary = Diary()
    made = simulation(diary, check(), cluster_queue(checks=(check_rule(),)))
    coming(made, 0.0, workload("a"))
    made.run()
    assert diary.lines[-1] == (100.0, "ended", "a")


def test_a_queue_that_is_stopped_and_drained_evicts_its_workloads() -> None:
    diary = Diary()
    made = simulation(diary)
    coming(made, 0.0, workload("a"))
    made.change(20.0, cluster_queue(stop_policy=StopPolicy.HOLD_AND_DRAIN))
    made.run()
    assert diary.lines[2:] == [(20.0, "evicted", "a"), (50.0, "left", "a")]


def test_the_same_facts_and_seed_give_the_same_life() -> None:
    lives = []
    for _ in range(2):
        diary = Diary()
        made = simulation(diary, known={})
        chance = random.Random(7)
        for number in range(60):
            coming(
                made,
                chance.uniform(0, 500),
                workload(f"w{number}", {"cpu": chance.choice((1_000, 4_000))}),
            )
        made.run()
        check_invariants(made.cluster.engine)
        lives.append(diary.lines)
    assert lives[0] == lives[1]
    assert sum(what == "ended" for _, what, _ in lives[0]) == 60
