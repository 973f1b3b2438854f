"""`queueing replay`, as people type it."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from queueing.cli.main import cli
from queueing.controller.process.recording_file import RecordingFile
from queueing.core.facts import Fact, TopologyFact, WorkloadFact
from queueing.core.names import ResourceName
from queueing.core.settings import Settings
from queueing.core.topology.assignment import HOSTNAME, Assignment, Domain
from queueing.core.topology.tree import Node
from queueing.testing.builders import (
    admitted,
    cluster_queue,
    flavor,
    local_queue,
    namespace,
    workload,
)


def written(path: Path, facts: Iterable[Fact]) -> Path:
    """Write the recording of one cycle on facts."""
    file = RecordingFile(path)
    engine = file.engine(Settings())
    for fact in facts:
        engine.observe(fact)
    engine.cycle(1.0)
    file.close()
    return path


def recording(path: Path) -> Path:
    """Write the recording of two workloads, of which one fits."""
    asking = (workload(name, {"cpu": 8_000}) for name in ("a", "b"))
    return written(path, (namespace(), flavor(), cluster_queue(), local_queue(), *asking))


def node(name: str, *, schedulable: bool = True) -> Node:
    room = {ResourceName("cpu"): 2_000, ResourceName("pods"): 10}
    return Node(name=name, labels={HOSTNAME: name}, capacity=room, schedulable=schedulable)


def of_a_failed_node(name: str) -> WorkloadFact:
    """Return a workload of one pod on the node `lost`, which failed."""
    made = admitted(name, {"cpu": 2_000})
    assert made.admission is not None
    (held,) = made.admission.pod_sets
    held = replace(held, placement=Assignment((HOSTNAME,), (Domain(("lost",), 1),)))
    return replace(made, admission=replace(made.admission, pod_sets=(held,)), unhealthy=("lost",))


@pytest.mark.parametrize("name", ["life.jsonl", "life.jsonl.gz"])
def test_a_recording_is_repeated_exactly(tmp_path: Path, name: str) -> None:
    path = recording(tmp_path / name)
    result = CliRunner().invoke(cli, ["replay", str(path), "--decisions"])
    assert result.exit_code == 0, result.output
    assert "Admit team/a into main" in result.output
    assert "Wait team/b: WaitingForQuota" in result.output
    assert result.output.endswith("1 admitted, 0 preempted. All is repeated exactly.\n")


def test_second_passes_are_decisions_as_well(tmp_path: Path) -> None:
    facts: tuple[Fact, ...] = (
        namespace(),
        TopologyFact(name="hosts", levels=(HOSTNAME,)),
        flavor(topology="hosts"),
        cluster_queue(),
        local_queue(),
        node("lost", schedulable=False),
        node("spare"),
        *map(of_a_failed_node, ("a", "b")),
    )
    path = written(tmp_path / "life.jsonl", facts)
    result = CliRunner().invoke(cli, ["replay", str(path), "--decisions"])
    assert result.exit_code == 0, result.output
    assert "Place team/a in main, off lost\n" in result.output
    assert "Evict team/b: " in result.output


def test_an_answer_that_differs_is_told_with_its_line(tmp_path: Path) -> None:
    path = recording(tmp_path / "life.jsonl")
    path.write_text(path.read_text().replace('"judged":2', '"judged":3'))
    result = CliRunner().invoke(cli, ["replay", str(path), "-o", "json"])
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert (told["same"], told["differences"], told["first"]["line"]) == (False, 1, 9)


def test_a_file_that_is_no_recording_is_told(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text("{}\n")
    result = CliRunner().invoke(cli, ["replay", str(path)])
    assert result.exit_code == 2
    assert "is no recording" in result.output


def test_a_file_that_takes_no_more_ends_the_recording_and_nothing_else(tmp_path: Path) -> None:
    file = RecordingFile(Path("/dev/full"))
    engine = file.engine(Settings())
    for number in range(200):
        engine.observe(namespace(f"space-{number}" + "x" * 200))
    assert engine.cycle(1.0).finished
    file.close()
