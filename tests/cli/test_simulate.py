"""`queueing simulate`, as people type it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from queueing.cli import live
from queueing.cli.main import cli
from queueing.cli.simulate.settings import Options, studies_of
from queueing.core.facts import Fact, Gone, Kind
from queueing.core.settings import Compatibility, Settings
from queueing.recording.codec import CodecError
from queueing.recording.lines import header
from queueing.recording.recorder import RecordedEngine
from queueing.testing.builders import (
    admitted,
    cluster_queue,
    condition,
    flavor,
    local_queue,
    namespace,
)
from tests.cli.manifests import BREAK, queues

LOAD = """\
apiVersion: simulation.queueing.dev/v1alpha1
kind: Simulation
metadata: {name: load}
spec:
  classes:
  - name: train
    queue: team/main
    count: 4
    requests: {cpu: 2}
    runs: 1h
"""
NOW = "2026-01-01T00:00:00Z"
SWF = "1 0 0 60 2 -1 -1 2 100 -1 1 1 1 -1 1 -1 -1 -1\n"


def scenario(tmp_path: Path, name: str = "load.yaml", cpu: int = 4, load: str = LOAD) -> str:
    path = tmp_path / name
    path.write_text(load + BREAK + queues("a", cpu, "main"))
    return str(path)


def typed(*words: str) -> Result:
    begins = [] if any(".jsonl" in one for one in words) else ["--now", NOW]
    return CliRunner().invoke(cli, ["simulate", *words, *begins])


def report(*words: str) -> Any:
    result = typed(*words, "-o", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_waits_shares_and_utilisation_are_those_that_can_be_worked_out_by_hand(
    tmp_path: Path,
) -> None:
    (run,) = report(scenario(tmp_path))["runs"]
    assert (run["workloads"], run["finished"], run["waiting"]) == (4, 4, 0)
    assert run["seconds"] == 7200
    assert run["waits"] == {"count": 4, "mean": 1800, "p50": 0, "p90": 3600, "longest": 3600}
    (use,) = run["uses"]
    assert (use["nominal"], use["mean"], use["peak"]) == ("4", "4", "4")
    assert use["utilisation"] == pytest.approx(1.0)
    assert run["ends"] == "2026-01-01T02:00:00Z"


def test_the_same_scenario_gives_the_same_report_to_the_byte(tmp_path: Path) -> None:
    load = LOAD.replace("runs: 1h", "runs: {exponential: 1h}\n    every: {uniform: [1m, 1h]}")
    path = scenario(tmp_path, load=load)
    first, second = (typed(path, "-o", "json").stdout for _ in range(2))
    assert first == second
    assert typed(path, "-o", "json", "--seed", "2").stdout != first


def test_two_settings_are_told_side_by_side(tmp_path: Path) -> None:
    result = typed(scenario(tmp_path), "--against", scenario(tmp_path, "more.yaml", cpu=8))
    assert result.exit_code == 0, result.output
    longest = next(line for line in result.output.splitlines() if line.startswith("Longest"))
    assert longest.split()[-2:] == ["1h", "0s"]


def test_a_page_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert typed(scenario(tmp_path), "--page", str(path)).exit_code == 0
    text = path.read_text()
    assert text.startswith("<!doctype html>")
    assert text.count("<svg") == 4
    assert not [one for one in ("http", "<script", "url(", "@import", "src=") if one in text]


def test_a_trace_alone_runs_on_a_queue_of_its_size(tmp_path: Path) -> None:
    path = tmp_path / "cluster.swf"
    path.write_text(SWF + SWF.replace("1 0", "2 0", 1))
    (run,) = report("--trace", str(path))["runs"]
    assert (run["finished"], run["waits"]["longest"]) == (2, 60)


def test_the_manifests_workloads_run_as_long_as_the_scenario_says(tmp_path: Path) -> None:
    job = """
---
apiVersion: batch/v1
kind: Job
metadata: {name: one, namespace: team, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]
"""
    head = LOAD.partition("  classes:")[0].replace("spec:", "spec:\n  runs: 10m")
    path = tmp_path / "job.yaml"
    path.write_text(head + BREAK + queues("a", 4, "main") + job)
    (run,) = report(str(path))["runs"]
    assert (run["workloads"], run["finished"], run["seconds"]) == (1, 1, 600)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("runs: 1h", "runs: soon", ":10: spec.classes[0].runs: must be a duration such as 90s"),
        ("runs: 1h", "runs: {normal: 1h}", "spec.classes[0].runs: must be a duration"),
        ("runs: 1h", "runs: {lognormal: {median: 1h, sigma: .nan}}", ".runs: must be a duration"),
        ("runs: 1h", "runs: {lognormal: {median: 1h, sigma: 1000}}", ".runs: must be a duration"),
        ("runs: 1h", "runs: 99999999999h", ".runs: must be a duration"),
        ("count: 4", "count: four", ":8: spec.classes[0].count: Expected `int`, got `str`"),
        ("count: 4", "number: 4", "spec.classes[0]: contains unknown field `number`"),
        ("cpu: 2", "cpu: two", "spec.classes[0].requests.cpu:"),
        ("team/main", "main", "spec.classes[0].queue: 'main' must be namespace/name"),
        ("team/main", "team/other", "no LocalQueue team/other; those there are: team/main"),
        ("v1alpha1", "v1", "apiVersion: must be simulation.queueing.dev/v1alpha1"),
        ("count: 4", "count: 0", "no workload comes"),
    ],
)
def test_what_cannot_be_used_is_told_with_its_place(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    result = typed(scenario(tmp_path, load=LOAD.replace(old, new)))
    assert result.exit_code == 2
    assert said in result.output


def test_what_would_happen_after_the_year_9999_does_not(tmp_path: Path) -> None:
    load = LOAD.replace("runs: 1h", "runs: 876600h").replace("count: 4", "count: 400")
    (run,) = report(scenario(tmp_path, load=load))["runs"]
    assert 0 < run["finished"] < 400
    assert run["ends"] < "9999-12-31T23:59:59Z"


@pytest.mark.parametrize("length", ["infd", "nand", "-1d", "99999d", "soon"])
def test_a_past_that_is_no_length_of_time_is_a_wrong_use(length: str) -> None:
    result = typed("--from-cluster", length)
    assert result.exit_code == 2
    assert "is not a length of time; write it like 7d or 12h" in result.output


def test_two_classes_whose_workloads_would_have_the_same_names_are_refused(tmp_path: Path) -> None:
    one = LOAD.partition("  classes:\n")[2].replace("train", "a-b").replace("team/main", "team/c")
    other = one.replace("a-b", "a").replace("team/c", "team/b-c")
    head = LOAD.partition("  - name")[0]
    result = typed(scenario(tmp_path, load=head + one + other))
    assert result.exit_code == 2
    assert ":11: spec.classes[1].name: its workloads are named as those of 'a-b'" in result.output
    again = typed(scenario(tmp_path, load=head + one + one))
    assert ":11: spec.classes[1].name: 'a-b' is already a class of team/c" in again.output


def test_a_trace_in_a_scenario_that_does_not_say_where_its_jobs_go_is_told_how(
    tmp_path: Path,
) -> None:
    path = tmp_path / "cluster.swf"
    path.write_text(SWF)
    result = typed(scenario(tmp_path), "--trace", str(path))
    assert result.exit_code == 2
    assert "spec: {trace: {queue: NAMESPACE/LOCALQUEUE}}" in result.output


def test_nothing_to_simulate_is_a_wrong_use(tmp_path: Path) -> None:
    assert typed().exit_code == 2


def recorded(path: Path, *more: Fact, settings: Settings | None = None) -> str:
    """Write a recording of two workloads, one after the other in a queue for one."""
    lines = [header()]

    def fail(error: CodecError) -> None:
        raise error

    engine = RecordedEngine(settings or Settings(), lines.append, fail)
    for fact in (namespace(), flavor(), cluster_queue(), local_queue(), *more):
        engine.observe(fact)
    for name, begins in (("one", 10.0), ("two", 20.0)):
        made = replace(admitted(name, {"cpu": 10_000}), created=begins)
        held = {one: replace(found, changed=begins) for one, found in made.conditions.items()}
        held["Finished"] = condition("Finished", changed=begins + 100.0)
        engine.observe(replace(made, conditions=held))
    path.write_text("".join(lines))
    return str(path)


def test_a_recording_is_a_load_with_the_queues_that_it_saw(tmp_path: Path) -> None:
    (run,) = report("--trace", recorded(tmp_path / "life.jsonl"))["runs"]
    assert (run["workloads"], run["finished"], run["waits"]["longest"]) == (2, 2, 90)


@pytest.mark.parametrize(
    ("given", "decided"),
    [(None, Compatibility.KUEUE), (Compatibility.QUEUEING, Compatibility.QUEUEING)],
)
def test_a_recording_is_decided_as_it_was_unless_told_otherwise(
    tmp_path: Path, given: Compatibility | None, decided: Compatibility
) -> None:
    settings = Settings(compatibility=Compatibility.KUEUE)
    asked = Options(
        now=0.0,
        seed=None,
        compatibility=given,
        config=None,
        trace=recorded(tmp_path / "life.jsonl", settings=settings),
        skip_broken=False,
        past_s=None,
        kubeconfig=None,
        context=None,
    )
    (study,) = studies_of([None], asked)
    assert study.settings.compatibility is decided


def test_two_scenarios_are_laid_over_one_reading_of_the_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = queues("a", 4, "main", namespace="default")
    reads: list[str | None] = []

    def read(kubeconfig: str | None, _context: str | None) -> str:
        reads.append(kubeconfig)
        return objects

    monkeypatch.setattr(live, "read_cluster", read)
    own = BREAK + queues("a", 8, "main").replace(", namespace: team", "")  # which means `default`
    today, tomorrow = tmp_path / "today.yaml", tmp_path / "tomorrow.yaml"
    today.write_text(LOAD.replace("team/main", "default/main"))
    tomorrow.write_text(today.read_text() + own)
    words = ("--from-cluster", "7d", str(today), "--against", str(tomorrow))
    before, after = report(*words)["runs"]
    assert (before["waits"]["longest"], after["waits"]["longest"]) == (3600, 0)
    assert len(reads) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--trace", "life.jsonl", "--from-cluster", "7d"), "give one of them"),
        (("--trace", "life.jsonl", "--now", NOW), "leave out --now"),
        (("--trace", "life.jsonl.gz", "--config", "c.yaml"), "of the objects of a scenario"),
        (("--trace", "life.jsonl", "--skip-broken-lines"), "is of traces in .swf"),
        (("load.yaml", "--skip-broken-lines"), "is of traces in .swf"),
    ],
)
def test_what_would_not_be_heeded_is_refused(words: tuple[str, ...], said: str) -> None:
    result = typed(*words)
    assert result.exit_code == 2
    assert said in result.output


def test_what_was_deleted_while_it_was_recorded_is_not_there(tmp_path: Path) -> None:
    more = cluster_queue("other"), Gone(Kind.CLUSTER_QUEUE, "other")
    (run,) = report("--trace", recorded(tmp_path / "life.jsonl", *more))["runs"]
    assert [one["name"] for one in run["queues"]] == ["main"]


def test_who_came_to_a_queue_that_was_deleted_is_left_out_and_told(tmp_path: Path) -> None:
    trace = recorded(tmp_path / "life.jsonl", Gone(Kind.LOCAL_QUEUE, "team/main"))
    scenario(tmp_path)
    result = typed(str(tmp_path / "load.yaml"), "--trace", trace, "-o", "json")
    assert json.loads(result.stdout)["runs"][0]["workloads"] == 2 + 4
    result = typed("--trace", trace)
    assert result.exit_code == 2
    assert "2 workloads left out: no LocalQueue team/main" in result.stderr


def test_what_an_earlier_engine_was_told_is_not_there(tmp_path: Path) -> None:
    later = tmp_path / "later.jsonl"
    recorded(tmp_path / "life.jsonl", cluster_queue("other"))
    first = (tmp_path / "life.jsonl").read_text()
    recorded(later)
    later.write_text(first + "".join(later.read_text().splitlines(keepends=True)[1:]))
    (run,) = report("--trace", str(later))["runs"]
    assert [one["name"] for one in run["queues"]] == ["main"]


def test_a_recording_without_an_end_is_told(tmp_path: Path) -> None:
    path = tmp_path / "life.jsonl"
    path.write_text(header())
    result = typed("--trace", str(path))
    assert result.exit_code == 2
    assert "no workload ended while it was recorded" in result.output
