"""The controller's end of the socket: tell the serving process the latest, never wait for it."""

import asyncio
import contextlib
from pathlib import Path

from queueing.serving.frames import Frame, encode, merge, without_gone

RECONNECT_S = 0.5


class Publisher:
    """Keeps the latest of every subject and sends what changed.

    Invariant: `publish` never blocks; a serving process that is away or slow costs memory for one
    merged frame, not for a queue of them. After a reconnect everything known is sent once.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = Frame()
        self._unsent = Frame()
        self._news = asyncio.Event()

    def publish(self, frame: Frame) -> None:
        """Take news; a newer word on a subject replaces an older one."""
        self._known = without_gone(merge(self._known, frame))
        self._unsent = merge(self._unsent, frame)
        self._news.set()

    async def run(self) -> None:
        """Send for ever; reconnect when the serving process starts anew."""
        while True:
            with contextlib.suppress(OSError):
                await self._talk()
            await asyncio.sleep(RECONNECT_S)

    async def _talk(self) -> None:
        _reader, writer = await asyncio.open_unix_connection(str(self._path))
        try:
            self._unsent = merge(self._known, self._unsent)
            self._news.set()
            while True:
                await self._news.wait()
                self._news.clear()
                frame, self._unsent = self._unsent, Frame()
                writer.write(encode(frame))
                await writer.drain()
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
