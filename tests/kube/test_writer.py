import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

import pytest

from queueing.kube.pressure import Window
from queueing.kube.writer import WriteClass, Writer, decisions_at_once

pytestmark = pytest.mark.usefixtures("nothing_blocks")

ADMISSION, STATUS, EVENT = WriteClass.ADMISSION, WriteClass.STATUS, WriteClass.EVENT
ONE_EACH = dict.fromkeys(WriteClass, 1)


class Board:
    """Jobs that say when they begin and end, and last until told."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}

    def job(self, name: str, *, held: bool = False) -> Callable[[], Awaitable[None]]:
        gate = self.gates.setdefault(name, asyncio.Event())
        if not held:
            gate.set()

        async def work() -> None:
            self.log.append(f"{name}+")
            await gate.wait()
            self.log.append(f"{name}-")

        return work

    async def ended(self, name: str) -> None:
        while f"{name}-" not in self.log:
            await asyncio.sleep(0.01)

    def release(self, *names: str) -> None:
        for name in names:
            self.gates[name].set()


@asynccontextmanager
async def working(
    limits: Mapping[WriteClass, int] = ONE_EACH,
    *,
    interval_s: float = 0.0,
    events_max: int = 2,
    pressed: Callable[[], bool] = lambda: False,
    window: Window | None = None,
) -> AsyncIterator[Writer]:
    writer = Writer(
        limits, interval_s=interval_s, events_max=events_max, pressed=pressed, window=window
    )
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        running = group.create_task(writer.run())
        yield writer
        running.cancel()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_jobs_of_one_key_run_one_after_the_other() -> None:
    board = Board()
    async with working({ADMISSION: 8, STATUS: 8, EVENT: 8}) as writer:
        writer.submit("k", ADMISSION, board.job("first", held=True))
        writer.submit("k", STATUS, board.job("second"))
        writer.submit("k", ADMISSION, board.job("third"))
        writer.submit("other", ADMISSION, board.job("other"))
        await settle()
        assert board.log == ["first+", "other+", "other-"]
        board.release("first")
        assert await writer.drain(20)
    assert board.log[3] == "first-"
    assert board.log.index("third+") > 3
    spans = [entry.rstrip("+-") for entry in board.log[4:]]
    assert spans[::2] == spans[1::2], "no two of them overlapped"


async def test_a_decision_goes_before_what_waited_longer() -> None:
    board = Board()
    writer = Writer(ONE_EACH)
    writer.submit("e", EVENT, board.job("event", held=True))
    writer.submit("e2", EVENT, board.job("event2"))
    writer.submit("s", STATUS, board.job("status", held=True))
    writer.submit("s2", STATUS, board.job("status2"))
    writer.submit("a", ADMISSION, board.job("admission", held=True))
    writer.submit("a2", ADMISSION, board.job("admission2"))
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        running = group.create_task(writer.run())
        await settle()
        assert board.log == ["admission+", "status+", "event+"], "each class has a slot of its own"
        board.release("admission", "status", "event")
        assert await writer.drain(20)
        running.cancel()


async def test_while_decisions_wait_the_rest_gets_one_slot_only() -> None:
    board = Board()
    async with working({ADMISSION: 1, STATUS: 2, EVENT: 1}) as writer:
        for name in ("a1", "a2"):
            writer.submit(name, ADMISSION, board.job(name, held=True))
        for name in ("s1", "s2"):
            writer.submit(name, STATUS, board.job(name, held=True))
        await settle()
        assert board.log == ["a1+", "s1+"]
        board.release("a1")
        await settle()
        assert board.log[2:] == ["a1-", "a2+", "s2+"], "no decision waits any more"
        board.release("a2", "s1", "s2")
        assert await writer.drain(20)


async def test_no_more_than_the_limit_runs_at_once() -> None:
    board = Board()
    names = [f"j{n}" for n in range(5)]
    async with working({ADMISSION: 2, STATUS: 1, EVENT: 1}) as writer:
        for name in names:
            writer.submit(name, ADMISSION, board.job(name, held=True))
        await settle()
        assert board.log == ["j0+", "j1+"]
        assert writer.waiting(ADMISSION) == 3
        board.release(*names)
        assert await writer.drain(20)
    assert len(board.log) == 10


async def test_events_are_dropped_when_too_many_wait() -> None:
    board = Board()
    async with working() as writer:
        await settle()
        taken = [writer.submit(f"e{n}", EVENT, board.job(f"e{n}", held=True)) for n in range(5)]
        assert taken == [True, True, True, False, False]
        board.release("e0", "e1", "e2")
        assert await writer.drain(20)


async def test_of_several_status_writes_the_newest_is_made() -> None:
    board = Board()
    async with working(interval_s=3600.0) as writer:
        writer.submit("s", STATUS, board.job("slow", held=True))
        for name in ("old", "older", "new"):
            writer.submit_latest("queue", board.job(name))
        board.release("slow")
        assert await writer.drain(20)
        assert board.log == ["slow+", "slow-", "new+", "new-"]
        writer.submit_latest("queue", board.job("too soon"))
        assert not await writer.drain(0.05), "the next one waits for its interval"
    assert board.log[-1] == "new-"


async def test_a_status_write_during_another_follows_after_the_interval() -> None:
    board = Board()
    async with working(interval_s=0.02) as writer:
        writer.submit_latest("queue", board.job("first", held=True))
        await settle()
        writer.submit_latest("queue", board.job("replaced"))
        writer.submit_latest("queue", board.job("second"))
        board.release("first")
        assert await writer.drain(20)
    assert board.log == ["first+", "first-", "second+", "second-"]


async def test_a_failure_that_escapes_a_job_ends_the_writer() -> None:
    writer = Writer()

    async def broken() -> None:
        raise ZeroDivisionError

    writer.submit("k", ADMISSION, broken)
    with pytest.raises(ExceptionGroup) as caught:
        await writer.run()
    assert caught.group_contains(ZeroDivisionError)


async def test_there_is_room_for_those_that_run_and_half_as_many_more_in_quarters() -> None:
    board, rooms = Board(), list[int]()
    limits = {**ONE_EACH, ADMISSION: 8}
    async with working(limits) as writer:
        writer.ended = lambda: rooms.append(writer.room(ADMISSION, 8))
        assert writer.room(ADMISSION, 8) == 12
        for number in range(13):
            writer.submit(f"k{number}", ADMISSION, board.job(f"j{number}", held=True))
        await settle()
        assert writer.room(ADMISSION, 8) == 0
        board.release("j0", "j1", "j2", "j3")
        await settle()
        assert rooms == [0, 0, 2, 3], "each end is told, when its slot is free again"
        board.release(*board.gates)
        assert await writer.drain(20)
    assert rooms[-1] == 12


async def test_no_more_start_than_the_limit_that_was_told_last() -> None:
    board = Board()
    async with working({**ONE_EACH, ADMISSION: 8}) as writer:
        writer.room(ADMISSION, 2)
        for number in range(6):
            writer.submit(f"k{number}", ADMISSION, board.job(f"j{number}", held=True))
        await settle()
        assert board.log == ["j0+", "j1+"]
        writer.room(ADMISSION, 4)
        board.release("j0")
        await settle()
        assert board.log[2:] == ["j0-", "j2+", "j3+", "j4+"]
        board.release(*board.gates)
        assert await writer.drain(20)


async def test_a_small_window_leaves_little_room() -> None:
    window = Window(8, slow_s=1.0)
    for _ in range(100):
        window.took(2.0)
    assert Writer({**ONE_EACH, ADMISSION: 8}, window=window).room(ADMISSION, 8) == 6


async def test_a_small_window_lets_few_decisions_begin() -> None:
    board, window = Board(), Window(8, slow_s=1.0)
    for _ in range(8):
        window.took(2.0)
    assert window.size == 4
    async with working({**ONE_EACH, ADMISSION: 8}, window=window) as writer:
        for name in "abcdefgh":
            writer.submit(name, ADMISSION, board.job(name, held=True))
        await settle()
        assert board.log == ["a+", "b+", "c+", "d+"]
        board.release(*"abcdefgh")
        assert await writer.drain(20)


async def test_events_wait_while_the_server_is_pressed_and_follow_when_it_rests() -> None:
    board, pressed = Board(), [True]
    async with working({**ONE_EACH, EVENT: 2}, pressed=lambda: pressed[0], events_max=10) as writer:
        writer.submit("event", EVENT, board.job("event"))
        writer.submit("status", STATUS, board.job("status"))
        await settle()
        assert board.log == ["status+", "status-"]
        pressed[0] = False
        await board.ended("event")


async def test_events_do_not_wait_when_too_many_do() -> None:
    board = Board()
    async with working(pressed=lambda: True, events_max=2) as writer:
        writer.submit("a", EVENT, board.job("a"))
        await settle()
        assert board.log == []
        writer.submit("b", EVENT, board.job("b"))
        await settle()
        assert board.log == ["a+", "a-"]


async def test_nothing_stays_behind_at_the_end() -> None:
    board = Board()
    async with working(pressed=lambda: True, events_max=10) as writer:
        writer.submit("a", EVENT, board.job("a"))
        assert await writer.drain(10)
        assert board.log == ["a+", "a-"]


@pytest.mark.parametrize(("queues", "decisions"), [(0, 8), (64, 8), (80, 10), (1000, 32)])
def test_more_decisions_may_be_in_flight_where_many_queues_have_work(
    queues: int, decisions: int
) -> None:
    assert decisions_at_once(queues) == decisions
