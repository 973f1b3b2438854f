"""Estimates over HTTP: made of the controller's snapshot, by somebody else."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from aiohttp import ClientResponse, ClientSession

from queueing.explain.model import Estimate
from queueing.serving.answering import Allowed, Elsewhere
from queueing.serving.estimates import ASKS_MAX, EstimateError, Estimates, Estimator
from queueing.serving.frames import Frame, Question
from queueing.serving.read_models import ReadModels
from queueing.serving.routes import visibility_application
from tests.serving.applications import everybody, no_leader, nobody, served
from tests.serving.ui.samples import answer

API = "/apis/visibility.queueing.dev/v1alpha1"
PATH = f"{API}/namespaces/team/workloads/mine/estimate"


async def always(_: Any) -> bool:
    return True


def models(snapshot: str | None) -> ReadModels:
    """Return what a controller that leads would tell."""
    made = ReadModels(leading=True)

    def ask(question: Question) -> None:
        if question.explain is not None:
            told = answer(question.explain)
            made.take(Frame(explanations={question.number: told}), 0.0)
            return
        assert question.snapshot is not None
        assert question.snapshot.name in {"team/mine", "team/job-0", "team/job-110"}
        pieces = [snapshot[:3], snapshot[3:], None] if snapshot else [None]
        made.take(Frame(pieces=[(question.number, one) for one in pieces]), 0.0)

    made.found(ask)
    return made


async def estimated(snapshot: str, keys: Sequence[str]) -> bytes:
    return msgspec.json.encode(
        {key: Estimate(known=True, text=f"{snapshot} {key}", as_of="") for key in keys}
    )


async def too_late(_snapshot: str, _keys: Sequence[str]) -> bytes:
    raise EstimateError("there is no estimate in time; ask again")


async def broken(_snapshot: str, _keys: Sequence[str]) -> bytes:
    return b'{"team/mine": {'


async def of_others(_snapshot: str, _keys: Sequence[str]) -> bytes:
    return b"{}"


@pytest.mark.parametrize(
    ("snapshot", "estimator", "allowed", "status", "said"),
    [
        ("around", estimated, everybody, 200, "around team/mine"),
        (None, estimated, everybody, 404, "it does not wait in a queue"),
        ("around", too_late, everybody, 503, "ask again"),
        ("around", broken, everybody, 503, "what was worked out cannot be read"),
        ("around", of_others, everybody, 503, "what was worked out cannot be read"),
        ("around", estimated, nobody, 403, "may not get"),
    ],
)
def test_an_estimate_is_answered(
    snapshot: str | None, estimator: Estimator, allowed: Allowed, status: int, said: str
) -> None:
    async def scene() -> None:
        elsewhere = Elsewhere(ask=no_leader, exists=always)
        known = models(snapshot)
        estimates = Estimates(known, estimator)
        app = visibility_application(known, allowed, elsewhere, estimates=estimates)
        async with served(app) as (client, url), client.get(url + PATH) as answer:
            assert answer.status == status
            assert said in await answer.text()

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("path", "status", "named"),
    [
        ("clusterqueues/vision/estimate", 200, range(10)),
        ("clusterqueues/vision/estimate?offset=110&limit=3", 200, range(110, 113)),
        ("clusterqueues/gone/estimate", 404, range(0)),
        ("clusterqueues/vision/estimate?offset=many", 400, range(0)),
    ],
)
def test_who_waits_in_a_queue_is_estimated_together(path: str, status: int, named: range) -> None:
    async def scene() -> None:
        known = models("around")
        elsewhere = Elsewhere(ask=no_leader, exists=always)
        estimates = Estimates(known, estimated)
        app = visibility_application(known, everybody, elsewhere, estimates=estimates)
        async with served(app) as (client, url), client.get(f"{url}{API}/{path}") as told:
            assert told.status == status
            found = (await told.json()).get("estimates", {})
        assert list(found) == [f"team/job-{number}" for number in named]
        assert all(one["text"] == f"around {key}" for key, one in found.items())

    asyncio.run(scene())


def test_who_asks_while_too_many_wait_is_sent_away_at_once() -> None:
    async def scene() -> None:
        go, waiting = asyncio.Event(), 0

        async def slow(snapshot: str, keys: Sequence[str]) -> bytes:
            nonlocal waiting
            waiting += 1
            await go.wait()
            return await estimated(snapshot, keys)

        async def ask(client: ClientSession, url: str) -> ClientResponse:
            async with client.get(url + PATH) as answer:
                await answer.read()
                return answer

        elsewhere = Elsewhere(ask=no_leader, exists=always)
        known = models("around")
        estimates = Estimates(known, slow)
        app = visibility_application(known, everybody, elsewhere, estimates=estimates)
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
