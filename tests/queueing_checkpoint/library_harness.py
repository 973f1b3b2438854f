"""What the tests of the client library share: processes, and a pod of its own."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from queueing.apiserver.server import serve
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.config import Cluster

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
