"""`queueing replay`, as people type it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from queueing.cli.main import cli
from queueing.controller.process.recording_file import RecordingFile
from queueing.core.settings import Settings
from queueing.testing.builders import cluster_queue, flavor, local_queue, namespace, workload


def recording(path: Path) -> Path:
    """Write the recording of two workloads, of which one fits."""
    file = RecordingFile(path)
    engine = file.engine(Settings())
    for fact in (namespace(), flavor(), cluster_queue(), local_queue()):
        engine.observe(fact)
    for name in ("a", "b"):
        engine.observe(workload(name, {"cpu": 8_000}))
    engine.cycle(1.0)
    file.close()
    return path


@pytest.mark.parametrize("name", ["life.jsonl", "life.jsonl.gz"])
def test_a_recording_is_repeated_exactly(tmp_path: Path, name: str) -> None:
    path = recording(tmp_path / name)
    result = CliRunner().invoke(cli, ["replay", str(path), "--decisions"])
    assert result.exit_code == 0, result.output
    assert "Admit team/a into main" in result.output
    assert "Wait team/b: WaitingForQuota" in result.output
    assert result.output.endswith("1 admitted, 0 preempted. All is repeated exactly.\n")


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
