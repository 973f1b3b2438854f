import asyncio

import pytest

from queueing.cli.production.loops import loop_factory
from queueing.kube.backoff import Backoff
from queueing.kube.errors import ConflictError
from queueing.kube.workqueue import WorkQueue


def drain(queue: WorkQueue[str]) -> list[str]:
    """Take everything that is ready now."""
    return [asyncio.run(queue.next()) for _ in range(len(queue))]


def test_a_key_added_twice_is_looked_at_once() -> None:
    queue: WorkQueue[str] = WorkQueue()
    for key in ("a", "b", "a"):
        queue.add(key)
    assert drain(queue) == ["a", "b"]


async def test_a_key_in_hand_is_not_handed_out_again_but_comes_back() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    assert await queue.next() == "a"
    queue.add("a")
    queue.add("b")
    assert len(queue) == 1
    assert await queue.next() == "b"
    queue.done("a")
    assert await queue.next() == "a"


async def test_of_two_times_the_earlier_holds() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("a", 3600.0)
    queue.add_after("a", 0.01)
    queue.add_after("a", 3600.0)
    async with asyncio.timeout(20):
        assert await queue.next() == "a"
    queue.close()


def test_a_moment_may_be_shorter_than_what_the_loop_can_wait() -> None:
    async def ask_twice() -> str:
        queue: WorkQueue[str] = WorkQueue()
        queue.add_after("a", 0.0001)
        queue.add_after("a", 0.0001)
        async with asyncio.timeout(20):
            return await queue.next()

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        assert runner.run(ask_twice()) == "a"


async def test_close_leaves_no_timer_behind() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("a", 0.01)
    queue.close()
    await asyncio.sleep(0.05)
    assert len(queue) == 0


async def test_failures_are_tried_again_and_success_ends_their_count() -> None:
    queue: WorkQueue[str] = WorkQueue(Backoff(0.01, 1.0), lambda: 0.0)
    looks: list[str] = []
    enough = asyncio.Event()

    async def look(key: str) -> None:
        looks.append(key)
        if len(looks) < 3:
            raise ConflictError("again")
        enough.set()

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        worker = group.create_task(queue.serve(look))
        queue.add("a")
        await enough.wait()
        await asyncio.sleep(0)
        worker.cancel()
    assert looks == ["a", "a", "a"]
    assert queue._failures == {}


async def test_a_mistake_in_the_work_is_not_retried() -> None:
    queue: WorkQueue[str] = WorkQueue()

    async def look(_: str) -> None:
        raise ZeroDivisionError

    queue.add("a")
    with pytest.raises(ZeroDivisionError):
        await queue.serve(look)


@pytest.mark.parametrize(
    ("attempt", "draw", "want"),
    [
        pytest.param(0, 0.0, 0.8, id="starts with the first delay"),
        pytest.param(3, 0.0, 6.4, id="doubles"),
        pytest.param(9, 0.0, 30.0, id="stops at the longest"),
        pytest.param(5000, 0.0, 30.0, id="never overflows"),
        pytest.param(9, 1.0, 15.0, id="is shortened by up to half"),
    ],
)
def test_backoff(attempt: int, draw: float, want: float) -> None:
    assert Backoff(0.8, 30.0).delay(attempt, lambda: draw) == pytest.approx(want)
