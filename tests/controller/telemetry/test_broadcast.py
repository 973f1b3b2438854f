import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from typing_extensions import override

from queueing.clock import Clock, SystemClock
from queueing.controller.telemetry import broadcast
from queueing.controller.telemetry.broadcast import Broadcast, answer_in_turn, explained
from queueing.controller.telemetry.reporter import Reporter
from queueing.explain.domain_model import ResourceFlavorExplanation
from queueing.explain.model import Answer
from queueing.serving import read_models
from queueing.serving.frames import ALL, Around, PendingPart, Question, Subject
from queueing.serving.read_models import NoAnswerError, ReadModels, listening
from queueing.state.engine import Engine
from queueing.testing.virtual_time import LoopClock, in_no_time
from tests.controller.telemetry.desk import NOW, SETTINGS, Desk, workload
from tests.explain.worlds import engine_of
from tests.stalls import stand_still

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
Ask = Callable[[ReadModels], Awaitable[object]]


@asynccontextmanager
async def asked(
    path: Path, desk: Desk | None = None, clock: Clock | None = None
) -> AsyncIterator[ReadModels]:
    """Run a leader's answers, and give what the serving process sees of them."""
    desk, models = desk or Desk(), ReadModels()
    desk.hear(workload("waits", "99"))
    desk.engine.cycle(NOW)
    async with listening(path, models):
        told = Broadcast(path, desk.reporter, clock or SystemClock())
        running = asyncio.create_task(told.run())
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
            with pytest.raises(NoAnswerError):
                await models.current_metrics(0.1)
            async with asyncio.timeout(BOUND_S):
                while "ZeroDivisionError" not in caplog.text:
                    await asyncio.sleep(0.01)
        assert "kueue_pending_workloads" in await models.current_metrics(BOUND_S)


async def test_what_was_given_up_is_not_answered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whoever asks for much would else be answered for long, and nobody else."""
    looked = list[str]()

    def explained(_engine: object, subject: Subject, *_: object) -> Answer | None:
        looked.append(subject.name)
        return None

    def facts_around(_memory: object, key: str) -> None:
        looked.append(key)

    monkeypatch.setattr(broadcast, "explained", explained)
    monkeypatch.setattr("queueing.recording.snapshot.facts_around", facts_around)
    async with asked(tmp_path / "s") as models:
        with monkeypatch.context() as patched:
            patched.setattr(Engine, "is_within_round", property(lambda _: True))
            for name in ("ns/a", "ns/b"):
                with pytest.raises(NoAnswerError):
                    await models.explanation(Subject("workloads", name), 0.001)
                with pytest.raises(NoAnswerError):
                    await models.snapshot(Around(name), 0.001)
        assert await models.explanation(Subject("workloads", "ns/c"), BOUND_S) is None
        assert await models.snapshot(Around("ns/d"), BOUND_S) is None
    assert looked == ["ns/c", "ns/d"]


async def test_a_snapshot_that_nobody_waits_for_is_not_written_to_its_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    written = list[object]()

    def lines(facts: object) -> str:
        written.append(facts)
        stand_still(monkeypatch, BOUND_S)
        return ""

    monkeypatch.setattr(broadcast, "FACTS_AT_ONCE", 1)
    monkeypatch.setattr("queueing.recording.snapshot.lines", lines)
    async with asked(tmp_path / "s") as models:
        with pytest.raises(NoAnswerError):
            await models.snapshot(Around(WORKLOAD.name), BOUND_S)
        assert await models.snapshot(Around("ns/nobody"), BOUND_S) is None
    assert len(written) == 1


async def test_an_estimate_does_not_wait_for_a_snapshot_of_everything(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    written = list[object]()

    def lines(facts: Sequence[object]) -> str:
        written.append(facts)
        return "a line"

    monkeypatch.setattr(broadcast, "FACTS_AT_ONCE", 1)
    monkeypatch.setattr("queueing.recording.snapshot.facts_of", lambda _: [None] * 200_000)
    monkeypatch.setattr("queueing.recording.snapshot.lines", lines)
    async with asked(tmp_path / "s") as models:
        all_of_it = asyncio.create_task(models.snapshot(Around(ALL), 2 * BOUND_S))
        async with asyncio.timeout(BOUND_S):
            while not written:
                await asyncio.sleep(0.001)
        assert await models.snapshot(Around(WORKLOAD.name), BOUND_S)
        assert not all_of_it.done()
        all_of_it.cancel()


async def test_snapshots_that_are_written_at_once_get_a_fifth_of_the_time_together(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clock, written = BusyClock(), list[object]()

    def lines(facts: object) -> str:
        clock.worked += 0.005
        written.append(facts)
        return "a line"

    for name in ("facts_of", "facts_around"):
        monkeypatch.setattr(f"queueing.recording.snapshot.{name}", lambda *_: [None] * 10_000)
    monkeypatch.setattr("queueing.recording.snapshot.lines", lines)
    async with asked(tmp_path / "s", clock=clock) as models:
        began = clock.monotonic()
        asking = [
            asyncio.create_task(models.snapshot(Around(one), BOUND_S))
            for one in (ALL, WORKLOAD.name)
        ]
        async with asyncio.timeout(BOUND_S):
            while len(written) < 30:
                await asyncio.sleep(0.001)
        share = clock.worked / (clock.monotonic() - began)
        for one in asking:
            one.cancel()
    assert share < 0.22


@pytest.mark.parametrize(
    "asks",
    [
        lambda models: models.pending(PendingPart(cluster_queue="cq", limit=1), BOUND_S),
        lambda models: models.explanation(WORKLOAD, BOUND_S),
        lambda models: models.snapshot(Around(ALL), BOUND_S),
    ],
    ids=["list", "explanation", "snapshot"],
)
async def test_who_asks_as_a_term_ends_is_told_so_at_once(tmp_path: Path, asks: Ask) -> None:
    desk = Desk()
    async with asked(tmp_path / "s", desk) as models:
        desk.reporter.left()
        with pytest.raises(NoAnswerError, match="does not lead"):
            await asks(models)


@pytest.mark.parametrize("leads_again", [False, True])
async def test_a_snapshot_is_not_written_beyond_the_term_in_which_it_began(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, leads_again: bool
) -> None:
    desk = Desk()

    def lines(_facts: object) -> str:
        desk.reporter.left()
        if leads_again:
            desk.reporter.synced(desk.objects, Engine(SETTINGS))
        return "a line"

    monkeypatch.setattr("queueing.recording.snapshot.lines", lines)
    async with asked(tmp_path / "s", desk) as models:
        with pytest.raises(NoAnswerError, match="does not lead"):
            await models.snapshot(Around(ALL), BOUND_S)


@pytest.mark.parametrize(("part", "want"), [("/", ["r1"]), ("/r1", ["n1"])])
def test_a_domain_can_be_looked_into_where_a_label_is_empty(part: str, want: list[str]) -> None:
    engine = engine_of(
        {
            "flavors": {"gpu": {"nodeLabels": {"pool": "gpu"}, "topologyName": "dc"}},
            "nodes": {"n1": {"in": "/r1", "cpu": 4}},
            "queues": {"q": {"cpu": {"gpu": 100}}},
        }
    )
    subject = Subject("resourceflavors", "gpu", part, limit=50)
    found = explained(engine, subject, lambda: False, 0.0)
    assert isinstance(found, ResourceFlavorExplanation)
    assert [one.name for one in found.domains] == want
