"""What the serving process is told: readiness, metrics, and who waits in which place.

Readiness is told when it changes, metrics and lists when somebody asks; a serving process that is
away misses nothing, and is never waited for.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from queueing.clock import Clock
from queueing.controller.telemetry.pending_lists import pending_rows
from queueing.controller.telemetry.reporter import Reporter
from queueing.serving.frames import Frame, Question
from queueing.serving.publisher import Publisher

STANDING_EVERY_S = 0.25
ALIVE_EVERY_S = 5.0
REST_AFTER_ANSWER = 4.0
"""How long nobody is answered after an answer, in times of what that took the loop."""


class Broadcast:
    """Tells the serving process of this replica how things are."""

    def __init__(self, path: Path, reporter: Reporter, clock: Clock) -> None:
        self._publisher = Publisher(path)
        self._reporter, self._clock = reporter, clock

    async def run(self) -> NoReturn:
        """Tell for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._publisher.run(), name="publisher")
            group.create_task(self._tell_pending(), name="pending lists")
            group.create_task(self._tell_metrics(), name="metrics")
            await self._tell_readiness()

    async def _tell_readiness(self) -> NoReturn:
        """Tell at once when the readiness changes, and now and then that we are alive."""
        told: tuple[bool, bool] | None = None
        alive_at = 0.0
        while True:
            readiness, now = self._reporter.readiness, self._clock.monotonic()
            present = (readiness.elected, readiness.ready)
            if present != told or now - alive_at >= ALIVE_EVERY_S:
                told, alive_at = present, now
                leading, ready = present
                self._publisher.publish(Frame(leading=leading, ready=ready, alive=now))
            await asyncio.sleep(STANDING_EVERY_S)

    async def _tell_metrics(self) -> NoReturn:
        """Tell them to whoever scrapes: to spell a thousand queues costs more than to admit 50."""
        asked = self._publisher.asked_for_metrics
        while True:
            await asked.wait()
            asked.clear()
            told = await self._reporter.expose()
            self._publisher.publish(Frame(metrics=told.body.decode()))

    async def _tell_pending(self) -> NoReturn:
        """Tell who waits in a queue to whoever asks."""
        await answer_in_turn(self._publisher.questions, self._answer, self._clock)

    def _answer(self, question: Question) -> None:
        memory = self._reporter.memory
        # Without a term nothing is known yet: who asks is told to try again.
        if memory is not None and question.pending is not None:
            rows = pending_rows(*memory, question.pending)
            self._publisher.publish(Frame(answers={question.number: rows}))


async def answer_in_turn(
    questions: asyncio.Queue[Question], answer: Callable[[Question], None], clock: Clock
) -> NoReturn:
    """Answer one question after the other, in no more than a fifth of the loop's time.

    Whoever may look at queues may ask without end, and must not hold up admissions by that.
    """
    while True:
        question = await questions.get()
        began = clock.monotonic()
        answer(question)
        await asyncio.sleep((clock.monotonic() - began) * REST_AFTER_ANSWER)
