"""Work that says that it does nothing."""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

from queueing.kube import resources
from queueing.kube.client import Client
from tests.queueing_checkpoint.library_harness import (
    WAIT_S,
    environment,
    pod,
    until,
)


async def idle_since(client: Client, *, said: bool) -> str:
    """Wait until the pod says that it does nothing, or does not."""
    async with asyncio.timeout(WAIT_S):
        while True:
            found = json.loads(await client.get(resources.PODS.at("train-0", "team")))
            since = str(found["metadata"].get("labels", {}).get("queueing.dev/idle-since", ""))
            if bool(since) is said:
                return since
            await asyncio.sleep(0.02)


IDLE_LOOP = """
import sys
from queueing_checkpoint import checkpointing
with checkpointing(lambda: None) as hook:
    with hook.idle():
        sys.stdin.readline()
    sys.stdin.readline()
"""


async def test_a_loop_that_waits_says_so_and_says_when_it_works_again(tmp_path: Path) -> None:
    async with pod(tmp_path) as (client, place):
        began = int(time.time())
        process = subprocess.Popen(
            [sys.executable, "-c", IDLE_LOOP], env=environment(**place), stdin=subprocess.PIPE
        )
        try:
            assert began <= int(await idle_since(client, said=True)) <= time.time()
            assert process.stdin is not None
            process.stdin.write(b"\n")
            process.stdin.flush()
            await idle_since(client, said=False)
        finally:
            process.kill()
            process.communicate()


async def test_a_sidecar_says_so_for_work_that_leaves_a_file(tmp_path: Path) -> None:
    async with pod(tmp_path) as (client, place):
        (tmp_path / "idle").touch()
        sidecar = subprocess.Popen(
            [sys.executable, "-m", "queueing_checkpoint", str(tmp_path)], env=environment(**place)
        )
        try:
            await idle_since(client, said=True)
            (tmp_path / "idle").unlink()
            await idle_since(client, said=False)
        finally:
            sidecar.kill()
            sidecar.wait(WAIT_S)


def test_a_loop_beside_a_sidecar_leaves_that_file(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", IDLE_LOOP],
        env=environment(QUEUEING_CHECKPOINT_DIR=str(tmp_path)),
        stdin=subprocess.PIPE,
    )
    try:
        until((tmp_path / "idle").exists)
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        until(lambda: not (tmp_path / "idle").exists())
    finally:
        process.kill()
        process.communicate()
