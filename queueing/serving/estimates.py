"""When a waiting workload will be admitted, asked of the serving process.

An estimate takes seconds of a processor, so it is made elsewhere, of a snapshot: the process is
given somebody who does.
"""

import asyncio
from collections.abc import Awaitable, Callable

from aiohttp import web

from queueing.serving.answering import Handler, failure
from queueing.serving.explanations import ESTIMATE, GROUP, VERSION
from queueing.serving.frames import Around
from queueing.serving.read_models import NoAnswerError, ReadModels

Estimator = Callable[[str, str], Awaitable[bytes]]
"""Makes an estimate of a snapshot, for a workload by key, as JSON; raises EstimateError."""
PATIENCE_S = 15.0
"""How long one may take, from when a snapshot is there."""
ASKS_MAX = 4
"""So many may wait for one, each with a snapshot in memory: about what is made within patience."""
TOO_MANY = "too many ask for estimates at the moment; ask again"
NONE = "it does not wait in a queue, or too much does beside it"


class EstimateError(RuntimeError):
    """No estimate can be made now."""


def add_estimates(
    router: web.UrlDispatcher,
    models: ReadModels,
    guarded: Callable[[Handler], Handler],
    estimated: Estimator,
) -> None:
    """Add the route."""
    turns = asyncio.Semaphore(ASKS_MAX)

    async def estimate(request: web.Request) -> web.StreamResponse:
        if turns.locked():
            return failure(503, "ServiceUnavailable", TOO_MANY)
        async with turns:
            return await answer(request)

    async def answer(request: web.Request) -> web.StreamResponse:
        namespace, name = request.match_info["namespace"], request.match_info["name"]
        key = f"{namespace}/{name}"
        try:
            snapshot = await models.snapshot(Around(key))
            if snapshot is None:
                return failure(404, "NotFound", f'estimate.{GROUP} "{name}" not found: {NONE}')
            body = await estimated(snapshot, key)
        except (NoAnswerError, EstimateError) as error:
            return failure(503, "ServiceUnavailable", str(error))
        return web.Response(body=body, content_type="application/json")

    base = f"/apis/{GROUP}/{VERSION}/namespaces/{{namespace}}"
    router.add_get(f"{base}/workloads/{{name}}/{ESTIMATE}", guarded(estimate))
