"""The serving process's end of the socket: what the controller last said."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from queueing.serving.frames import ASK_FOR_METRICS, Frame, PendingRow, frames

CLOSE_S = 2.0
PATIENCE_S = 5.0
"""How long a scrape waits for the controller: a thousand queues take it 0.3 s at rest."""


@dataclass(slots=True)
class ReadModels:
    """Everything that answers are made from. Empty until the controller has spoken."""

    connected: bool = False
    leading: bool = False
    ready: bool = False
    """The work is being done: by this replica, with the policies in force, or by another."""
    metrics: str = ""
    heard: float = 0.0
    """Loop time of the last frame: a controller that is stuck stops speaking."""
    queues: dict[str, Sequence[PendingRow]] = field(default_factory=dict)
    _ask: Callable[[bytes], None] | None = None
    _asked: asyncio.Event | None = None
    """Set when the answer comes that somebody waits for."""

    async def current_metrics(self, patience_s: float = PATIENCE_S) -> str:
        """Have the controller tell its metrics as they are now; what it told last if it does not.

        Whoever asks while an answer is under way shares it.
        """
        if self._ask is None:
            return self.metrics
        if self._asked is None:
            self._asked = asyncio.Event()
            self._ask(ASK_FOR_METRICS)
        try:
            async with asyncio.timeout(patience_s):
                await self._asked.wait()
        except TimeoutError:
            self._asked = None  # the next one asks anew
        return self.metrics

    def take(self, frame: Frame, now: float) -> None:
        """Remember what a frame says."""
        self.heard = now
        if frame.leading is not None:
            self.leading = frame.leading
        if frame.ready is not None:
            self.ready = frame.ready
        if frame.metrics is not None:
            self.metrics = frame.metrics
            self._answered()
        for name, rows in (frame.queues or {}).items():
            if rows is None:
                self.queues.pop(name, None)
            else:
                self.queues[name] = rows

    def lost(self) -> None:
        """Forget what only a live controller may claim."""
        self.connected = self.leading = self.ready = False
        self._ask = None
        self._answered()

    def found(self, ask: Callable[[bytes], None]) -> None:
        """Hear of a controller, and how it can be asked."""
        self.connected, self._ask = True, ask

    def _answered(self) -> None:
        if self._asked is not None:
            self._asked.set()
            self._asked = None


@contextlib.asynccontextmanager
async def listening(path: Path, models: ReadModels) -> AsyncIterator[None]:
    """Take frames from the controller for as long as the block runs."""
    talks: set[asyncio.Task[None]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            talks.add(task)
            task.add_done_callback(talks.discard)
        models.found(writer.write)
        try:
            async for frame in frames(reader):
                models.take(frame, asyncio.get_running_loop().time())
        except asyncio.CancelledError:
            # Only we cancel it, below. Python 3.11 takes the stream's task for finished with a
            # failure when it is cancelled, and prints a traceback.
            return
        finally:
            models.lost()
            writer.close()

    server = await asyncio.start_unix_server(talk, str(path))
    try:
        yield
    finally:
        server.close()
        for task in list(talks):
            task.cancel()
        if talks:
            await asyncio.wait(talks, timeout=CLOSE_S)
        await asyncio.to_thread(path.unlink, missing_ok=True)
