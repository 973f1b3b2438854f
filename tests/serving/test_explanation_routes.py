"""Explanations over HTTP: who may ask, and whose names they read."""

import asyncio
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from aiohttp import web

from queueing.explain.domain_model import Domain, ResourceFlavorExplanation, Seat
from queueing.explain.model import HIDDEN, Answer, Blocker, Group, Place, QueueExplanation
from queueing.explain.model import WorkloadExplanation as Explained
from queueing.kube.resources import Target
from queueing.serving.answering import Allowed, Elsewhere
from queueing.serving.frames import Frame, Question, Subject
from queueing.serving.read_models import ReadModels
from queueing.serving.routes import visibility_application
from tests.serving.applications import everybody, no_leader, nobody, served

API = "/apis/visibility.queueing.dev/v1alpha1"
MINE = f"{API}/namespaces/team/workloads/mine/explanation"
QUEUE = f"{API}/namespaces/team/localqueues/door/explanation"
RACKS = f"{API}/resourceflavors/gpu/explanation"
WHOLE = f"{API}/clusterqueues/vision/explanation"


def explained() -> Explained:
    """Return what is said of a workload behind one of another namespace."""
    place = Place(
        position_in_cluster_queue=1,
        position_in_local_queue=0,
        pending=2,
        strict=True,
        first="other/wide",
        ahead=("other/wide",),
    )
    text = "it is not its turn: other/wide comes before it"
    return Explained(
        namespace="team",
        name="mine",
        state="Waiting",
        summary=f"It waits: {text}.",
        reason="PendingEvaluation",
        message="",
        local_queue="door",
        cluster_queue="vision",
        cohort="",
        priority=0,
        created="",
        blockers=(Blocker(kind="Turn", object="Workload other/wide", text=text),),
        place=place,
    )


def queue(kind: str) -> QueueExplanation:
    group = Group(reason="WaitingForQuota", message="", count=2, first="other/wide")
    return QueueExplanation(
        queue=kind,
        namespace="",
        name="vision",
        cluster_queue="vision",
        cohort="",
        active=True,
        summary="",
        pending=2,
        inadmissible=0,
        reserving=0,
        admitted=0,
        quotas=(),
        groups=(group,),
    )


def racks(topology: str = "dc") -> ResourceFlavorExplanation:
    """Return what is said of a flavor with one domain, in which somebody sits."""
    seat = Seat(workload="other/wide", cluster_queue="vision", priority=0, pods=2, leaving=False)
    rack = Domain(name="r1", nodes=1, free={}, room={}, fits=0, seats=(seat,), seats_in_all=1)
    return ResourceFlavorExplanation(
        flavors=("gpu",),
        name="gpu",
        topology=topology,
        levels=("dc/rack", "kubernetes.io/hostname"),
        domain=(),
        pod={},
        offset=0,
        in_all=1,
        domains=(rack,),
    )


ANSWERS: dict[Subject, Answer] = {
    Subject("resourceflavors", "gpu", limit=1000): racks(),
    Subject("resourceflavors", "gpu", limit=1000, topology="links"): racks("links"),
    Subject("workloads", "team/mine"): explained(),
    Subject("localqueues", "team/door"): queue("LocalQueue"),
    Subject("clusterqueues", "vision"): queue("ClusterQueue"),
}


def leader() -> ReadModels:
    """Return what the serving process of the leader knows."""
    models = ReadModels(leading=True, ready=True)

    def answer(question: Question) -> None:
        assert question.explain is not None
        frame = Frame(explanations={question.number: ANSWERS.get(question.explain)})
        loop = asyncio.get_running_loop()
        loop.call_soon(models.take, frame, loop.time())

    models.found(answer)
    return models


async def by_the_leader(_request: web.Request) -> web.Response:
    return web.Response(body=msgspec.json.encode(explained()), content_type="application/json")


async def exists(target: Target) -> bool:
    return target.name == "new"


ALONE = Elsewhere(ask=no_leader, exists=exists)
WITH_A_LEADER = Elsewhere(ask=by_the_leader, exists=exists)


async def asked(application: web.Application, path: str) -> tuple[int, Any]:
    async with served(application) as (session, base), session.get(base + path) as answer:
        return answer.status, await answer.json()


async def test_an_admin_reads_every_name() -> None:
    application = visibility_application(leader(), everybody, ALONE, everybody)
    _, read = await asked(application, MINE)
    assert read == msgspec.json.decode(msgspec.json.encode(explained()))
    status, told = await asked(application, WHOLE)
    assert (status, told["kind"], told["groups"][0]["first"]) == (
        200,
        "QueueExplanation",
        "other/wide",
    )


@pytest.mark.parametrize(
    "names_others", [pytest.param(everybody, id="an admin"), pytest.param(nobody, id="a team")]
)
async def test_a_workload_is_told_with_its_address_on_the_page(names_others: Allowed) -> None:
    url = "https://localhost:8443/ui"
    elsewhere = replace(ALONE, page=url)
    application = visibility_application(leader(), everybody, elsewhere, names_others)
    _, read = await asked(application, MINE)
    assert read["page"] == f"{url}/namespaces/team/workloads/mine"


@pytest.mark.parametrize(
    ("models", "elsewhere"),
    [
        pytest.param(leader(), ALONE, id="by the leader's replica"),
        pytest.param(ReadModels(), WITH_A_LEADER, id="by another, to which the leader names all"),
    ],
)
async def test_a_team_reads_no_workload_of_another_namespace(
    models: ReadModels, elsewhere: Elsewhere
) -> None:
    application = visibility_application(models, everybody, elsewhere, nobody)
    status, told = await asked(application, MINE)
    assert (status, told["place"]["first"]) == (200, HIDDEN)
    assert told["summary"] == f"It waits: it is not its turn: {HIDDEN} comes before it."
    assert "wide" not in str(told)


async def of_another_version(_request: web.Request) -> web.Response:
    return web.json_response({"kind": "StrangeExplanation"})


@pytest.mark.parametrize(
    "path", [pytest.param(MINE, id="of a workload"), pytest.param(QUEUE, id="of a queue")]
)
@pytest.mark.parametrize(
    ("names_others", "want"),
    [
        pytest.param(everybody, (200, "StrangeExplanation"), id="an admin"),
        pytest.param(nobody, (503, "Status"), id="a team, to which it may name others"),
    ],
)
async def test_what_a_leader_of_another_version_says_is_handed_on_to_who_may_read_all_of_it(
    path: str, names_others: Allowed, want: tuple[int, str]
) -> None:
    elsewhere = Elsewhere(ask=of_another_version, exists=exists)
    application = visibility_application(ReadModels(), everybody, elsewhere, names_others)
    status, told = await asked(application, path)
    assert (status, told["kind"]) == want


async def test_a_team_reads_the_reasons_in_its_queue() -> None:
    application = visibility_application(leader(), everybody, ALONE, nobody)
    status, told = await asked(application, QUEUE)
    assert (status, told["groups"][0]) == (
        200,
        {"reason": "WaitingForQuota", "message": "", "count": 2, "first": HIDDEN},
    )


@pytest.mark.parametrize(
    ("names_others", "want"),
    [pytest.param(everybody, "other/wide", id="an admin"), pytest.param(nobody, HIDDEN, id="else")],
)
async def test_who_sits_in_a_rack_is_named_to_who_may_read_every_name(
    names_others: Allowed, want: str
) -> None:
    application = visibility_application(leader(), everybody, ALONE, names_others)
    status, told = await asked(application, RACKS)
    (seat,) = told["domains"][0]["seats"]
    assert (status, seat["workload"], seat["pods"]) == (200, want, 2)
    assert told["levels"] == ["dc/rack", "kubernetes.io/hostname"]


@pytest.mark.parametrize(
    ("application", "path", "want"),
    [
        pytest.param(visibility_application(leader(), nobody, ALONE), MINE, 403, id="forbidden"),
        pytest.param(
            visibility_application(leader(), everybody, ALONE),
            f"{API}/namespaces/team/workloads/none/explanation",
            404,
            id="unknown",
        ),
        pytest.param(
            visibility_application(leader(), everybody, ALONE),
            f"{API}/namespaces/team/workloads/new/explanation",
            503,
            id="not known yet",
        ),
        pytest.param(
            visibility_application(ReadModels(), everybody, ALONE), MINE, 503, id="no leader"
        ),
        pytest.param(
            visibility_application(ReadModels(leading=True), everybody, ALONE),
            MINE,
            503,
            id="the controller is away",
        ),
    ],
)
async def test_how_else_it_ends(application: web.Application, path: str, want: int) -> None:
    status, told = await asked(application, path)
    assert (status, told["kind"], told["code"]) == (want, "Status", want)


async def test_discovery_lists_the_group_and_what_can_be_explained() -> None:
    application = visibility_application(leader(), everybody, ALONE)
    _, groups = await asked(application, "/apis")
    assert [one["name"] for one in groups["groups"]] == [
        "visibility.kueue.x-k8s.io",
        "visibility.queueing.dev",
    ]
    _, listed = await asked(application, API)
    named = {one["name"] for one in listed["resources"]}
    assert named > {"workloads/explanation", "localqueues/explanation", "clusterqueues/explanation"}
