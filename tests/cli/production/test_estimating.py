"""An estimate is made by a process of its own."""

import asyncio
import errno
import os
import subprocess
import sys

import msgspec
import pytest

from queueing.cli.production import estimating
from queueing.cli.production.estimate import TOO_LARGE
from queueing.cli.production.estimating import estimated
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.explain.model import Estimate
from queueing.recording import snapshot
from queueing.serving.estimates import EstimateError
from queueing.state.engine import Engine
from queueing.testing.builders import (
    admitted,
    cluster_queue,
    flavor,
    local_queue,
    namespace,
    workload,
)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process take its time to start on a busy machine."""
    monkeypatch.setattr(estimating, "PATIENCE_S", 60.0)


def written() -> str:
    engine = Engine(Settings())
    runs = admitted("runs", {"cpu": 10_000}, max_execution_s=3_600)
    for fact in (namespace(), flavor(), cluster_queue(), local_queue(), runs, workload("waits")):
        engine.observe(fact)
    engine.cycle(60.0)
    facts = snapshot.facts_around(engine.memory, Key("team/waits"))
    assert facts is not None
    return snapshot.beginning(engine.memory.settings, 60.0) + snapshot.lines(facts)


def test_an_estimate_of_a_snapshot_is_its_json() -> None:
    body = asyncio.run(estimated(written(), ["team/waits"]))
    told = msgspec.json.decode(body, type=dict[str, Estimate])["team/waits"]
    assert told.known
    assert told.half is not None
    assert "1970-01-01T00:01:00Z" <= told.half.earliest <= "1970-01-01T01:00:00Z"


def test_why_no_estimate_can_be_made_is_logged_and_not_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(EstimateError) as error:
        asyncio.run(estimated("{}\n", ["team/waits"]))
    assert str(error.value) == "no estimate can be made; the log of the controller says why"
    assert "no estimate of team/waits" in caplog.text
    assert "is no recording" in caplog.text


def test_where_no_process_can_be_started_there_is_no_estimate(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pod may have no more processes than its limit."""

    async def full(*_command: str, **_options: object) -> None:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(asyncio, "create_subprocess_exec", full)
    with pytest.raises(EstimateError, match="the log of the controller says why"):
        asyncio.run(estimated("{}\n", ["team/waits"]))
    assert "Resource temporarily unavailable" in caplog.text


def test_a_snapshot_that_takes_too_much_memory_is_told() -> None:
    """It shares its memory with the controller, which must not be ended for it."""
    imports = "from queueing.cli.production import estimate as it"
    program = f"{imports}; it.MEMORY_BYTES = 2**27; it.command()"
    ended = subprocess.run(
        [sys.executable, "-c", program, "team/waits"],
        input=b"x" * 2**27,
        capture_output=True,
        check=False,
        timeout=60.0,
    )
    assert ended.returncode == 1
    assert ended.stderr.decode() == f"Error: {TOO_LARGE}\n"
