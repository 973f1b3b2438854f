"""What is written down of one moment, and read again."""

from dataclasses import replace

import pytest

from queueing.core.facts import Gone, Kind, WorkloadFact
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.recording import snapshot
from queueing.recording.lines import RecordingError, header
from queueing.recording.run_times import GROUPS_MAX, KEPT, RunTimes, groups
from queueing.state.engine import Engine
from queueing.testing.builders import (
    admitted,
    cluster_queue,
    condition,
    flavor,
    local_queue,
    namespace,
    workload,
)


def engine() -> Engine:
    made = Engine(Settings())
    for fact in (
        namespace(),
        flavor(),
        cluster_queue(),
        local_queue(),
        cluster_queue("other"),
        local_queue("team/other", "other"),
        admitted("runs"),
        workload("waits", {"cpu": 10_000}),
        workload("elsewhere", local_queue="team/other"),
    ):
        made.observe(fact)
    made.cycle(1.0)
    return made


def test_a_snapshot_holds_the_tree_of_a_waiting_workload_and_nothing_of_others() -> None:
    memory = engine().memory
    facts = snapshot.facts_around(memory, Key("team/waits"))
    assert facts is not None
    text = snapshot.beginning(memory.settings, 7.0) + snapshot.lines(facts)
    settings, now, read = snapshot.read_snapshot(iter(text.encode().splitlines(True)), "it")
    assert (settings, now, read) == (memory.settings, 7.0, facts)
    names = {getattr(one, "key", getattr(one, "name", "")) for one in read}
    assert {"team/runs", "team/waits", "main", "default"} <= names
    assert not {"other", "team/other", "team/elsewhere"} & names


def test_who_does_not_wait_has_no_snapshot() -> None:
    assert snapshot.facts_around(engine().memory, Key("team/runs")) is None
    assert snapshot.facts_around(engine().memory, Key("team/nobody")) is None


def test_a_tree_that_is_too_large_has_no_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "WORKLOADS_MAX", 1)
    assert snapshot.facts_around(engine().memory, Key("team/waits")) is None


def test_finished_workloads_make_no_tree_too_large_and_the_latest_are_in_its_snapshot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(snapshot, "WORKLOADS_MAX", 2)
    monkeypatch.setattr(snapshot, "ENDED_MAX", 2)
    made = engine()
    for number in (3, 1, 4, 2):
        done = condition("Finished", changed=float(number))
        made.observe(replace(workload(f"ended-{number}"), conditions={"Finished": done}))
    facts = snapshot.facts_around(made.memory, Key("team/waits"))
    assert facts is not None
    keys = [one.key for one in facts if isinstance(one, WorkloadFact)]
    assert keys == ["team/runs", "team/waits", "team/ended-4", "team/ended-3"]


def test_a_queue_of_the_cohort_that_was_just_deleted_is_not_in_a_snapshot() -> None:
    made = Engine(Settings())
    for fact in (
        namespace(),
        flavor(),
        cluster_queue(cohort="all"),
        cluster_queue("other", cohort="all"),
        local_queue(),
        workload("waits", {"cpu": 1_000_000}),
    ):
        made.observe(fact)
    made.cycle(1.0)
    made.observe(Gone(Kind.CLUSTER_QUEUE, "other"))
    facts = snapshot.facts_around(made.memory, Key("team/waits"))
    assert facts is not None
    names = {getattr(one, "name", "") for one in facts}
    assert "main" in names
    assert "other" not in names


def test_a_recording_of_decisions_is_no_snapshot() -> None:
    text = header() + '{"sweep":1,"gave":0}\n'
    with pytest.raises(RecordingError, match="is not of a snapshot"):
        snapshot.read_snapshot(iter(text.encode().splitlines(True)), "it")
    with pytest.raises(RecordingError, match="does not say settings and moment"):
        snapshot.read_snapshot(iter([header().encode()]), "it")


def test_run_times_are_kept_by_queue_and_shape_and_are_few() -> None:
    times = RunTimes()
    like = admitted("like")
    for number in range(2 * KEPT):
        done = condition("Finished", changed=float(number))
        times.note(replace(like, conditions={**like.conditions, "Finished": done}))
    assert list(times.of_group(next(groups(like)))) == [float(one) for one in range(KEPT, 2 * KEPT)]
    for number in range(GROUPS_MAX):
        times.add(workload(f"w{number}", {"cpu": number + 1}), 1.0)
    assert len(times) == GROUPS_MAX
    assert not times.of_group(next(groups(like)))


def test_who_never_ran_tells_nothing() -> None:
    done = condition("Finished", changed=9.0)
    times = RunTimes.of([replace(workload("w"), conditions={"Finished": done})])
    assert len(times) == 0
