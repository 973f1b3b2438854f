"""Two processes as one: when either ends, the other is ended, and so is this one."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Sequence

from queueing.cli import interrupts
from queueing.cli.production import lifeline

_ORDERLY = frozenset({0, -signal.SIGTERM, interrupts.EXIT_CODE})
"""Codes of a process that was told to end; the last, by Ctrl-C before it had begun."""
GRACE_S = 25.0
"""How long the processes may take to end; below Kubernetes' 30 seconds."""


async def supervise(commands: Sequence[Sequence[str]], inherited: Sequence[int] = ()) -> int:
    """Run this program's commands side by side; return the exit code.

    Each keeps the descriptors `inherited` open for as long as it lives.

    SIGTERM and SIGINT are passed on, and an orderly end of all is 0. A process that ends without
    having been told to is a failure, whatever its code.
    """
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    reading, writing = os.pipe()
    try:
        processes = await _start(commands, reading, inherited)
        os.close(reading)
        return await _watch(processes, stopping)
    finally:
        os.close(writing)


async def _watch(processes: Sequence[asyncio.subprocess.Process], stopping: asyncio.Event) -> int:
    async with asyncio.TaskGroup() as group:
        ends = [group.create_task(process.wait()) for process in processes]
        asked = group.create_task(stopping.wait())
        await asyncio.wait([*ends, asked], return_when=asyncio.FIRST_COMPLETED)
        told = stopping.is_set()
        asked.cancel()
        await _end(processes)
        codes = [await end for end in ends]
    if told:
        return 0 if all(code in _ORDERLY for code in codes) else 1
    return next((code for code in codes if code > 0), 1)


async def _start(
    commands: Sequence[Sequence[str]], reading: int, inherited: Sequence[int]
) -> list[asyncio.subprocess.Process]:
    """Start the commands; each ends when the pipe does of which they get the reading end."""
    return [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "queueing.cli.entry", *command),
            env={**os.environ, lifeline.VARIABLE: str(reading)},
            pass_fds=(reading, *inherited),
        )
        for command in commands
    ]


async def _end(processes: Sequence[asyncio.subprocess.Process]) -> None:
    """Ask the processes to end, and kill those that do not."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
    try:
        async with asyncio.timeout(GRACE_S):
            for process in processes:
                await process.wait()
    except TimeoutError:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
