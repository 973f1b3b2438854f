import json
import random
from collections import Counter
from dataclasses import replace
from functools import partial
from operator import itemgetter
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.virtual.__main__ import main
from bench.virtual.cores import Cores
from bench.virtual.holdings import Holdings
from bench.virtual.loads import LOADS, Load, Queue, Stream
from bench.virtual.report import Report
from bench.virtual.run import OverAdmittedError, World, live, run
from bench.virtual.slots import Slots
from bench.virtual.store import WATCH_S, Store, Write
from bench.virtual.tally import Past, Standing
from bench.virtual.trial import Trial
from queueing.controller.decisions.late_evictions import EVICTED_AFTER_S
from queueing.core.decisions import Admit, Preempt, PreemptionReason
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, QueueName
from queueing.core.settings import Compatibility
from queueing.sim.virtual_time import VirtualTime
from queueing.testing.builders import workload

QUEUE = Queue(name="queue", cohort="cohort", nominal=4)
LOW = Stream(
    queue="queue", name="low", priority=0, cpu=(4,), runs_s=100.0, every_s=0.0, count=1, leaves_s=30
)
HIGH = replace(LOW, name="high", priority=9, runs_s=5.0, start_s=10.0)
ONE_QUEUE = Load(queues=(QUEUE,), streams=(LOW, HIGH))
MODES = pytest.mark.parametrize("mode", list(Compatibility))


def trial(mode: Compatibility = Compatibility.QUEUEING, load: str = "A", seed: int = 1) -> Trial:
    return Trial(load=load, mode=mode, seed=seed, scale=0.02)


def past(world: World, name: str) -> Past:
    return next(one for one in world.tally.pasts.values() if one.stream.name == name)


def _admit(fact: WorkloadFact) -> Admit:
    queue = QueueName(QUEUE.name)
    return Admit(workload=fact.key, uid=fact.uid, cluster_queue=queue, pod_sets=())


def _preempt(victim: WorkloadFact, preemptor: WorkloadFact) -> Preempt:
    queue = QueueName(QUEUE.name)
    return Preempt(
        workload=victim.key,
        uid=victim.uid,
        cluster_queue=queue,
        preemptor=preemptor.key,
        preemptor_uid=preemptor.uid,
        preemptor_queue=queue,
        reason=PreemptionReason.IN_CLUSTER_QUEUE,
        preemptor_path="",
        victim_path="",
    )


def repeatable(found: Report) -> dict[str, float]:
    return {name: value for name, value in found.numbers.items() if "real CPU" not in name}


def test_a_job_gets_one_core_at_most_and_four_share_two() -> None:
    time = VirtualTime()
    cores, ended = Cores(time), list[float]()
    for _ in range(4):
        cores.run(1.0, lambda: ended.append(time.now))
    time.at(2.0, lambda _: cores.run(1.0, lambda: ended.append(time.now)))
    while time.step():
        pass
    assert ended == pytest.approx([2.0, 2.0, 2.0, 2.0, 3.0])
    assert cores.used_s == pytest.approx(5.0)


def test_a_write_is_stored_when_its_cpu_time_is_spent_and_told_a_moment_later() -> None:
    time, happened = VirtualTime(), list[tuple[str, float]]()
    store = Store(time, Cores(time), random.Random(1), factor=2.0)
    store.witness = lambda _, fact: happened.append((fact.key, time.now))
    store.watchers = [lambda fact, _: happened.append((f"{fact.key} is told", time.now))]
    store.write(Write.CREATE, lambda: store.put(workload("job")))
    while time.step():
        pass
    (stored, at), (told, later) = happened
    assert (stored, told) == ("team/job", "team/job is told")
    assert 0.7 * 0.011 <= at <= 1.3 * 0.011
    assert later == pytest.approx(at + WATCH_S)


def test_decisions_wait_for_a_slot_and_for_earlier_writes_of_the_same_workload() -> None:
    slots, begun = Slots(), list[str]()
    keys = [Key(f"team/{number}") for number in range(slots.most)]
    assert slots.hold(keys[0])
    assert not slots.hold(keys[0])
    for key in (*keys, Key("team/late")):
        slots.submit(key, partial(begun.append, key))
    assert begun == [*keys[1:], "team/late"]
    slots.let_go(keys[0])
    assert slots.all_taken
    slots.end(keys[1])
    assert begun[-1] == keys[0]


def test_there_is_no_room_while_only_a_few_decisions_could_be_written() -> None:
    slots = Slots()
    most = slots.room
    rooms = []
    for number in range(most):
        slots.submit(Key(str(number)), lambda: None)
        rooms.append(slots.room)
    assert rooms[0] == most - 1
    few = slots.most // 4
    assert rooms[-few:] == [0] * few


@MODES
def test_an_eviction_frees_quota_when_its_victim_has_left(mode: Compatibility) -> None:
    world = live(trial(mode), ONE_QUEUE)
    high, low = past(world, "high"), past(world, "low")
    late_s = EVICTED_AFTER_S if mode is Compatibility.QUEUEING else 0.0
    assert high.admitted == pytest.approx(40.1 + late_s, abs=0.1)
    assert low.evictions == 1
    assert low.ended == pytest.approx(145.3 + late_s, abs=0.3)
    assert world.tally.lost_s == pytest.approx(10.0 + late_s, abs=0.1)
    assert world.tally.left == 0


@pytest.mark.parametrize(("comes_s", "want"), [(1.0, 1), (3.0, 0)])
def test_an_eviction_is_avoidable_if_its_preemptor_waited_when_the_victim_was_admitted(
    comes_s: float, want: int
) -> None:
    tally = World(trial(), ONE_QUEUE).tally
    low, high = workload(LOW.key(0), {"cpu": 4_000}), workload(HIGH.key(0), {"cpu": 4_000})
    for fact, when in sorted([(low, 0.0), (high, comes_s)], key=itemgetter(1)):
        tally.time.now = when
        tally.witness(None, fact)
        tally.told(fact)
    tally.decided(_admit(low), began=2.0)
    tally.evicts(_preempt(low, high))
    assert (tally.evictions, tally.avoidable) == (1, want)


def test_quota_is_idle_only_while_somebody_waits_who_would_fit() -> None:
    outs, waits, holds = Standing.OUT.value, Standing.WAITS.value, Standing.HOLDS.value
    found = Holdings(Load(queues=(QUEUE,), streams=()))
    found.move("queue", 3, outs, waits, 1.0)
    found.move("queue", 3, waits, holds, 3.0)
    found.move("queue", 2, outs, waits, 3.0)
    found.pass_time(10.0)
    assert found.idle == pytest.approx(3 * 2.0)
    assert found.used == pytest.approx(3 * 7.0)


@pytest.mark.parametrize(("cores", "excess"), [(4, 0), (5, 1)])
def test_more_than_there_is_is_noticed(cores: int, excess: int) -> None:
    found = Holdings(Load(queues=(QUEUE,), streams=()))
    found.move("queue", cores, Standing.OUT.value, Standing.HOLDS.value, 0.0)
    assert found.excess == excess


def test_a_run_in_which_too_much_is_held_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Holdings, "excess", 1)
    with pytest.raises(OverAdmittedError, match="1 cores too many"):
        live(trial(), ONE_QUEUE)


@MODES
def test_a_trial_gives_the_same_numbers_again_and_another_seed_gives_others(
    mode: Compatibility,
) -> None:
    first, again, other = (run(trial(mode, seed=seed)) for seed in (1, 1, 2))
    assert repeatable(first) == repeatable(again)
    assert first.classes == again.classes
    assert first.classes != other.classes


@MODES
def test_everybody_ends_also_when_leaders_change(mode: Compatibility) -> None:
    found = run(replace(trial(mode, load="I"), restart_every_s=3.0))
    assert found.numbers["starved"] == 0
    assert found.numbers["evictions"] > 0


def test_who_has_not_ended_in_time_is_starved() -> None:
    world = live(trial(), replace(ONE_QUEUE, limit_s=60.0))
    assert world.tally.left == 1
    assert past(world, "low").ended is None


def test_who_fits_in_no_queue_is_not_waited_for() -> None:
    never = replace(LOW, name="never", cpu=(5,))
    world = live(trial(), replace(ONE_QUEUE, streams=(*ONE_QUEUE.streams, never)))
    assert world.tally.left == 0
    assert past(world, "never").admitted is None


def test_a_victim_that_ends_while_its_eviction_is_written_is_not_evicted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bench.virtual.store.JITTER", 0.0)
    world = live(
        trial(), replace(ONE_QUEUE, streams=(replace(LOW, runs_s=9.985 + EVICTED_AFTER_S), HIGH))
    )
    assert (world.effort.refused, world.tally.evictions) == (1, 0)
    assert world.tally.left == 0


@pytest.mark.parametrize(
    ("name", "want"),
    [("A", 4_980), ("A-full", 15_000), ("C", 9_960), ("D", 530), ("F", 6_010), ("G", 680)],
)
def test_a_load_has_as_many_workloads_as_it_says(name: str, want: int) -> None:
    load = LOADS[name](random.Random(1))
    assert sum(one.count for one in load.streams) == want
    keys = Counter(one.key(number) for one in load.streams for number in range(one.count))
    assert set(keys.values()) == {1}


@pytest.mark.parametrize("name", sorted(set(LOADS) - {"A-full"}))
def test_every_load_can_be_run_in_small(name: str) -> None:
    found = run(trial(load=name))
    assert found.numbers["starved"] == 0
    assert found.numbers["judged"] > 0


def test_the_command_prints_a_table_and_writes_all_runs(tmp_path: Path) -> None:
    arguments = ["A", "--scale", "0.02", "--seeds", "3", "2", "--out", str(tmp_path)]
    told = CliRunner().invoke(main, arguments, catch_exceptions=False).output
    assert "A      Kueue" in told
    runs = json.loads((tmp_path / "virtual.json").read_text())["runs"]
    modes = ("Queueing", "Kueue")
    assert [(one["mode"], one["seed"]) for one in runs] == [(m, s) for m in modes for s in (3, 4)]
