import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from queueing.cli.production.workplace import PREFIX, workplace

RUN = """\
import os, subprocess, sys
from queueing.cli.production.workplace import workplace
with workplace() as (folder, lock):
    (folder / "serving.sock").touch()
    waits = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    part = subprocess.Popen(waits, pass_fds=(lock,), stdin=sys.stdin)
    print(folder, flush=True)
    part.wait()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@contextmanager
def another_run(place: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """Start a run with one part, which ends when its standard input does."""
    with subprocess.Popen(
        [sys.executable, "-c", RUN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(place)},
    ) as run:
        assert run.stdout is not None
        yield run, Path(run.stdout.readline().decode().strip())


def end(run: subprocess.Popen[bytes]) -> None:
    """Have the part of a killed run end, too."""
    assert run.stdin is not None
    assert run.stdout is not None
    run.stdin.close()
    assert run.stdout.read() == b""  # the part had it open too: now it is gone


def until_gone(folder: Path) -> None:
    ends = time.monotonic() + 30
    while folder.exists():
        assert time.monotonic() < ends, f"{folder} is still there"
        time.sleep(0.01)


def test_a_folder_is_its_owners_alone_and_gone_at_the_end() -> None:
    with workplace() as (folder, _):
        (folder / "serving.sock").touch()
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()


def test_what_a_killed_run_left_is_cleared_by_the_next_one_when_its_parts_are_gone(
    place: Path,
) -> None:
    with another_run(place) as (run, left):
        with workplace():
            assert left.exists(), "a run that is at work keeps its folder"
        run.kill()
        run.wait(timeout=30)
        end(run)
    with workplace() as (folder, _):
        until_gone(left)
        assert list(place.iterdir()) == [folder]


def test_what_a_killed_run_left_is_cleared_as_soon_as_its_last_part_is_gone(place: Path) -> None:
    with another_run(place) as (run, left):
        run.kill()
        run.wait(timeout=30)
        with workplace() as (folder, _):
            assert left.exists(), "its part is still at work"
            end(run)
            until_gone(left)
            assert list(place.iterdir()) == [folder]


def test_what_only_looks_like_a_leftover_stays(place: Path) -> None:
    elsewhere = place / "precious"
    elsewhere.mkdir()
    (place / f"{PREFIX}link").symlink_to(elsewhere)
    (place / f"{PREFIX}file").touch()
    with workplace():
        pass
    names = {one.name for one in place.iterdir()}
    assert names == {"precious", f"{PREFIX}link", f"{PREFIX}file"}
