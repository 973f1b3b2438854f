import asyncio
import time

import pytest

from queueing.testing.virtual_time import EPOCH_S, LoopClock, in_no_time

DAY_S = 86_400.0
WORK_S = 0.02


def test_a_day_passes_at_once_while_everybody_waits() -> None:
    async def scene(clock: LoopClock) -> float:
        await asyncio.sleep(DAY_S)
        return clock.now()

    began = time.monotonic()
    assert in_no_time(scene) == pytest.approx(EPOCH_S + DAY_S)
    assert time.monotonic() - began < 60


def test_who_waits_for_what_never_comes_is_told_at_once() -> None:
    async def scene(_: LoopClock) -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="every task waits and no timer is set"):
        in_no_time(scene)


def test_work_in_a_thread_is_waited_for() -> None:
    async def scene(clock: LoopClock) -> float:
        await asyncio.sleep(DAY_S)
        async with asyncio.timeout(DAY_S):
            await asyncio.to_thread(time.sleep, WORK_S)
        return clock.monotonic()

    assert DAY_S + WORK_S <= in_no_time(scene) < 2 * DAY_S


def test_an_answer_over_a_connection_is_waited_for() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(WORK_S)
        writer.write(await reader.readline())
        writer.close()

    async def scene(_: LoopClock) -> bytes:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        async with server, asyncio.timeout(DAY_S):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(b"hello\n")
            found = await reader.read()
            writer.close()
        return found

    assert in_no_time(scene) == b"hello\n"
