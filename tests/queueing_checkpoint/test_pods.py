"""The client library and its sidecar at a pod of a real API."""

import asyncio
import json
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

from queueing.apiserver.server import serve
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing_checkpoint import Saved, last_checkpoint
from tests.queueing_checkpoint.library_harness import (
    ASKED,
    WAIT_S,
    answered,
    ask,
    environment,
    pod,
    training,
    until,
)


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
