import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from typing_extensions import override

from queueing.clock import SystemClock
from queueing.controller.telemetry.broadcast import Broadcast, answer_in_turn
from queueing.controller.telemetry.reporter import Reporter
from queueing.serving import read_models
from queueing.serving.frames import Around, Question, Subject
from queueing.serving.read_models import NoAnswerError, ReadModels, listening
from queueing.testing.virtual_time import LoopClock, in_no_time
from tests.controller.telemetry.desk import NOW, Desk, workload

BOUND_S = 20.0


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


WORKLOAD = Subject("workloads", "ns/waits")


@asynccontextmanager
async def asked(path: Path) -> AsyncIterator[ReadModels]:
    """Run a leader's answers, and give what the serving process sees of them."""
    desk, models = Desk(), ReadModels()
    desk.hear(workload("waits", "99"))
    desk.engine.cycle(NOW)
    async with listening(path, models):
        broadcast = Broadcast(path, desk.reporter, SystemClock())
        running = asyncio.create_task(broadcast.run())
        async with asyncio.timeout(BOUND_S):
            while not models.connected:
                await asyncio.sleep(0.01)
        yield models
        assert not running.done()
        running.cancel()


@pytest.mark.parametrize("fails", ["answers.workload", "snapshot.facts_around", "snapshot.lines"])
async def test_a_question_at_which_explanations_fail_ends_itself_alone(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
    fails: str,
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    async def asks(models: ReadModels) -> object:
        if fails == "answers.workload":
            return await models.explanation(WORKLOAD, BOUND_S)
        return await models.snapshot(Around(WORKLOAD.name), BOUND_S)

    async with asked(tmp_path / "s") as models:
        with monkeypatch.context() as patched:
            patched.setattr(f"queueing.controller.telemetry.broadcast.{fails}", fail)
            with pytest.raises(NoAnswerError, match="fails at this question"):
                await asks(models)
        assert "ZeroDivisionError" in caplog.text, "with its traceback"
        monkeypatch.setattr(read_models, "SHARED_S", 0.0)
        assert await asks(models), "the next one is answered"


async def test_metrics_that_cannot_be_measured_end_one_scrape_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    async def fail(*_: object) -> None:
        raise ZeroDivisionError

    async with asked(tmp_path / "s") as models:
        with monkeypatch.context() as patched:
            patched.setattr(Reporter, "expose", fail)
            await models.current_metrics(0.1)
        assert "ZeroDivisionError" in caplog.text
        assert "kueue_pending_workloads" in await models.current_metrics(BOUND_S)
