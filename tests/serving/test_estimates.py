"""Estimates over HTTP: made of the controller's snapshot, by somebody else."""

import asyncio
from typing import Any

import pytest
from aiohttp import ClientResponse, ClientSession

from queueing.serving.answering import Allowed, Elsewhere
from queueing.serving.estimates import ASKS_MAX, EstimateError, Estimator
from queueing.serving.frames import Frame, Question
from queueing.serving.read_models import ReadModels
from queueing.serving.routes import visibility_application
from tests.serving.applications import everybody, no_leader, nobody, served

PATH = "/apis/visibility.queueing.dev/v1alpha1/namespaces/team/workloads/mine/estimate"


async def always(_: Any) -> bool:
    return True


def models(snapshot: str | None) -> ReadModels:
    """Return what a controller that leads would tell."""
    made = ReadModels(leading=True)

    def ask(question: Question) -> None:
        assert question.snapshot is not None
        assert question.snapshot.name == "team/mine"
        made.take(Frame(snapshots={question.number: snapshot}), 0.0)

    made.found(ask)
    return made


async def estimated(snapshot: str, key: str) -> bytes:
    return f'{{"text": "{snapshot} {key}"}}'.encode()


async def too_late(_snapshot: str, _key: str) -> bytes:
    raise EstimateError("there is no estimate in time; ask again")


@pytest.mark.parametrize(
    ("snapshot", "estimator", "allowed", "status", "said"),
    [
        ("around", estimated, everybody, 200, "around team/mine"),
        (None, estimated, everybody, 404, "it does not wait in a queue"),
        ("around", too_late, everybody, 503, "ask again"),
        ("around", estimated, nobody, 403, "may not get"),
    ],
)
def test_an_estimate_is_answered(
    snapshot: str | None, estimator: Estimator, allowed: Allowed, status: int, said: str
) -> None:
    async def scene() -> None:
        elsewhere = Elsewhere(ask=no_leader, exists=always)
        app = visibility_application(models(snapshot), allowed, elsewhere, estimated=estimator)
        async with served(app) as (client, url), client.get(url + PATH) as answer:
            assert answer.status == status
            assert said in await answer.text()

    asyncio.run(scene())


def test_who_asks_while_too_many_wait_is_sent_away_at_once() -> None:
    async def scene() -> None:
        go, waiting = asyncio.Event(), 0

        async def slow(_snapshot: str, _key: str) -> bytes:
            nonlocal waiting
            waiting += 1
            await go.wait()
            return b"{}"

        async def ask(client: ClientSession, url: str) -> ClientResponse:
            async with client.get(url + PATH) as answer:
                await answer.read()
                return answer

        elsewhere = Elsewhere(ask=no_leader, exists=always)
        app = visibility_application(models("around"), everybody, elsewhere, estimated=slow)
        async with (
            asyncio.timeout(20.0),
            served(app) as (client, url),
            asyncio.TaskGroup() as group,
        ):
            first = [group.create_task(ask(client, url)) for _ in range(ASKS_MAX)]
            while waiting < ASKS_MAX:
                await asyncio.sleep(0)
            refused = await ask(client, url)
            assert refused.status == 503
            assert refused.headers["Retry-After"] == "1"
            go.set()
            assert [(await one).status for one in first] == [200] * ASKS_MAX
            assert (await ask(client, url)).status == 200, "there is room again"

    asyncio.run(scene())
