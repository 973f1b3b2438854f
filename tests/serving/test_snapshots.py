"""Snapshots of everything over HTTP."""

from collections.abc import Callable

import pytest
from aiohttp import web

from queueing.serving.answering import Allowed, Elsewhere
from queueing.serving.frames import ALL, Frame, Question
from queueing.serving.read_models import ReadModels
from queueing.serving.routes import metrics_application, visibility_application
from tests.serving.applications import everybody, no_leader, nobody, served

API_PATH = "/apis/visibility.queueing.dev/v1alpha1/engines/current/snapshot"


def leader() -> ReadModels:
    """Return what a controller that leads would tell, in pieces."""
    made = ReadModels(leading=True)

    def ask(question: Question) -> None:
        assert question.snapshot is not None
        assert question.snapshot.name == ALL
        for piece in ("first\n", "second\n", None):
            made.take(Frame(pieces=[(question.number, piece)]), 0.0)

    made.found(ask)
    return made


async def exists(_: object) -> bool:
    return True


async def by_the_leader(request: web.Request) -> web.Response:
    return web.Response(text=f"the leader, at {request.path}")


Made = Callable[[ReadModels, Allowed, Elsewhere], web.Application]
ALONE = Elsewhere(ask=no_leader, exists=exists)


def on_metrics(models: ReadModels, allowed: Allowed, elsewhere: Elsewhere) -> web.Application:
    return metrics_application(models, allowed, elsewhere)


def on_api(models: ReadModels, allowed: Allowed, elsewhere: Elsewhere) -> web.Application:
    return visibility_application(models, allowed, elsewhere)


WITH_A_LEADER = Elsewhere(ask=by_the_leader, exists=exists)
PORTS: dict[str, tuple[Made, str]] = {"port": (on_metrics, "/snapshot"), "API": (on_api, API_PATH)}


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize(
    ("application", "status", "said"),
    [
        pytest.param((leader, everybody, ALONE), 200, "first\nsecond\n", id="all pieces"),
        pytest.param((leader, nobody, ALONE), 403, "may not get", id="who may not"),
        pytest.param((ReadModels, everybody, ALONE), 503, "does not lead", id="nobody leads"),
        pytest.param(
            (ReadModels, everybody, WITH_A_LEADER),
            200,
            f"the leader, at {API_PATH}",
            id="another leads",
        ),
    ],
)
async def test_a_snapshot_is_for_who_may_and_of_who_leads(
    port: str,
    application: tuple[Callable[[], ReadModels], Allowed, Elsewhere],
    status: int,
    said: str,
) -> None:
    made, path = PORTS[port]
    models, allowed, elsewhere = application
    async with (
        served(made(models(), allowed, elsewhere)) as (session, base),
        session.get(base + path) as told,
    ):
        assert told.status == status
        assert said in await told.text()
