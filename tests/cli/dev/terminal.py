"""A terminal on which a command runs, and what it shows."""

import asyncio
import os
import pty
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.cli.dev.conftest import BOUND_S, Dev


class Screen:
    """What a command wrote on its terminal since it was looked at last."""

    def __init__(self, process: asyncio.subprocess.Process, shows: int) -> None:
        self._process, self._text = process, ""
        self._came = asyncio.Event()
        self._shows = shows
        asyncio.get_running_loop().add_reader(shows, self._take)

    def _take(self) -> None:
        try:
            told = os.read(self._shows, 65_536)
        except OSError:  # nobody writes to it any more
            told = b""
        if not told:
            asyncio.get_running_loop().remove_reader(self._shows)
        self._text += told.decode(errors="replace")
        self._came.set()

    async def until(self, words: str) -> None:
        """Wait until it shows some words, and look at nothing before them again."""
        try:
            async with asyncio.timeout(BOUND_S):
                while words not in self._text:
                    self._came.clear()
                    await self._came.wait()
        except TimeoutError:
            pytest.fail(f"{words!r} is not shown, but {self._text[-2_000:]!r}")
        self._text = self._text.partition(words)[2]

    async def ended(self) -> int:
        async with asyncio.timeout(BOUND_S):
            return await self._process.wait()


@asynccontextmanager
async def on_a_terminal(dev: Dev, *words: str) -> AsyncIterator[Screen]:
    """Run a command on a terminal of 24 lines until the block ends."""
    ours, theirs = pty.openpty()
    program = str(Path(sys.executable).with_name("queueing"))
    process = await asyncio.create_subprocess_exec(
        program,
        *words,
        "--kubeconfig",
        str(dev.kubeconfig),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "24"},
    )
    os.close(theirs)
    try:
        yield Screen(process, ours)
    finally:
        asyncio.get_running_loop().remove_reader(ours)
        if process.returncode is None:
            process.terminate()
        await process.wait()
        os.close(ours)
