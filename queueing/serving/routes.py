"""The HTTP of the serving process: one small application per port."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
from aiohttp import web
from msgspec.structs import replace

from queueing.kube.resources import CLUSTER_QUEUES, LOCAL_QUEUES, Target
from queueing.serving import explanations, snapshots
from queueing.serving.answering import (
    Allowed,
    Elsewhere,
    document,
    failure,
    led,
    nobody,
    refusal,
)
from queueing.serving.estimates import Estimates, add_estimates
from queueing.serving.explanation_routes import add_explanations
from queueing.serving.exposition import answer
from queueing.serving.finalizer_release import is_uninstallation
from queueing.serving.frames import PendingPart
from queueing.serving.read_models import NoAnswerError, ReadModels
from queueing.serving.visibility import (
    GROUP,
    VERSIONS,
    QueryError,
    group_document,
    read_window,
    resource_list,
    summary,
)
from queueing.webhooks.admission import WebhookSettings, gate, mutate, validate
from queueing.webhooks.configurations import BY_FIELD, DEFINITIONS, GATES_OF_PODS
from queueing.webhooks.jobs import DefaultingContext

BODY_BYTES_MAX = 32 * 1024 * 1024
SILENCE_S = 60.0
"""A controller that has said nothing for so long is stuck."""

Around = Callable[[Mapping[str, Any]], DefaultingContext]
Convert = Callable[[Mapping[str, Any]], Mapping[str, Any]]
ReleaseFinalizers = Callable[[], Awaitable[object]]


def webhook_application(
    around: Around, rules: WebhookSettings, convert: Convert, release_finalizers: ReleaseFinalizers
) -> web.Application:
    """Serve admission and conversion reviews, and let go of everything when we are uninstalled."""

    async def mutating(request: web.Request) -> web.StreamResponse:
        body = msgspec.json.decode(await request.read())
        return document(mutate(body, around(body)))

    async def suspending(request: web.Request) -> web.StreamResponse:
        body = msgspec.json.decode(await request.read())
        return document(mutate(body, around(body), request.match_info["field"]))

    async def gating(request: web.Request) -> web.StreamResponse:
        body = msgspec.json.decode(await request.read())
        return document(gate(body, around(body)))

    async def validating(request: web.Request) -> web.StreamResponse:
        body = msgspec.json.decode(await request.read())
        return document(validate(body, around(body), rules))

    async def departing(request: web.Request) -> web.StreamResponse:
        body = msgspec.json.decode(await request.read())
        if is_uninstallation(body):
            await release_finalizers()
        return document(validate(body, around(body), rules))

    async def converting(request: web.Request) -> web.StreamResponse:
        return document(convert(msgspec.json.decode(await request.read())))

    application = web.Application(client_max_size=BODY_BYTES_MAX)
    application.router.add_post(f"/validate-{DEFINITIONS}", departing)
    application.router.add_post(f"/mutate-{BY_FIELD}{{field}}", suspending)
    application.router.add_post(f"/mutate-{GATES_OF_PODS}", gating)
    application.router.add_post("/mutate-{kind}", mutating)
    application.router.add_post("/validate-{kind}", validating)
    application.router.add_post("/convert", converting)
    return application


@dataclass(slots=True)
class Readiness:
    """What must hold before traffic may come: each name is told when it does not."""

    checks: dict[str, Callable[[], bool]]

    def missing(self) -> list[str]:
        """Return the names of the checks that do not hold."""
        return [name for name, holds in self.checks.items() if not holds()]


def probe_application(
    models: ReadModels, readiness: Readiness, *, alive: str = "/healthz", ready: str = "/readyz"
) -> web.Application:
    """Serve /healthz and /readyz, and the same at the paths that the Configuration chooses."""

    async def is_alive(_request: web.Request) -> web.StreamResponse:
        silent = asyncio.get_running_loop().time() - models.heard
        if models.connected and silent > SILENCE_S:
            return web.Response(text=f"the controller is silent for {silent:.0f} s\n", status=500)
        return web.Response(text="ok\n")

    async def is_ready(_request: web.Request) -> web.StreamResponse:
        missing = readiness.missing()
        if missing:
            return web.Response(text=f"not ready: {', '.join(missing)}\n", status=503)
        return web.Response(text="ok\n")

    application = web.Application()
    paths = {"/healthz": is_alive, "/readyz": is_ready, alive: is_alive, ready: is_ready}
    for path, handler in paths.items():
        application.router.add_get(path, handler)
    return application


def metrics_application(
    models: ReadModels, allowed: Allowed, elsewhere: Elsewhere | None = None
) -> web.Application:
    """Serve /metrics to whom the API server says may read it.

    Also /snapshot, where the leader's replica can be asked for it.
    """

    async def exposition(request: web.Request) -> web.StreamResponse:
        refused = await refusal(allowed, request, "may not get the path /metrics")
        if refused is not None:
            return refused
        try:
            metrics = await models.current_metrics()
        except NoAnswerError as error:
            return failure(503, "ServiceUnavailable", str(error))
        told = answer(metrics, request.headers.get("Accept", ""))
        return web.Response(body=told.text.encode(), headers={"Content-Type": told.content_type})

    application = web.Application()
    application.router.add_get("/metrics", exposition)
    if elsewhere is not None:
        snapshots.add_to_metrics(application.router, models, allowed, elsewhere)
    return application


def visibility_application(
    models: ReadModels,
    allowed: Allowed,
    elsewhere: Elsewhere,
    may_name_others: Allowed = nobody,
    estimates: Estimates | None = None,
) -> web.Application:
    """Serve the aggregated APIs of pending workloads and of explanations."""

    async def of_cluster_queue(request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        absent = failure(404, "NotFound", f'clusterqueue.{GROUP} "{name}" not found')
        return await page(request, PendingPart(cluster_queue=name), CLUSTER_QUEUES.at(name), absent)

    async def of_local(request: web.Request) -> web.StreamResponse:
        namespace, name = request.match_info["namespace"], request.match_info["name"]
        absent = failure(404, "NotFound", f'localqueue.{GROUP} "{name}" not found')
        part = PendingPart(local_queue=f"{namespace}/{name}")
        return await page(request, part, LOCAL_QUEUES.at(name, namespace), absent)

    async def page(
        request: web.Request, of: PendingPart, queue: Target, absent: web.Response
    ) -> web.StreamResponse:
        try:
            window = read_window(request.query)
        except QueryError as error:
            return failure(400, "BadRequest", str(error))
        try:
            rows = await models.pending(replace(of, offset=window.offset, limit=window.limit))
        except NoAnswerError as error:
            return failure(503, "ServiceUnavailable", str(error))
        if rows is None and not await elsewhere.exists(queue):
            return absent
        return document(summary(rows or (), request.match_info["version"]))

    guarded = partial(led, models, allowed, elsewhere)
    application = web.Application()
    router = application.router
    base = f"/apis/{GROUP}/{{version:{'|'.join(VERSIONS)}}}"
    router.add_get("/apis", _groups)
    router.add_get(f"/apis/{GROUP}", _group)
    router.add_get(base, _resources)
    router.add_get(f"{base}/clusterqueues/{{name}}/pendingworkloads", guarded(of_cluster_queue))
    local = f"{base}/namespaces/{{namespace}}/localqueues/{{name}}/pendingworkloads"
    router.add_get(local, guarded(of_local))
    add_explanations(router, models, guarded, elsewhere, may_name_others)
    router.add_get(snapshots.API_PATH, guarded(snapshots.snapshot_of(models)))
    if estimates is not None:
        add_estimates(router, guarded, estimates)
    return application


async def _groups(_request: web.Request) -> web.StreamResponse:
    groups = [group_document(), explanations.group_document()]
    return document({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})


async def _group(_request: web.Request) -> web.StreamResponse:
    return document(group_document())


async def _resources(request: web.Request) -> web.StreamResponse:
    return document(resource_list(request.match_info["version"]))
