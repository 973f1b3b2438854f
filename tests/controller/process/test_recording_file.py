"""What of a recording outlives its process."""

from pathlib import Path

import pytest

from queueing.controller.process.recording_file import RecordingFile, before
from queueing.core.settings import Settings
from queueing.recording.lines import opened, read
from queueing.testing.builders import namespace


def events(path: Path) -> list[str]:
    with opened(str(path)) as source:
        return [one.event for one in read(source, str(path))]


@pytest.mark.parametrize("name", ["life.jsonl", "life.jsonl.gz"])
def test_what_was_flushed_can_be_read_though_the_process_was_killed(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    engine = (file := RecordingFile(path)).engine(Settings())
    for number in range(9):
        engine.observe(namespace(f"space-{number}"))
    file.flush()
    killed = tmp_path / f"killed-{name}"
    killed.write_bytes(path.read_bytes())
    file.close()
    assert events(killed) == ["begin", *["observe"] * 9]


@pytest.mark.parametrize(
    ("name", "earlier"),
    [
        ("life.jsonl", "life.1.jsonl"),
        ("my.life.jsonl.gz", "my.life.1.jsonl.gz"),
        ("life", "life.1"),
        ("life.txt.gz", "life.txt.1.gz"),
    ],
)
def test_the_recording_of_an_earlier_process_is_kept(
    tmp_path: Path, name: str, earlier: str
) -> None:
    path = tmp_path / name
    first = RecordingFile(path)
    first.engine(Settings())
    first.close()
    RecordingFile(path).close()
    assert before(path) == tmp_path / earlier
    assert events(before(path)) == ["begin"]
    assert events(path) == []
