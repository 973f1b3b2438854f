"""The controller's end of the socket: tell the serving process the latest, never wait for it."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any, NoReturn

from queueing.serving.frames import ALL, ANSWERS, QUESTIONS, Frame, Question, encode, frames, learn

RECONNECT_S = 0.5
QUESTIONS_MAX = 200
"""So many lists and explanations may wait: about what is answered while somebody still listens."""
SNAPSHOTS_MAX = 20
"""The same of snapshots."""
TOO_MANY = "too many ask at the moment; ask again"


class Publisher:
    """Keeps the latest of every subject and sends what changed.

    Invariant: `publish` never blocks; a serving process that is away or slow costs memory for one
    merged frame, not for a queue of them. After a reconnect everything known is sent once, but for
    metrics, which would pass for new, and answers to who asked before.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = Frame()
        self._unsent = Frame()
        self._news = asyncio.Event()
        self.asked_for_metrics = asyncio.Event()
        """Set when the serving process wants them; whoever answers clears it."""
        self.questions: asyncio.Queue[Question] = asyncio.Queue(QUESTIONS_MAX)
        """Lists and explanations that are wanted, each to be answered under its number."""
        self.surroundings: asyncio.Queue[Question] = asyncio.Queue(SNAPSHOTS_MAX)
        """Snapshots of what is around a workload, for which an estimate waits."""
        self.recordings: asyncio.Queue[Question] = asyncio.Queue(SNAPSHOTS_MAX)
        """Snapshots of everything, which take long: those for estimates do not wait for them."""

    def publish(self, frame: Frame) -> None:
        """Take news; a newer word on a subject replaces an older one."""
        learn(self._known, frame)
        self._known.metrics = None
        learn(self._unsent, frame)
        for name in ANSWERS:
            told, unsent = getattr(frame, name), getattr(self._unsent, name)
            if told is not None:
                setattr(self._unsent, name, _both(unsent, told))
        self._news.set()

    async def run(self) -> None:
        """Send for ever; reconnect when the serving process starts anew."""
        while True:
            with contextlib.suppress(OSError):
                await self._talk()
            await asyncio.sleep(RECONNECT_S)

    async def _talk(self) -> None:
        reader, writer = await asyncio.open_unix_connection(str(self._path))
        try:
            async with asyncio.TaskGroup() as group:
                listening = group.create_task(self._listen(reader), name="questions")
                with contextlib.suppress(OSError):
                    await self._speak(writer)
                listening.cancel()
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _speak(self, writer: asyncio.StreamWriter) -> NoReturn:
        """Send news as they come; raises OSError when the other side is gone."""
        self._unsent = Frame()
        learn(self._unsent, self._known)
        self._news.set()
        while True:
            await self._news.wait()
            self._news.clear()
            frame, self._unsent = self._unsent, Frame()
            writer.write(encode(frame))
            await writer.drain()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        """Hear questions until the other side is gone, which `_speak` notices by itself."""
        with contextlib.suppress(OSError):
            async for question in frames(reader, QUESTIONS):
                if question.snapshot is not None:
                    of_all = question.snapshot.name == ALL
                    self._enqueue(self.recordings if of_all else self.surroundings, question)
                elif question.pending is None and question.explain is None:
                    self.asked_for_metrics.set()
                else:
                    self._enqueue(self.questions, question)

    def _enqueue(self, queue: asyncio.Queue[Question], question: Question) -> None:
        try:
            queue.put_nowait(question)
        except asyncio.QueueFull:
            self.publish(Frame(refused={question.number: TOO_MANY}))


def _both(unsent: Any, told: Any) -> Any:
    """Put answers together: by number, or pieces in their order."""
    if unsent is None:
        return told
    return [*unsent, *told] if isinstance(told, list) else unsent | told
