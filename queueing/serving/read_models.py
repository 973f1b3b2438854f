"""The serving process's end of the socket: what the controller last said."""

import asyncio
import contextlib
import itertools
import math
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from queueing.explain.model import Answer
from queueing.serving.frames import (
    NEWS,
    Around,
    Frame,
    PendingPart,
    PendingRow,
    Question,
    Subject,
    encode,
    frames,
)

CLOSE_S = 2.0
PATIENCE_S = 5.0
"""How long a question waits for the controller."""
METRICS_S = 8.0
"""The same of metrics: those of 1,000 queues take it 0.3 s at rest; Prometheus gives up at 10 s."""
SNAPSHOT_S = 8.0
"""The same for a snapshot, which the controller writes with a part of its time."""
SHARED_S = 1.0
"""How long an answer is given to others who ask the same: many who look cost no more than one."""


class NoAnswerError(RuntimeError):
    """The controller is away, stuck, or says that it has no answer now."""


@dataclass(slots=True)
class _Asked:
    """A list or an explanation that was asked for, and what came."""

    number: int
    came: asyncio.Event = field(default_factory=asyncio.Event)
    answered_at: float | None = None
    answer: Any = None
    pieces: list[str] = field(default_factory=list)
    """Of a snapshot, as far as it has come."""
    refused: str = ""
    """Why there is no answer; empty where there is one."""

    def may_be_shared(self, now: float) -> bool:
        """Say whether it is under way, or came just now."""
        return self.answered_at is None or now - self.answered_at < SHARED_S


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
    _ask: Callable[[Question], None] | None = None
    _metrics_at: float = -math.inf
    """Loop time when the metrics came."""
    _asked: asyncio.Event | None = None
    """Set when the metrics come that somebody waits for."""
    _questions: dict[PendingPart | Subject | Around, _Asked] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(time.monotonic_ns()))
    """Of questions. No earlier process used them: what it asked may be answered only now."""

    async def current_metrics(self, patience_s: float = METRICS_S) -> str:
        """Have the controller tell its metrics as they are now, or were less than a second ago.

        Whoever asks while an answer is under way, or has just come, shares it. Raises NoAnswerError
        when it does not answer: what it told last would say that all is well, and no alert would
        fire.
        """
        if self._ask is None:
            raise NoAnswerError("the controller of this replica is away")
        if self.metrics and asyncio.get_running_loop().time() - self._metrics_at < SHARED_S:
            return self.metrics
        if self._asked is None:
            self._asked = asyncio.Event()
            self._ask(Question())
        try:
            async with asyncio.timeout(patience_s):
                await self._asked.wait()
        except TimeoutError as error:
            self._asked = None  # the next one asks anew
            raise NoAnswerError("the controller does not answer in time") from error
        if not self.metrics:
            raise NoAnswerError("the controller of this replica went away")
        return self.metrics

    async def pending(
        self, part: PendingPart, patience_s: float = PATIENCE_S
    ) -> Sequence[PendingRow] | None:
        """Have the controller tell who waits in a queue; None when it knows of no such queue.

        Raises NoAnswerError when it does not answer.
        """
        rows: Sequence[PendingRow] | None = await self._answer_to(part, patience_s)
        return rows

    async def explanation(self, subject: Subject, patience_s: float = PATIENCE_S) -> Answer | None:
        """Have the controller explain something; None when it knows of no such thing.

        Raises NoAnswerError when it does not answer.
        """
        found: Answer | None = await self._answer_to(subject, patience_s)
        return found

    async def snapshot(
        self, around: Around, patience_s: float = SNAPSHOT_S
    ) -> Sequence[str] | None:
        """Have the controller write down what is around a waiting workload, or everything.

        It comes in pieces, none of which is so long that others would wait for it. None when the
        workload does not wait, or that is too much. Raises NoAnswerError when it does not answer.
        """
        found: Sequence[str] | None = await self._answer_to(around, patience_s)
        return found

    async def _answer_to(self, of: PendingPart | Subject | Around, patience_s: float) -> Any:
        if self._ask is None:
            raise NoAnswerError("the controller of this replica is away")
        asked = self._asked_for(of, self._ask, patience_s)
        try:
            async with asyncio.timeout(patience_s):
                await asked.came.wait()
        except TimeoutError:
            if self._questions.get(of) is asked:
                del self._questions[of]  # the next one asks anew
        if asked.answered_at is None:
            raise NoAnswerError("the controller does not answer in time")
        if asked.refused:
            raise NoAnswerError(asked.refused)
        return asked.answer

    def _asked_for(
        self,
        of: PendingPart | Subject | Around,
        ask: Callable[[Question], None],
        patience_s: float,
    ) -> _Asked:
        now = asyncio.get_running_loop().time()
        kept = {one: asked for one, asked in self._questions.items() if asked.may_be_shared(now)}
        self._questions = kept
        asked = kept.get(of)
        if asked is None:
            asked = kept[of] = _Asked(next(self._numbers))
            until = now + patience_s
            if isinstance(of, Subject):
                ask(Question(explain=of, number=asked.number, until=until))
            elif isinstance(of, Around):
                ask(Question(snapshot=of, number=asked.number, until=until))
            else:
                ask(Question(pending=of, number=asked.number, until=until))
        return asked

    def take(self, frame: Frame, now: float) -> None:
        """Remember what a frame says."""
        self.heard = now
        if frame.leading is not None:
            self.leading = frame.leading
        if frame.ready is not None:
            self.ready = frame.ready
        if frame.metrics is not None:
            self.metrics, self._metrics_at = frame.metrics, now
            self._answered()
        answers: dict[int, Any] = {
            **(frame.answers or {}),
            **(frame.explanations or {}),
        }
        answers |= self._ended(frame.pieces or ())
        refused = frame.refused or {}
        for of, asked in list(self._questions.items()) if answers or refused else ():
            if asked.number in answers or asked.number in refused:
                asked.answer, asked.answered_at = answers.get(asked.number), now
                asked.refused = refused.get(asked.number, "")
                asked.came.set()
                if isinstance(of, Around):
                    del self._questions[of]  # it may be large; those who wait for it have it

    def _ended(self, pieces: Iterable[tuple[int, str | None]]) -> dict[int, Any]:
        """Keep pieces of snapshots; return those that are whole by now, by number."""
        asked = {one.number: one for one in self._questions.values()} if pieces else {}
        whole: dict[int, Any] = {}
        for number, piece in pieces:
            if number in asked and piece is not None:
                asked[number].pieces.append(piece)
            elif number in asked:
                whole[number] = asked[number].pieces or None
        return whole

    def lost(self) -> None:
        """Forget what only a live controller may claim."""
        self.connected = self.leading = self.ready = False
        self._ask, self.metrics = None, ""
        self._answered()
        for asked in self._questions.values():
            asked.came.set()
        self._questions = {}

    def found(self, ask: Callable[[Question], None]) -> None:
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
        models.found(lambda question: writer.write(encode(question)))
        try:
            async for frame in frames(reader, NEWS):
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
