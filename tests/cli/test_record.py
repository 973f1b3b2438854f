"""`queueing record`: snapshots of a controller, as one file."""

import gzip
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from click.testing import CliRunner

from queueing.cli.main import cli
from queueing.cli.output import UsageProblem
from queueing.cli.recording import Pace, follow, written_to
from queueing.clock import SystemClock
from queueing.core.facts import Fact
from queueing.core.settings import Settings
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.errors import KubeError
from queueing.recording import snapshot
from queueing.testing.builders import cluster_queue, flavor, local_queue, namespace, workload

OBJECTS: tuple[Fact, ...] = (namespace(), flavor(), cluster_queue(), local_queue())
AWAY = ""
"""Instead of a snapshot: nobody leads."""


def seen(now: float, facts: Iterable[Fact]) -> str:
    return snapshot.beginning(Settings(), now) + snapshot.lines(facts)


@asynccontextmanager
async def controller(*snapshots: str) -> AsyncIterator[Client]:
    """Serve snapshots, one after the other, and the last one again."""
    left = list(snapshots)

    async def answer(_request: web.Request) -> web.Response:
        found = left.pop(0) if len(left) > 1 else left[0]
        if found == AWAY:
            return web.json_response({"kind": "Status", "message": "nobody leads"}, status=503)
        return web.Response(text=found)

    application = web.Application()
    application.router.add_get(
        "/apis/visibility.queueing.dev/v1alpha1/engines/current/snapshot", answer
    )
    async with (
        TestServer(application) as server,
        Client(Cluster.plain(f"http://{server.host}:{server.port}")) as client,
    ):
        yield client


async def test_what_the_engine_sees_now_is_written_and_can_be_replayed(tmp_path: Path) -> None:
    told, path = seen(1.0, (*OBJECTS, workload("waits"))), tmp_path / "now.jsonl.gz"
    async with controller(told) as client:
        with written_to(str(path)) as write:
            await follow(client, Pace(0.0, 15.0), write, SystemClock())
    assert gzip.decompress(path.read_bytes()).decode() == told
    done = CliRunner().invoke(cli, ["replay", str(path)])
    assert (done.exit_code, done.output) == (
        0,
        "5 facts, and no decision: there is nothing to compare.\n",
    )


async def test_what_changes_later_is_added_and_a_change_of_leaders_is_survived(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, last = seen(1.0, OBJECTS), seen(3.0, (*OBJECTS, workload("late")))
    lines: list[bytes] = []
    async with controller(first, AWAY, last) as client:

        def write(line: bytes) -> None:
            lines.append(line)

        await follow(client, Pace(0.2, 0.01), write, SystemClock())
    text = b"".join(lines).decode()
    assert text.startswith(first)
    assert text.count("late") == snapshot.lines([workload("late")]).count("late")
    assert "nobody leads" in capsys.readouterr().err


async def test_without_a_first_answer_an_earlier_recording_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "now.jsonl"
    path.write_text("earlier\n")
    async with controller(AWAY) as client:
        with pytest.raises(KubeError, match="nobody leads"), written_to(str(path)) as write:
            await follow(client, Pace(1.0, 0.01), write, SystemClock())
    assert path.read_text() == "earlier\n"


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    path = str(tmp_path / "no" / "folder.jsonl")
    with pytest.raises(UsageProblem, match="No such file"), written_to(path) as write:
        write(b"{}\n")


@pytest.mark.parametrize(
    "options", [["--for", "soon"], ["--for", "-1s"], ["--every", "10ms", "--for", "1m"]]
)
def test_a_length_of_time_that_is_none_is_told(options: list[str]) -> None:
    done = CliRunner().invoke(cli, ["record", *options])
    assert done.exit_code == 2
    assert "is no length of time" in done.output
