"""When waiting workloads will be admitted, asked of the serving process.

An estimate takes seconds of a processor, so it is made elsewhere, of a snapshot: the process is
given somebody who does.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
from aiohttp import web
from msgspec.structs import replace

from queueing.explain.model import Estimate, Line, LineEstimates
from queueing.serving.answering import Handler, document, failure
from queueing.serving.explanations import (
    ESTIMATE,
    ESTIMATED,
    GROUP,
    LISTED,
    VERSION,
    subject_of,
)
from queueing.serving.frames import Around, Subject
from queueing.serving.read_models import NoAnswerError, ReadModels
from queueing.serving.visibility import QueryError

logger = logging.getLogger(__name__)

Estimator = Callable[[str, Sequence[str]], Awaitable[bytes]]
"""Makes estimates of a snapshot, for workloads by key, as a JSON object; raises EstimateError."""
PATIENCE_S = 15.0
"""How long one may take, from when a snapshot is there."""
ASKS_MAX = 4
"""So many may wait for one, each with a snapshot in memory: about what is made within patience."""
ROWS_MAX = 10
"""For how many rows of a queue's line one is made at a time."""
TOO_MANY = "too many ask for estimates at the moment; ask again"
UNREADABLE = "what was worked out cannot be read; the log of this replica says why"
NONE = "it does not wait in a queue, or too much does beside it"
NO_QUEUE = "there is no such queue, or too much waits in it"
WORKLOADS = "workloads"
KNOWN = msgspec.json.Decoder(dict[str, Estimate])


class EstimateError(RuntimeError):
    """No estimate can be made now."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """Has estimates made of what the controller of this replica knows, few at a time."""

    models: ReadModels
    estimator: Estimator
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(ASKS_MAX))

    async def of(self, subject: Subject) -> Mapping[str, Estimate] | None:
        """Return estimates by key: of a workload, or of some that wait in a queue, by its line.

        They are made together, in the same futures. None where there is no such queue, or of a
        workload that does not wait, or that too much waits beside. Raises NoAnswerError,
        EstimateError.
        """
        if self.turns.locked():
            raise EstimateError(TOO_MANY)
        async with self.turns:
            keys = await self._keys(subject)
            if not keys:
                return None if keys is None else {}
            snapshot = await self.models.snapshot(Around(keys[0]))
            if snapshot is None:
                return None
            return _read(await self.estimator("".join(snapshot), keys), keys)

    async def _keys(self, subject: Subject) -> Sequence[str] | None:
        """Return whose estimates are asked for: of a line those that are queued."""
        if not subject.part:
            return [subject.name]
        line = await self.models.explanation(replace(subject, limit=min(subject.limit, ROWS_MAX)))
        if not isinstance(line, Line):
            return None
        return [f"{one.namespace}/{one.name}" for one in line.rows if one.position is not None]


def _read(body: bytes, keys: Sequence[str]) -> Mapping[str, Estimate]:
    """Return what was estimated of each of some workloads. Raises EstimateError."""
    try:
        found = KNOWN.decode(body)
    except msgspec.DecodeError as error:
        logger.exception("the answer of the estimator cannot be read: %.200s", body)
        raise EstimateError(UNREADABLE) from error
    if missing := [key for key in keys if key not in found]:
        logger.error("the estimator says nothing of %s", ", ".join(missing))
        raise EstimateError(UNREADABLE)
    return found


def add_estimates(
    router: web.UrlDispatcher, guarded: Callable[[Handler], Handler], estimates: Estimates
) -> None:
    """Add the routes."""

    async def estimate(request: web.Request) -> web.StreamResponse:
        parts = request.match_info
        plural, name = parts["plural"], parts["name"]
        of = {**request.query, "part": "waiting"} if plural in LISTED else {}
        try:
            subject = subject_of(plural, parts.get("namespace", ""), name, of)
        except QueryError as error:
            return failure(400, "BadRequest", str(error))
        try:
            found = await estimates.of(subject)
        except (NoAnswerError, EstimateError) as error:
            return failure(503, "ServiceUnavailable", str(error))
        if found is None:
            why = NONE if plural == WORKLOADS else NO_QUEUE
            return failure(404, "NotFound", f'estimate.{GROUP} "{name}" not found: {why}')
        return document(
            found[subject.name] if plural == WORKLOADS else LineEstimates(estimates=dict(found))
        )

    base = f"/apis/{GROUP}/{VERSION}"
    for plural, _, namespaced in ESTIMATED:
        within = "/namespaces/{namespace}" if namespaced else ""
        path = f"{base}{within}/{{plural:{plural}}}/{{name}}/{ESTIMATE}"
        router.add_get(path, guarded(estimate))
