import asyncio
import logging

import pytest

from queueing.controller.workers import Workers
from queueing.core.names import Key
from queueing.kube.errors import ConflictError
from queueing.kube.workqueue import WorkQueue


async def test_a_bug_about_one_object_leaves_the_others_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: list[str] = []
    done = asyncio.Event()

    async def look(key: Key) -> None:
        seen.append(key)
        if key == "ns/poison":
            raise KeyError("surprise")
        done.set()

    queue: WorkQueue[Key] = WorkQueue()
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        Workers("tests", queue, look).start(group)
        queue.add(Key("ns/poison"))
        queue.add(Key("ns/good"))
        await done.wait()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
    queue.close()
    assert seen == ["ns/poison", "ns/good"]
    (record,) = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert "ns/poison" in record.message


async def test_what_the_server_says_is_the_queues_business(
    caplog: pytest.LogCaptureFixture,
) -> None:
    calls: list[str] = []
    again = asyncio.Event()

    async def look(key: Key) -> None:
        calls.append(key)
        if len(calls) == 1:
            raise ConflictError("the object has been modified")
        again.set()

    queue: WorkQueue[Key] = WorkQueue()
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        Workers("tests", queue, look).start(group)
        queue.add(Key("ns/a"))
        await again.wait()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
    queue.close()
    assert not [one for one in caplog.records if one.levelno == logging.ERROR]
