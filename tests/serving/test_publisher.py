"""The controller speaks, the serving process remembers."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from queueing.serving.frames import Frame, PendingRow
from queueing.serving.publisher import Publisher
from queueing.serving.read_models import ReadModels, listening

BOUND_S = 20.0


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
        publisher.publish(Frame(leading=True, queues={"team": [row("a")]}))
        publisher.publish(Frame(metrics="kueue_x 1\n"))
        await until(lambda: models.metrics == "kueue_x 1\n")
        speaking.cancel()
        assert models.leading
        assert [one.name for one in models.queues["team"]] == ["a"]


async def test_a_queue_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    path, models = tmp_path / "s", ReadModels()
    async with listening(path, models), asyncio.TaskGroup() as group:
        publisher = Publisher(path)
        speaking = group.create_task(publisher.run())
        publisher.publish(Frame(queues={"team": [row("a")], "other": []}))
        await until(lambda: "team" in models.queues)
        publisher.publish(Frame(queues={"team": None}))
        await until(lambda: "team" not in models.queues)
        speaking.cancel()
        assert models.queues == {"other": []}


async def test_a_serving_process_that_starts_anew_hears_everything(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with asyncio.TaskGroup() as group:
        publisher = Publisher(path)
        speaking = group.create_task(publisher.run())
        publisher.publish(Frame(leading=True, ready=True))
        first = ReadModels()
        async with listening(path, first):
            await until(lambda: first.ready)
        second = ReadModels()
        async with listening(path, second):
            publisher.publish(Frame(queues={"team": [row("a")]}))
            await until(lambda: "team" in second.queues)
            assert second.ready
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


async def test_metrics_are_told_when_they_are_asked_for(tmp_path: Path) -> None:
    path, models = tmp_path / "s", ReadModels()
    async with listening(path, models), asyncio.TaskGroup() as group:
        publisher = Publisher(path)
        speaking = group.create_task(publisher.run())
        group.create_task(answer(publisher, ["kueue_x 1\n", "kueue_x 2\n"]))
        await until(lambda: models.connected)
        assert models.metrics == ""
        several = await asyncio.gather(*(models.current_metrics(BOUND_S) for _ in range(3)))
        assert set(several) == {"kueue_x 1\n"}
        assert await models.current_metrics(BOUND_S) == "kueue_x 2\n"
        speaking.cancel()


async def test_who_scrapes_gets_the_last_metrics_where_nobody_answers(tmp_path: Path) -> None:
    path, models = tmp_path / "s", ReadModels(metrics="kueue_x 1\n")
    assert await models.current_metrics(BOUND_S) == "kueue_x 1\n", "no controller is there"
    async with listening(path, models), asyncio.TaskGroup() as group:
        publisher = Publisher(path)
        speaking = group.create_task(publisher.run())
        await until(lambda: models.connected)
        assert await models.current_metrics(0.01) == "kueue_x 1\n", "it does not answer in time"
        await until(publisher.asked_for_metrics.is_set)
        publisher.asked_for_metrics.clear()
        asking = asyncio.create_task(models.current_metrics(BOUND_S))
        await until(publisher.asked_for_metrics.is_set)
        speaking.cancel()
        assert await asking == "kueue_x 1\n", "it went away meanwhile"
