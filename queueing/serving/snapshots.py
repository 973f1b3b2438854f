"""What the leader's engine sees now, as a recording.

It is at `/snapshot`, and in the API of explanations. It names workloads of all namespaces, and
holds neither secrets nor environments of pods.
"""

from dataclasses import replace

from aiohttp import web

from queueing.serving.answering import Allowed, Elsewhere, Handler, failure, led
from queueing.serving.explanations import ENGINES, GROUP, SNAPSHOT, VERSION
from queueing.serving.frames import ALL, Around
from queueing.serving.read_models import NoAnswerError, ReadModels

PATH = f"/{SNAPSHOT}"
"""On the port of the metrics."""
API_PATH = f"/apis/{GROUP}/{VERSION}/{ENGINES}/current/{SNAPSHOT}"
"""The same through the API server."""
WRITTEN_S = 50.0
"""How long one may take: through its aggregator the API server waits for a minute."""
KIND = "application/x-ndjson"


def snapshot_of(models: ReadModels) -> Handler:
    """Return what answers in the leader's replica."""

    async def answer(request: web.Request) -> web.StreamResponse:
        try:
            pieces = await models.snapshot(Around(ALL), WRITTEN_S)
        except NoAnswerError as error:
            return failure(503, "ServiceUnavailable", str(error))
        response = web.StreamResponse(headers={"Content-Type": KIND})
        await response.prepare(request)
        for piece in pieces or ():
            await response.write(piece.encode())
        await response.write_eof()
        return response

    return answer


def add_to_metrics(
    router: web.UrlDispatcher, models: ReadModels, allowed: Allowed, elsewhere: Elsewhere
) -> None:
    """Add the route to the port of the metrics; the leader has it in its API as well."""

    async def ask(request: web.Request) -> web.Response | None:
        return await elsewhere.ask(request.clone(rel_url=API_PATH))

    there = replace(elsewhere, ask=ask)
    router.add_get(PATH, led(models, allowed, there, snapshot_of(models)))
