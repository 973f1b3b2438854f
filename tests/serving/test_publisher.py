"""The controller speaks, the serving process remembers."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from queueing.serving.frames import Around, Frame, PendingPart, PendingRow, Question
from queueing.serving.publisher import Publisher
from queueing.serving.read_models import NoAnswerError, ReadModels, listening

BOUND_S = 20.0
TEAM = PendingPart(cluster_queue="team", limit=10)
AROUND = Around("ns/a")


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(BOUND_S):
        while not holds():
            await asyncio.sleep(0.01)


def row(name: str, place: int = 1) -> PendingRow:
    return PendingRow(
        namespace="default",
        name=name,
        priority=0,
        local_queue="door",
        position_in_cluster_queue=place,
        position_in_local_queue=place,
    )


async def test_what_is_published_is_known_there(tmp_path: Path) -> None:
    path, models = tmp_path / "s", ReadModels()
    async with listening(path, models), asyncio.TaskGroup() as group:
        publisher = Publisher(path)
        speaking = group.create_task(publisher.run())
        publisher.publish(Frame(leading=True, ready=False))
        await until(lambda: models.leading)
        publisher.publish(Frame(metrics="kueue_x 1\n"))
        await until(lambda: models.metrics == "kueue_x 1\n")
        speaking.cancel()
        assert models.leading
        assert not models.ready


async def test_a_serving_process_that_starts_anew_hears_all_but_old_metrics(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s"
    async with asyncio.TaskGroup() as group:
        publisher = Publisher(path)
        speaking = group.create_task(publisher.run())
        publisher.publish(Frame(leading=True, ready=True))
        first = ReadModels()
        async with listening(path, first):
            await until(lambda: first.ready)
            publisher.publish(Frame(metrics="kueue_x 1\n"))
            await until(lambda: first.metrics == "kueue_x 1\n")
        second = ReadModels()
        async with listening(path, second):
            publisher.publish(Frame(alive=1.0))  # it notices when it speaks
            await until(lambda: second.ready)
            assert second.leading
            assert second.metrics == ""
            publisher.publish(Frame(metrics="kueue_x 2\n"))
            await until(lambda: second.metrics == "kueue_x 2\n")
        speaking.cancel()


async def test_nothing_is_claimed_for_a_controller_that_is_gone(tmp_path: Path) -> None:
    path, models = tmp_path / "s", ReadModels()
    async with listening(path, models), asyncio.TaskGroup() as group:
        publisher = Publisher(path)
        speaking = group.create_task(publisher.run())
        publisher.publish(Frame(leading=True, ready=True))
        await until(lambda: models.ready)
        speaking.cancel()
        await until(lambda: not models.connected)
        assert not models.leading
        assert not models.ready


async def answer(publisher: Publisher, texts: list[str]) -> None:
    """Play the controller: tell the next text whenever the metrics are asked for."""
    while texts:
        await publisher.asked_for_metrics.wait()
        publisher.asked_for_metrics.clear()
        publisher.publish(Frame(metrics=texts.pop(0)))


async def test_metrics_are_told_when_they_are_asked_for_and_shared_for_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, models = tmp_path / "s", ReadModels()
    async with listening(path, models), asyncio.TaskGroup() as group:
        publisher = Publisher(path)
        speaking = group.create_task(publisher.run())
        group.create_task(answer(publisher, ["kueue_x 1\n", "kueue_x 2\n"]))
        await until(lambda: models.connected)
        assert models.metrics == ""
        several = await asyncio.gather(*(models.current_metrics(BOUND_S) for _ in range(3)))
        assert set(several) == {"kueue_x 1\n"}
        monkeypatch.setattr("queueing.serving.read_models.SHARED_S", BOUND_S)
        assert await models.current_metrics(BOUND_S) == "kueue_x 1\n"
        monkeypatch.setattr("queueing.serving.read_models.SHARED_S", 0.0)
        assert await models.current_metrics(BOUND_S) == "kueue_x 2\n"
        speaking.cancel()


async def test_who_scrapes_gets_no_metrics_of_before_where_nobody_answers(tmp_path: Path) -> None:
    """They would say for ever that a replica leads which does nothing any more."""
    path, models = tmp_path / "s", ReadModels(metrics="kueue_x 1\n")
    with pytest.raises(NoAnswerError, match="is away"):
        await models.current_metrics(BOUND_S)
    async with listening(path, models), asyncio.TaskGroup() as group:
        publisher = Publisher(path)
        speaking = group.create_task(publisher.run())
        await until(lambda: models.connected)
        with pytest.raises(NoAnswerError, match="in time"):
            await models.current_metrics(0.01)
        await until(publisher.asked_for_metrics.is_set)
        publisher.asked_for_metrics.clear()
        asking = asyncio.create_task(models.current_metrics(BOUND_S))
        await until(publisher.asked_for_metrics.is_set)
        speaking.cancel()
        with pytest.raises(NoAnswerError, match="went away"):
            await asking


class Questioned:
    """The two ends of a socket, and the questions that reached the controller."""

    def __init__(self, path: Path) -> None:
        self.models = ReadModels()
        self.publisher = Publisher(path)

    async def next(self) -> Question:
        async with asyncio.timeout(BOUND_S):
            return await self.publisher.questions.get()

    def answer(self, question: Question, rows: list[PendingRow] | None) -> None:
        self.publisher.publish(Frame(answers={question.number: rows}))

    def ask(self, part: PendingPart = TEAM) -> "asyncio.Task[Sequence[PendingRow] | None]":
        return asyncio.create_task(self.models.pending(part, BOUND_S))


@pytest.fixture
async def ends(tmp_path: Path) -> AsyncIterator[Questioned]:
    both = Questioned(tmp_path / "s")
    async with listening(tmp_path / "s", both.models), asyncio.TaskGroup() as group:
        speaking = group.create_task(both.publisher.run())
        await until(lambda: both.models.connected)
        yield both
        speaking.cancel()


async def test_who_waits_is_told_when_somebody_asks(ends: Questioned) -> None:
    asking = ends.ask()
    question = await ends.next()
    assert question.pending == TEAM
    ends.answer(question, [row("a")])
    assert await asking == [row("a")]


async def test_a_queue_that_the_controller_does_not_know_is_none(ends: Questioned) -> None:
    asking = ends.ask()
    ends.answer(await ends.next(), None)
    assert await asking is None


async def test_who_asks_the_same_at_once_or_just_after_shares_the_answer(ends: Questioned) -> None:
    asking = [ends.ask() for _ in range(3)]
    other = ends.ask(PendingPart(local_queue="default/door", limit=10))
    first, second = await ends.next(), await ends.next()
    ends.answer(second, [])
    ends.answer(first, [row("a")])
    assert await asyncio.gather(*asking) == [[row("a")]] * 3
    assert await other == []
    assert await ends.ask() == [row("a")]
    assert ends.publisher.questions.empty()


async def test_an_answer_is_not_shared_for_long(
    ends: Questioned, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("queueing.serving.read_models.SHARED_S", 0.0)
    for name in ("a", "b"):
        asking = ends.ask()
        ends.answer(await ends.next(), [row(name)])
        assert await asking == [row(name)]


async def test_where_nobody_answers_in_time_the_next_one_asks_anew(ends: Questioned) -> None:
    with pytest.raises(NoAnswerError):
        await ends.models.pending(TEAM, 0.01)
    late = await ends.next()
    asking = ends.ask()
    question = await ends.next()
    ends.answer(late, [row("old")])
    ends.answer(question, [row("new")])
    assert await asking == [row("new")]


async def test_who_waits_for_a_controller_that_goes_away_is_told_so(tmp_path: Path) -> None:
    both = Questioned(tmp_path / "s")
    async with listening(tmp_path / "s", both.models), asyncio.TaskGroup() as group:
        speaking = group.create_task(both.publisher.run())
        await until(lambda: both.models.connected)
        asking = both.ask()
        await both.next()
        speaking.cancel()
        with pytest.raises(NoAnswerError):
            await asking
    with pytest.raises(NoAnswerError):
        await both.models.pending(TEAM, BOUND_S)


async def test_answers_to_a_serving_process_that_is_gone_are_not_for_others(tmp_path: Path) -> None:
    path, both = tmp_path / "s", Questioned(tmp_path / "s")
    async with asyncio.TaskGroup() as group:
        speaking = group.create_task(both.publisher.run())
        async with listening(path, both.models):
            await until(lambda: both.models.connected)
            with pytest.raises(NoAnswerError):
                await both.models.pending(TEAM, 0.01)
            old = await both.next()
        both.answer(old, [row("old")])
        both.models = ReadModels()
        async with listening(path, both.models):
            await until(lambda: both.models.connected)
            asking = both.ask()
            new = await both.next()
            both.answer(old, [row("old")])
            both.publisher.publish(Frame(metrics="kueue_x 1\n"))
            await until(lambda: both.models.metrics != "")
            assert not asking.done()
            both.answer(new, [row("new")])
            assert await asking == [row("new")]
        speaking.cancel()


@pytest.mark.parametrize(("limit", "asks"), [("QUESTIONS_MAX", TEAM), ("SNAPSHOTS_MAX", AROUND)])
async def test_of_too_many_questions_the_last_are_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: str, asks: PendingPart | Around
) -> None:
    monkeypatch.setattr(f"queueing.serving.publisher.{limit}", 1)
    both = Questioned(tmp_path / "s")
    waiting = both.publisher.surroundings if isinstance(asks, Around) else both.publisher.questions

    async def ask(of: PendingPart | Around) -> object:
        if isinstance(of, Around):
            return await both.models.snapshot(of, BOUND_S)
        return await both.models.pending(of, BOUND_S)

    async with listening(tmp_path / "s", both.models), asyncio.TaskGroup() as group:
        speaking = group.create_task(both.publisher.run())
        await until(lambda: both.models.connected)
        first = asyncio.create_task(ask(asks))
        await until(waiting.full)
        other = Around("ns/b") if isinstance(asks, Around) else PendingPart(cluster_queue="b")
        with pytest.raises(NoAnswerError, match="too many ask"):
            await ask(other)
        first.cancel()
        speaking.cancel()
