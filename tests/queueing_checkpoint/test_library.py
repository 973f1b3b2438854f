"""The client library as users run it: in a process of its own."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from queueing_checkpoint import Saved, last_checkpoint
from queueing_checkpoint.messages import Notice
from tests.queueing_checkpoint.library_harness import (
    ASKED,
    WAIT_S,
    answer_in,
    environment,
    training,
    until,
)


def test_a_loop_that_is_asked_saves_answers_and_goes_on(tmp_path: Path) -> None:
    process = training(tmp_path, QUEUEING_CHECKPOINT_DIR=str(tmp_path))
    try:
        (tmp_path / "request.json").write_text(json.dumps(ASKED))
        said = until(lambda: answer_in(tmp_path).get("answer") == "Saved" and answer_in(tmp_path))
        assert (said["requestID"], said["epoch"]) == ("r", 3)
        assert Path(said["uri"]).exists()
        assert said["step"] > 0
        assert process.poll() is None, "it trains on until it is told to end"
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT_S) == 85
        last = json.loads((tmp_path / "last-words").read_text())
        assert last["answer"] == "Saved"
        assert last["step"] >= said["step"]
    finally:
        process.kill()
        process.communicate()


def test_sigterm_alone_saves_and_the_next_run_goes_on_there(tmp_path: Path) -> None:
    first = training(tmp_path)
    try:
        until((tmp_path / "work" / "began").exists)
        first.send_signal(signal.SIGTERM)
        assert first.wait(WAIT_S) == 85
    finally:
        first.kill()
        first.communicate()
    last = json.loads((tmp_path / "last-words").read_text())
    handed = {
        "QUEUEING_CHECKPOINT_URI": last["uri"],
        "QUEUEING_CHECKPOINT_STEP": str(last["step"]),
    }
    (tmp_path / "work" / "began").unlink()
    second = training(tmp_path, **handed)
    try:
        assert second.stdout is not None
        assert second.stdout.readline() == f"restored at step {last['step']}\n"
        until((tmp_path / "work" / "began").exists)
        second.send_signal(signal.SIGTERM)
        assert second.wait(WAIT_S) == 85
    finally:
        second.kill()
        second.communicate()


def test_steps_are_saved_after_whichever_one_it_is_asked(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from queueing_checkpoint import Saved, checkpointing\n"
        "done = []\n"
        "with checkpointing(lambda: Saved(uri='/a', step=len(done))) as hook:\n"
        "    for step in hook.steps(range(10)):\n"
        "        if step == 3:\n"
        "            os.kill(os.getpid(), signal.SIGTERM)\n"
        "        done.append(step)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(QUEUEING_TERMINATION_LOG=str(tmp_path / "last-words")),
        timeout=WAIT_S,
        check=False,
    )
    assert done.returncode == 85
    assert json.loads((tmp_path / "last-words").read_text())["step"] == 4


def test_without_a_cluster_nobody_asks_and_nothing_breaks(tmp_path: Path) -> None:
    code = (
        "from queueing_checkpoint import checkpointing\n"
        "with checkpointing(lambda: None) as hook:\n"
        "    assert not hook.should_save()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), timeout=WAIT_S, check=False
    )
    assert done.returncode == 0


def test_what_save_raises_is_answered_as_a_failure(tmp_path: Path) -> None:
    code = (
        "import time\n"
        "from queueing_checkpoint import checkpointing\n"
        "def save():\n"
        "    raise OSError('disk full')\n"
        "with checkpointing(save) as hook:\n"
        "    while not hook.should_save():\n"
        "        time.sleep(0.01)\n"
        "    hook.save()\n"
    )
    (tmp_path / "request.json").write_text(json.dumps(ASKED))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(QUEUEING_CHECKPOINT_DIR=str(tmp_path)),
        timeout=WAIT_S,
        check=False,
        capture_output=True,
    )
    assert done.returncode == 1
    assert answer_in(tmp_path)["answer"] == "Failed"
    assert "disk full" in answer_in(tmp_path)["message"]


@pytest.mark.parametrize(
    ("prelude", "asked", "want"),
    [
        pytest.param(
            "hook.saved(Saved(uri='/a', step=9)); until(False)",
            {**ASKED, "freshSeconds": 60},
            "AlreadyFresh",
            id="a fresh checkpoint",
        ),
        pytest.param(
            "c = hook.critical(30); c.__enter__(); until(False)", ASKED, "Refused", id="critical"
        ),
        pytest.param("until(True)", ASKED, "Heartbeat", id="a long step"),
    ],
)
def test_answers_come_without_the_loop(
    tmp_path: Path, prelude: str, asked: dict[str, Any], want: str
) -> None:
    code = (
        "import time\n"
        "from queueing_checkpoint import checkpointing, Saved\n"
        "def until(_):\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(30)\n"
        "with checkpointing(lambda: None) as hook:\n"
        f"    {prelude}\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment(QUEUEING_CHECKPOINT_DIR=str(tmp_path)),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        (tmp_path / "request.json").write_text(json.dumps(asked))
        until(lambda: answer_in(tmp_path).get("answer") == want)
    finally:
        process.kill()
        process.communicate()


def test_importing_it_needs_the_standard_library_alone() -> None:
    code = (
        "import sys, queueing_checkpoint\n"
        "print([one for one in sys.modules if one.split('.')[0] in "
        "('aiohttp', 'pydantic', 'msgspec', 'queueing', 'queueing_api', 'yaml')])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env=environment(),
        timeout=WAIT_S,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    "text", [None, "", "no", "[]", '{"epoch": 1}', '{"requestID": 1, "epoch": "x"}']
)
def test_what_is_no_request_is_not_heard(text: str | None) -> None:
    assert Notice.read(text) is None


def test_the_first_run_finds_no_checkpoint() -> None:
    assert last_checkpoint({}) is None
    found = last_checkpoint(
        {"QUEUEING_CHECKPOINT_URI": "s3://b/1", "QUEUEING_CHECKPOINT_STEP": "7"}
    )
    assert found == Saved(uri="s3://b/1", step=7)
