"""Values that pages share."""

import asyncio

import pytest

from queueing.serving.ui.sharing import Shared


class Counted:
    """Makes numbers, counting up; when it is let, and not the first."""

    def __init__(self, number: int = 1) -> None:
        self.number, self.may = number, asyncio.Event()

    async def make(self) -> int:
        self.number += 1
        await self.may.wait()
        if self.number == 1:
            raise RuntimeError("the first fails")
        return self.number


async def test_who_asks_while_a_value_is_made_gets_that_one() -> None:
    shared, counted = Shared(), Counted()
    async with asyncio.TaskGroup() as group:
        asking = [group.create_task(shared.get("a", counted.make)) for _ in range(3)]
        await asyncio.sleep(0)
        counted.may.set()
    assert [one.result() for one in asking] == [2, 2, 2]
    assert await shared.get("a", counted.make) == 2
    assert await shared.get("b", counted.make) == 3


async def test_a_failure_is_told_and_not_kept() -> None:
    shared, counted = Shared(), Counted(number=0)
    counted.may.set()
    with pytest.raises(RuntimeError):
        await shared.get("a", counted.make)
    assert await shared.get("a", counted.make) == 2


async def test_a_value_is_made_again_after_a_while() -> None:
    shared, counted = Shared(keep_s=0.01), Counted()
    counted.may.set()
    async with asyncio.timeout(10):
        while await shared.get("a", counted.make) == 2:
            await asyncio.sleep(0.001)
    assert counted.number == 3
