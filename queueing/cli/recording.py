"""Fetches snapshots of a running controller, and writes them as one recording."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import click

from queueing.cli.output import UsageProblem
from queueing.clock import Clock, SystemClock
from queueing.kube.client import Client
from queueing.kube.config import load_cluster
from queueing.kube.errors import KubeError, may_pass
from queueing.kube.request import Call, Request
from queueing.recording.following import Following
from queueing.recording.lines import RecordingError, begun
from queueing.serving.snapshots import API_PATH

PATIENCE_S = 60.0
"""How long one snapshot may take: the API server waits no longer either."""
Write = Callable[[bytes], object]


class Pace(NamedTuple):
    """For how long a controller is followed, and how often it is looked at, in seconds."""

    lasts_s: float
    every_s: float


async def record(kubeconfig: str | None, context: str | None, pace: Pace, write: Write) -> None:
    """Write a recording.

    Raises KubeError where the server refuses, or there is not even a first snapshot.
    """
    cluster = await load_cluster(kubeconfig, context)
    async with Client(cluster, user_agent="queueing-record") as client:
        await follow(client, pace, write, SystemClock())


async def follow(client: Client, pace: Pace, write: Write, clock: Clock) -> None:
    """Write snapshot after snapshot; one that there is no answer to is left out, with a word."""
    following, began, first = Following(), clock.monotonic(), True
    while True:
        try:
            body = await client.send(Request("GET", API_PATH), Call(timeout_s=PATIENCE_S))
        except KubeError as error:
            if first or not may_pass(error):
                raise
            click.echo(f"Warning: left out: {error}", err=True)
        else:
            _write(following, body, write)
            if first and pace.lasts_s:
                click.echo(f"Goes on for {pace.lasts_s:g} s; Ctrl-C ends it earlier.", err=True)
            first = False
        left_s = began + pace.lasts_s - clock.monotonic()
        if left_s <= 0:
            return
        await asyncio.sleep(min(pace.every_s, left_s))


def _write(following: Following, body: bytes, write: Write) -> None:
    try:
        for line in following.lines(body, API_PATH):
            write(line)
    except RecordingError as error:
        raise click.ClickException(f"the controller's snapshot cannot be used: {error}") from error


@contextmanager
def written_to(path: str | None) -> Iterator[Write]:
    """Lend what writes to a file, or to standard output.

    The file is begun with the first line: where there is none, what it held is kept. Raises
    UsageProblem if it cannot be begun, or written to its end.
    """
    if path is None:
        yield sys.stdout.buffer.write
        sys.stdout.buffer.flush()
        return
    file: IO[bytes] | None = None

    def write(line: bytes) -> None:
        nonlocal file
        with _named(path):
            if file is None:
                file = begun(Path(path))
            file.write(line)

    try:
        yield write
    finally:
        if file is not None:
            with _named(path):
                file.close()


@contextmanager
def _named(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageProblem(f"{path}: {error.strerror or error}") from error
