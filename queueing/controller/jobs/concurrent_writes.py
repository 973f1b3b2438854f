"""Sends several writes of one step at the same time; the failure of one stops no other."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any

from queueing.kube.errors import KubeError

Write = Coroutine[Any, Any, None]


async def outcomes(writes: Iterable[Write]) -> list[KubeError | None]:
    """Wait for all writes; return for each, in order, its error or None."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_outcome(one)) for one in writes]
    return [task.result() for task in tasks]


async def all_of(writes: Iterable[Write]) -> None:
    """Wait for all writes, then raise the first KubeError, if any."""
    for error in await outcomes(writes):
        if error is not None:
            raise error


async def _outcome(write: Write) -> KubeError | None:
    try:
        await write
    except KubeError as error:
        return error
    return None
