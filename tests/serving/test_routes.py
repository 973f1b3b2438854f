"""What the serving process answers over HTTP."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from aiohttp import web

from queueing.kube.resources import Target
from queueing.serving.answering import Elsewhere
from queueing.serving.authorization import ReviewError
from queueing.serving.frames import Frame, PendingRow, Question
from queueing.serving.read_models import ReadModels
from queueing.serving.routes import (
    Readiness,
    metrics_application,
    probe_application,
    visibility_application,
    webhook_application,
)
from queueing.webhooks.admission import WebhookSettings
from queueing.webhooks.jobs import QUEUE, DefaultingContext
from tests.serving.applications import everybody, no_leader, nobody, served

VISIBILITY = "/apis/visibility.kueue.x-k8s.io/v1beta2"


async def unjudged(_request: web.Request) -> bool:
    raise ReviewError("tokenreviews is forbidden")


async def another(_request: web.Request) -> web.Response:
    return web.json_response({"items": [{"metadata": {"name": "of the leader"}}]})


async def exists(queue: Target) -> bool:
    return queue.name == "unused"


ALONE = Elsewhere(ask=no_leader, exists=exists)
WITH_A_LEADER = Elsewhere(ask=another, exists=exists)


async def no_uninstallation() -> None:
    raise AssertionError("nobody removes us here")


def row(name: str, place: int, queue: str = "door", place_there: int = 1) -> PendingRow:
    return PendingRow(
        namespace="default",
        name=name,
        priority=7,
        local_queue=queue,
        position_in_cluster_queue=place,
        position_in_local_queue=place_there,
    )


def known() -> ReadModels:
    """Return what the serving process knows while the controller knows two queues."""
    models = ReadModels(leading=True, ready=True)
    a, b, c = row("a", 0, place_there=0), row("b", 1, "side", 0), row("c", 2)
    lists = {"team": [a, b, c], "default/door": [a, c]}

    def answer(question: Question) -> None:
        part = question.pending
        if part is None:
            frame = Frame(metrics="kueue_x 1\n")
        else:
            rows = lists.get(part.cluster_queue or part.local_queue)
            chosen = rows and rows[part.offset : part.offset + part.limit]
            frame = Frame(answers={question.number: chosen})
        loop = asyncio.get_running_loop()
        loop.call_soon(models.take, frame, loop.time())

    models.found(answer)
    return models


def stuck() -> ReadModels:
    """Return what is known while the controller leads, and has gone away."""
    return ReadModels(leading=True, metrics="kueue_x 1\n")


async def names(application: web.Application, path: str) -> list[str]:
    async with served(application) as (session, base), session.get(base + path) as answer:
        return [item["metadata"]["name"] for item in (await answer.json())["items"]]


@pytest.mark.parametrize(
    ("path", "want"),
    [
        pytest.param("clusterqueues/team/pendingworkloads", ["a", "b", "c"], id="a cluster queue"),
        pytest.param(
            "clusterqueues/team/pendingworkloads?offset=1&limit=1", ["b"], id="a part of it"
        ),
        pytest.param(
            "namespaces/default/localqueues/door/pendingworkloads", ["a", "c"], id="a local queue"
        ),
        pytest.param(
            "namespaces/default/localqueues/unused/pendingworkloads", [], id="a queue nobody uses"
        ),
        pytest.param(
            "clusterqueues/team/pendingworkloads?limit=0", ["a", "b", "c"], id="no limit, in zeros"
        ),
        pytest.param("clusterqueues/unused/pendingworkloads", [], id="a queue just made"),
    ],
)
async def test_who_waits_where(path: str, want: list[str]) -> None:
    assert (
        await names(visibility_application(known(), everybody, ALONE), f"{VISIBILITY}/{path}")
        == want
    )


@pytest.mark.parametrize(
    ("application", "path", "want"),
    [
        pytest.param(
            visibility_application(known(), everybody, ALONE),
            f"{VISIBILITY}/clusterqueues/none/pendingworkloads",
            404,
            id="a queue that is not there",
        ),
        pytest.param(
            visibility_application(known(), everybody, ALONE),
            f"{VISIBILITY}/namespaces/default/localqueues/none/pendingworkloads",
            404,
            id="a local queue that is not there",
        ),
        pytest.param(
            visibility_application(ReadModels(), nobody, WITH_A_LEADER),
            f"{VISIBILITY}/clusterqueues/team/pendingworkloads",
            403,
            id="a user who may not, before the leader is asked",
        ),
        pytest.param(
            visibility_application(known(), everybody, ALONE),
            f"{VISIBILITY}/clusterqueues/team/pendingworkloads?limit=many",
            400,
            id="a limit in words",
        ),
        pytest.param(
            visibility_application(known(), nobody, ALONE),
            f"{VISIBILITY}/clusterqueues/team/pendingworkloads",
            403,
            id="a user who may not",
        ),
        pytest.param(
            visibility_application(known(), unjudged, ALONE),
            f"{VISIBILITY}/clusterqueues/team/pendingworkloads",
            500,
            id="a user of whom nothing is known",
        ),
        pytest.param(
            visibility_application(ReadModels(), everybody, ALONE),
            f"{VISIBILITY}/clusterqueues/team/pendingworkloads",
            503,
            id="a replica that does not lead",
        ),
        pytest.param(
            visibility_application(stuck(), everybody, WITH_A_LEADER),
            f"{VISIBILITY}/clusterqueues/team/pendingworkloads",
            503,
            id="a leader that does not answer",
        ),
        pytest.param(metrics_application(known(), nobody), "/metrics", 403, id="metrics refused"),
        pytest.param(metrics_application(known(), everybody), "/metrics", 200, id="metrics"),
        pytest.param(
            metrics_application(stuck(), everybody),
            "/metrics",
            503,
            id="metrics of a controller that went away",
        ),
    ],
)
async def test_how_a_request_ends(application: web.Application, path: str, want: int) -> None:
    async with served(application) as (session, base), session.get(base + path) as answer:
        assert answer.status == want


async def test_a_connection_ends_with_the_refusal_so_that_the_next_may_bring_a_certificate() -> (
    None
):
    application = visibility_application(known(), nobody, ALONE)
    path = f"{VISIBILITY}/clusterqueues/team/pendingworkloads"
    async with served(application) as (session, base), session.get(base + path) as answer:
        assert answer.headers["Connection"] == "close"


async def test_a_replica_that_does_not_lead_hands_on_what_the_leader_says() -> None:
    application = visibility_application(ReadModels(), everybody, WITH_A_LEADER)
    path = f"{VISIBILITY}/clusterqueues/team/pendingworkloads"
    assert await names(application, path) == ["of the leader"]


async def test_discovery_lists_the_versions() -> None:
    application = visibility_application(known(), everybody, ALONE)
    async with served(application) as (session, base), session.get(f"{base}/apis") as answer:
        group = (await answer.json())["groups"][0]
    assert [one["version"] for one in group["versions"]] == ["v1beta2", "v1beta1"]


async def test_a_probe_says_what_is_missing() -> None:
    readiness = Readiness({"caches": lambda: False, "certificate": lambda: True})
    application = probe_application(ReadModels(), readiness)
    async with served(application) as (session, base), session.get(f"{base}/readyz") as answer:
        assert answer.status == 503
        assert await answer.text() == "not ready: caches\n"


@pytest.mark.parametrize("path", ["/healthz", "/alive", "/readyz", "/up"])
async def test_probes_are_answered_at_the_usual_paths_and_at_those_of_the_configuration(
    path: str,
) -> None:
    application = probe_application(ReadModels(), Readiness({}), alive="/alive", ready="/up")
    async with served(application) as (session, base), session.get(base + path) as answer:
        assert answer.status == 200


async def test_a_controller_that_fell_silent_is_unhealthy() -> None:
    silent_since = asyncio.get_running_loop().time() - 1000
    models = ReadModels(connected=True, heard=silent_since)
    async with served(probe_application(models, Readiness({}))) as (session, base):
        async with session.get(f"{base}/healthz") as answer:
            assert answer.status == 500
        models.heard = asyncio.get_running_loop().time()
        async with session.get(f"{base}/healthz") as answer:
            assert answer.status == 200


def review(kind: str, new: Mapping[str, Any]) -> dict[str, Any]:
    request = {"uid": "u", "kind": {"kind": kind}, "operation": "CREATE", "object": new}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


@pytest.mark.parametrize(
    ("path", "body", "allowed"),
    [
        pytest.param(
            "/mutate-batch-v1-job",
            review("Job", {"metadata": {"labels": {QUEUE: "door"}}, "spec": {}}),
            True,
            id="defaulting",
        ),
        pytest.param(
            "/validate-kueue-x-k8s-io-v1beta2-cohort",
            review("Cohort", {"spec": {"fairSharing": {"weight": "-1"}}}),
            False,
            id="validation",
        ),
    ],
)
async def test_webhooks_answer_reviews(path: str, body: Any, allowed: bool) -> None:
    application = webhook_application(
        lambda _: DefaultingContext(), WebhookSettings(), lambda body: body, no_uninstallation
    )
    async with (
        served(application) as (session, base),
        session.post(base + path, json=body) as answer,
    ):
        response = (await answer.json())["response"]
    assert (response["uid"], response["allowed"]) == ("u", allowed)
