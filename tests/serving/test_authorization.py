"""What is answered when the API server judges nobody, and what the log says about it."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.serving.authorization import AnswerCache, Reviewer
from queueing.serving.read_models import ReadModels
from queueing.serving.routes import metrics_application

NOT_PERMITTED = 'tokenreviews is forbidden: User "queueing" cannot create resource "tokenreviews"'


@asynccontextmanager
async def judged_by(code: int, message: str) -> AsyncIterator[tuple[Reviewer, list[float]]]:
    """Lend a reviewer whose API server answers so, and the clock that it looks at."""
    clock = [0.0]

    async def answer(_request: web.Request) -> web.Response:
        return web.json_response(
            {"kind": "Status", "code": code, "reason": "Forbidden", "message": message},
            status=code,
        )

    application = web.Application()
    application.router.add_post("/{path:.*}", answer)
    async with (
        TestServer(application) as server,
        Client(Cluster.plain(f"http://{server.host}:{server.port}")) as client,
    ):
        yield Reviewer(client, lambda: clock[0], lambda _: False), clock


async def scraped(reviewer: Reviewer) -> tuple[int, str]:
    application = metrics_application(ReadModels(), reviewer.may_read_path)
    async with (
        TestServer(application) as server,
        ClientSession(headers={"Authorization": "Bearer x"}) as session,
        session.get(server.make_url("/metrics")) as answer,
    ):
        return answer.status, (await answer.json())["reason"]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        pytest.param(403, NOT_PERMITTED, id="we may not ask"),
        pytest.param(400, "what is this", id="it does not understand"),
    ],
)
async def test_who_cannot_be_judged_gets_no_answer(code: int, message: str) -> None:
    async with judged_by(code, message) as (reviewer, _):
        assert await scraped(reviewer) == (500, "InternalError")


async def test_the_log_names_the_missing_binding_once_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with judged_by(403, NOT_PERMITTED) as (reviewer, clock):
        for at in (0.0, 1.0, 59.0, 61.0):
            clock[0] = at
            await scraped(reviewer)
    told = [one.getMessage() for one in caplog.records if one.levelno == logging.ERROR]
    assert len(told) == 2
    assert all("kueue-metrics-auth-rolebinding" in one and NOT_PERMITTED in one for one in told)


async def test_answers_for_many_visitors_with_many_namespaces_are_remembered() -> None:
    asked: list[int] = []
    memory = AnswerCache(lambda: 0.0)

    async def ask(number: int) -> bool:
        asked.append(number)
        return True

    for number in [*range(200 * 50), *range(200 * 50)]:
        await memory.recall((str(number),), partial(ask, number))
    assert len(asked) == 200 * 50
