"""How requests for what only the leader knows are answered, and how refusals are spelled."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from aiohttp import web

from queueing.kube.resources import Target
from queueing.serving.authorization import ReviewError
from queueing.serving.read_models import ReadModels

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Allowed = Callable[[web.Request], Awaitable[bool]]


async def nobody(_request: web.Request) -> bool:
    """Say that nobody may."""
    return False


def document(body: Any, status: int = 200) -> web.Response:
    """Answer with a JSON document."""
    return web.Response(
        body=msgspec.json.encode(body), status=status, content_type="application/json"
    )


def failure(status: int, reason: str, message: str) -> web.Response:
    """Answer with a Status as the API server spells it."""
    answer = document(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "reason": reason,
            "message": message,
            "code": status,
        },
        status,
    )
    if status == web.HTTPServiceUnavailable.status_code:
        answer.headers["Retry-After"] = "1"
    return answer


async def refusal(allowed: Allowed, request: web.Request, told: str) -> web.Response | None:
    """Return what is answered to who may not ask, or cannot be judged; None for who may."""
    try:
        if await allowed(request):
            return None
    except ReviewError as error:
        return failure(500, "InternalError", f"Internal error occurred: {error}")
    return failure(403, "Forbidden", told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """Who is asked for what this replica does not know, and where else there is something."""

    ask: Callable[[web.Request], Awaitable[web.Response | None]]
    """Has the leader's replica answer; None when nobody can."""
    exists: Callable[[Target], Awaitable[bool]]
    """Says whether a queue is there that the controller does not know yet."""
    page: str = ""
    """Where visitors find the page; empty where that is not known."""


def led(models: ReadModels, allowed: Allowed, elsewhere: Elsewhere, handler: Handler) -> Handler:
    """Let a handler answer whoever may ask, in the leader's replica; others forward to it."""

    async def answer(request: web.Request) -> web.StreamResponse:
        refused = await refusal(allowed, request, f"may not get {request.path}")
        if refused is not None:
            # Whose certificate was not asked for at first may show it with the next connection.
            refused.force_close()
            return refused
        if models.leading:
            return await handler(request)
        answered = await elsewhere.ask(request)
        if answered is not None:
            return answered
        told = "this replica does not lead; the leader answers as soon as there is one"
        return failure(503, "ServiceUnavailable", told)

    return answer
