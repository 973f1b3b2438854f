"""The client library as users run it: in a process of its own."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from queueing.apiserver.server import serve
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing_checkpoint import Saved, last_checkpoint
from queueing_checkpoint.messages import Notice

API = Path(__file__).parents[2] / "api"
EXAMPLE = Path(__file__).parents[2] / "examples" / "train.py"
ASKED = {"requestID": "r", "epoch": 3, "heartbeatSeconds": 0.2, "freshSeconds": 0.0}
WAIT_S = 20.0


def environment(**more: str) -> dict[str, str]:
    return {"PYTHONPATH": str(API), "PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": "1", **more}


def training(folder: Path, **more: str) -> "subprocess.Popen[str]":
    """Run the example."""
    return subprocess.Popen(
        [sys.executable, str(EXAMPLE), "--folder", str(folder / "work"), "--steps", "100000"],
        env=environment(QUEUEING_TERMINATION_LOG=str(folder / "last-words"), **more),
        stdout=subprocess.PIPE,
        text=True,
    )


def until(found: Callable[[], Any]) -> Any:
    ends = time.monotonic() + WAIT_S
    while time.monotonic() < ends:
        value = found()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError("it did not come about")


def answer_in(folder: Path) -> dict[str, Any]:
    try:
        return dict(json.loads((folder / "answer.json").read_text()))
    except OSError:
        return {}


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


async def test_a_pod_hears_and_answers_by_its_own_annotations(tmp_path: Path) -> None:
    async with serve() as server, Client(Cluster.plain(server.url)) as client:
        container = {"name": "c", "image": "x"}
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "train-0", "namespace": "team"},
            "spec": {"containers": [container]},
        }
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
        server.load([namespace, pod])
        place = {
            "QUEUEING_API_SERVER": server.url,
            "POD_NAME": "train-0",
            "POD_NAMESPACE": "team",
        }
        process = training(tmp_path, **place)
        try:
            target = resources.PODS.at("train-0", "team")
            note = {"queueing.dev/checkpoint-request": json.dumps(ASKED)}
            await client.patch_merge(target, {"metadata": {"annotations": note}})
            async with asyncio.timeout(WAIT_S):
                while True:
                    found = json.loads(await client.get(target))
                    notes = found["metadata"].get("annotations", {})
                    said = json.loads(notes.get("queueing.dev/checkpoint-answer", "{}"))
                    if said.get("answer") == "Saved":
                        break
                    await asyncio.sleep(0.02)
            assert said["epoch"] == 3
        finally:
            process.kill()
            process.communicate()


@asynccontextmanager
async def pod(folder: Path) -> AsyncIterator[tuple[Client, dict[str, str]]]:
    """Have a pod on a server of its own; give what a container in it finds in its environment."""
    async with serve() as server, Client(Cluster.plain(server.url)) as client:
        container = {"name": "c", "image": "x"}
        notes = {"queueing.dev/checkpoint-uri": "s3://b/7", "queueing.dev/checkpoint-step": "7"}
        made = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "train-0", "namespace": "team", "annotations": notes},
            "spec": {"containers": [container]},
        }
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
        server.load([namespace, made])
        yield (
            client,
            {
                "QUEUEING_API_SERVER": server.url,
                "HOSTNAME": "train-0",
                "POD_NAMESPACE": "team",
            },
        )


async def ask(client: Client, **asked: Any) -> None:
    note = {"queueing.dev/checkpoint-request": json.dumps({**ASKED, **asked})}
    body = {"metadata": {"annotations": note}}
    await client.patch_merge(resources.PODS.at("train-0", "team"), body)


async def answered(client: Client, word: str, request_id: str = "r") -> dict[str, Any]:
    """Wait until the pod carries an answer."""
    said: dict[str, Any] = {}
    async with asyncio.timeout(WAIT_S):
        while (said.get("answer"), said.get("requestID")) != (word, request_id):
            found = json.loads(await client.get(resources.PODS.at("train-0", "team")))
            notes = found["metadata"].get("annotations", {})
            said = json.loads(notes.get("queueing.dev/checkpoint-answer", "{}"))
            await asyncio.sleep(0.02)
    return said


def request_is(folder: Path, request_id: str) -> bool:
    return bool(json.loads((folder / "request.json").read_text())["requestID"] == request_id)


WORK = """
while true; do
  if [ -e request.json ] && ! [ -e done ]; then
    echo '{"answer": "Accepted"}' >new && mv new answer.json
    while ! [ -e go ]; do sleep 0.05; done
    echo '{"answer": "Saved", "uri": "/data/1", "step": 1}' >new && mv new answer.json
    touch done
  fi
  sleep 0.05
done
"""


async def test_a_sidecar_carries_requests_to_work_in_any_language(tmp_path: Path) -> None:
    async with pod(tmp_path) as (client, place):
        sidecar = subprocess.Popen(
            [sys.executable, "-m", "queueing_checkpoint", str(tmp_path)], env=environment(**place)
        )
        work = subprocess.Popen(["/bin/sh", "-c", WORK], cwd=tmp_path, env=environment())
        try:
            await ask(client)
            beat = await answered(client, "Heartbeat")
            assert beat["beat"], "the sidecar beats while the work saves"
            (tmp_path / "go").touch()
            said = await answered(client, "Saved")
            assert (said["uri"], said["step"], said["epoch"]) == ("/data/1", 1, 3)
            await ask(client, requestID="r2")
            await asyncio.to_thread(until, partial(request_is, tmp_path, "r2"))
            assert not (tmp_path / "answer.json").exists(), "that answered the first request"
            (tmp_path / "answer.json").write_text("it is done")
            last = tmp_path / "last"
            last.write_text('{"answer": "Failed", "message": "disk full"}')
            last.replace(tmp_path / "answer.json")
            sidecar.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(sidecar.wait, WAIT_S) == 0
            said = await answered(client, "Failed", "r2")
            assert said["message"] == "disk full"
        finally:
            for one in (work, sidecar):
                one.kill()
                one.wait(WAIT_S)


def test_a_sidecar_outside_of_a_pod_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "queueing_checkpoint", str(tmp_path)],
        env=environment(),
        timeout=WAIT_S,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "KUBERNETES_SERVICE_HOST" in done.stderr


async def test_a_run_finds_its_checkpoint_on_its_own_pod(tmp_path: Path) -> None:
    async with pod(tmp_path) as (_, place):
        found = await asyncio.to_thread(last_checkpoint, place)
        assert found == Saved(uri="s3://b/7", step=7)
        told = {**place, "QUEUEING_CHECKPOINT_URI": "", "QUEUEING_CHECKPOINT_STEP": ""}
        assert last_checkpoint(told) is None, "the template has said that there is none"
        gone = {**place, "HOSTNAME": "another"}
        assert await asyncio.to_thread(last_checkpoint, gone) is None


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
