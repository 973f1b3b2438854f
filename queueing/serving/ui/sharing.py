"""What open pages show is read once for all of them, and kept for a few seconds.

It is read with the rights of the serving process: whether a visitor may see it is asked before.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakValueDictionary

KEEP_S = 5.0

T = TypeVar("T")


class Shared:
    """Values by key, kept for some seconds from when they were made."""

    def __init__(self, keep_s: float = KEEP_S) -> None:
        self._keep_s = keep_s
        self._kept: dict[Hashable, Any] = {}
        self._making: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    async def get(self, key: Hashable, make: Callable[[], Awaitable[T]]) -> T:
        """Return a value, or make it; who asks while it is made waits for it as well.

        Raises what `make` raises; the next who asks tries again.
        """
        async with self._making.setdefault(key, asyncio.Lock()):
            if key not in self._kept:
                self._kept[key] = await make()
                asyncio.get_running_loop().call_later(self._keep_s, self._kept.pop, key)
            found: T = self._kept[key]
            return found
