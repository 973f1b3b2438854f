import asyncio

from typing_extensions import override

from queueing.controller.telemetry.broadcast import answer_in_turn
from queueing.serving.frames import Question
from queueing.testing.virtual_time import LoopClock, in_no_time


class BusyClock(LoopClock):
    """A clock on which work takes time, too."""

    worked = 0.0

    @override
    def monotonic(self) -> float:
        return super().monotonic() + self.worked


def test_who_asks_without_end_gets_a_fifth_of_the_time() -> None:
    """Lists of long queues are slow to make, and decisions must go on beside them."""
    clock, answered = BusyClock(), list[int]()

    def answer(question: Question) -> None:
        clock.worked += 0.3
        answered.append(question.number)

    async def scene(_: LoopClock) -> None:
        questions = asyncio.Queue[Question]()
        for number in range(1000):
            questions.put_nowait(Question(number=number))
        answering = asyncio.create_task(answer_in_turn(questions, answer, clock))
        while clock.monotonic() < 60:
            await asyncio.sleep(0.1)
        answering.cancel()

    in_no_time(scene)
    assert answered == list(range(len(answered)))
    assert 0.19 < clock.worked / 60 < 0.21
