import asyncio
import logging

import pytest

from queueing.controller.workers import contained
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
    worker = asyncio.ensure_future(queue.serve(contained(look, queue)))
    queue.add(Key("ns/poison"))
    queue.add(Key("ns/good"))
    async with asyncio.timeout(10):
        await done.wait()
    worker.cancel()
    queue.close()
    assert seen == ["ns/poison", "ns/good"]
    (record,) = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert "ns/poison" in record.message


async def test_what_the_server_says_is_the_queues_business() -> None:
    async def look(_: Key) -> None:
        raise ConflictError("the object has been modified")

    queue: WorkQueue[Key] = WorkQueue()
    with pytest.raises(ConflictError):
        await contained(look, queue)(Key("ns/a"))
