"""A queue of keys of objects to be reconciled, with the semantics of client-go's work queue.

Each key is in the queue at most once, and never with two workers at a time. A key that is added
while a worker has it is queued again when the worker is done, so that no change is missed. The key
says nothing about what happened: a worker looks at the object as it is.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Generic, NamedTuple, NoReturn, TypeVar

from queueing.kube.backoff import Backoff, Draw, draw
from queueing.kube.errors import BadRequestError, ForbiddenError, InvalidError, KubeError

logger = logging.getLogger(__name__)

K = TypeVar("K", bound=str)

_PATIENCE = Backoff(0.005, 60.0)


class _Timer(NamedTuple):
    """A key that is to be added later."""

    at: float
    """By the clock of the loop. uvloop's handle of a delay below a millisecond does not know it."""
    handle: asyncio.Handle


class WorkQueue(Generic[K]):
    """Keys that are ready for a worker, that need one (dirty), and that have one (running).

    `add` does not await. `retry` adds a failed key again after a backoff, which a good look
    resets.
    """

    def __init__(self, backoff: Backoff = _PATIENCE, draw: Draw = draw) -> None:
        self._backoff = backoff
        self._draw = draw
        self._ready: asyncio.Queue[K] = asyncio.Queue()
        self._dirty: set[K] = set()
        self._running: set[K] = set()
        self._failures: dict[K, int] = {}
        self._timers: dict[K, _Timer] = {}

    def __len__(self) -> int:
        """Count the keys that wait for a worker, without those to be added later."""
        return self._ready.qsize()

    def add(self, key: K) -> None:
        """Ask for a look at the key; asking twice before the look is asking once."""
        if key in self._dirty:
            return
        self._dirty.add(key)
        if key not in self._running:
            self._ready.put_nowait(key)

    def add_after(self, key: K, delay_s: float) -> None:
        """Ask for a look in `delay_s` seconds; of several such calls the earliest time counts."""
        if delay_s <= 0:
            self.add(key)
            return
        loop = asyncio.get_running_loop()
        at = loop.time() + delay_s
        timer = self._timers.get(key)
        if timer is not None:
            if timer.at <= at:
                return
            timer.handle.cancel()
        self._timers[key] = _Timer(at, loop.call_later(delay_s, self._ring, key))

    def retry(self, key: K, at_least_s: float = 0.0) -> None:
        """Ask for a look after a pause that grows with each failure in a row."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        self.add_after(key, max(self._backoff.delay(failures, self._draw), at_least_s))

    async def next(self) -> K:
        """Wait for a key and take it; `done` must be called for every key that was taken."""
        key = await self._ready.get()
        self._dirty.discard(key)
        self._running.add(key)
        return key

    def done(self, key: K) -> None:
        """End the work on a key; if it was added meanwhile, it is ready again."""
        self._running.discard(key)
        if key in self._dirty:
            self._ready.put_nowait(key)

    async def serve(
        self, look: Callable[[K], Awaitable[None]], rest_s: float | None = None
    ) -> NoReturn:
        """Work as one worker, for ever: a KubeError of `look` retries the key.

        Any other exception is a bug of the caller's, which ends the worker. With `rest_s` it is
        logged with its traceback, and the key is looked at again after so many seconds, so that a
        bug about one object does not stop the work on others.
        """
        while True:
            key = await self.next()
            try:
                await look(key)
            except KubeError as error:
                if isinstance(error, (InvalidError, ForbiddenError, BadRequestError)):
                    logger.warning("%s is tried again later: %s", key, error)
                self.retry(key, error.retry_after)
            except Exception:
                if rest_s is None:
                    raise
                logger.exception("%s cannot be handled: a bug; it rests for %.0f s", key, rest_s)
                self.add_after(key, rest_s)
            else:
                self._failures.pop(key, None)
            finally:
                self.done(key)

    def close(self) -> None:
        """Cancel all timers, so that none outlives the queue."""
        for timer in self._timers.values():
            timer.handle.cancel()
        self._timers.clear()

    def _ring(self, key: K) -> None:
        del self._timers[key]
        self.add(key)
