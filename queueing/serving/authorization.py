"""Who asks, and may they: TokenReview and SubjectAccessReview, remembered for a few seconds.

A request through the API server's aggregator carries the user in headers; they are believed only
from a client certificate that the aggregator's CA signed. Everybody else shows a bearer token.
"""

import hashlib
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from aiohttp import web

from queueing.kube.client import Client
from queueing.kube.errors import KubeError, NotPermittedError
from queueing.kube.resources import SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS
from queueing.serving.rights import EVERYTHING, Right

logger = logging.getLogger(__name__)

REMEMBER_S = 10.0
REMEMBERED_MAX = 16_384
"""Enough for some hundred visitors, each with many namespaces."""
TOLD_EVERY_S = 60.0
"""How often the log says that reviews fail, however often users ask."""
METRICS_BINDING = "kueue-metrics-auth-rolebinding"
VISIBILITY_BINDING = "kueue-visibility-server-auth-delegator"
"""The ClusterRoleBindings that let us create reviews, for each of the two ports."""
USER_HEADER = "X-Remote-User"
GROUP_HEADER = "X-Remote-Group"

Attributes = Mapping[str, Any]
Verify = Callable[[web.Request], bool]


class ReviewError(RuntimeError):
    """The API server did not say who somebody is, or whether they may."""


@dataclass(frozen=True, slots=True)
class User:
    """Who asks, as the API server knows them."""

    name: str
    groups: tuple[str, ...] = ()


@dataclass(slots=True)
class AnswerCache:
    """Answers of the API server, each believed for `REMEMBER_S` seconds."""

    now: Callable[[], float]
    entries: dict[tuple[str, ...], tuple[float, Any]] = field(default_factory=dict)

    async def recall(self, key: tuple[str, ...], ask: Callable[[], Awaitable[Any]]) -> Any:
        """Return what is remembered under the key, or ask and remember."""
        known = self.entries.get(key)
        now = self.now()
        if known is not None and now - known[0] < REMEMBER_S:
            return known[1]
        answer = await ask()
        if len(self.entries) >= REMEMBERED_MAX:
            self.entries.pop(next(iter(self.entries)))
        self.entries[key] = (now, answer)
        return answer


class Reviewer:
    """Asks the API server about users. Who cannot be judged is neither let in nor refused."""

    def __init__(self, client: Client, now: Callable[[], float], is_aggregator: Verify) -> None:
        self._client = client
        self._now = now
        self._memory = AnswerCache(now)
        self._is_aggregator = is_aggregator
        self._told_at: dict[str, float] = {}
        """When the log last said that reviews fail, by the binding that allows them."""

    async def may_read_path(self, request: web.Request) -> bool:
        """Say whether the user may get a path outside the resources, such as /metrics.

        Raises ReviewError.
        """
        attributes = {"nonResourceAttributes": {"path": request.path, "verb": "get"}}
        return await self._may(request, attributes, METRICS_BINDING)

    async def may_see(self, request: web.Request) -> bool:
        """Say whether the user may see the subresource that the path names.

        Raises ReviewError.
        """
        group, *_, resource, name, subresource = request.path.strip("/").split("/")[1:]
        right = Right(
            group=group,
            version=request.match_info.get("version", "*"),
            resource=resource,
            subresource=subresource,
            namespace=request.match_info.get("namespace", ""),
            name=name,
        )
        return await self._may(request, right.attributes(), VISIBILITY_BINDING)

    async def may_name_others(self, request: web.Request) -> bool:
        """Say whether the user may see workloads of all namespaces in explanations.

        Raises ReviewError.
        """
        return await self._may(request, EVERYTHING.attributes(), VISIBILITY_BINDING)

    async def user_of(self, request: web.Request) -> User | None:
        """Return who asks, None if nobody knows them. Raises ReviewError."""
        with self._reviewing(METRICS_BINDING):
            return await self._user(request)

    async def user_with(self, token: str) -> User | None:
        """Return whose token it is, None if it is nobody's. Raises ReviewError."""
        with self._reviewing(METRICS_BINDING):
            return await self._owner(token)

    async def is_allowed(self, user: User, right: Right) -> bool:
        """Say whether a user has a right. Raises ReviewError."""
        with self._reviewing(METRICS_BINDING):
            return await self._is_allowed(user, right.attributes())

    async def _may(self, request: web.Request, attributes: Attributes, binding: str) -> bool:
        with self._reviewing(binding):
            user = await self._user(request)
            return user is not None and await self._is_allowed(user, attributes)

    @contextmanager
    def _reviewing(self, binding: str) -> Iterator[None]:
        """Turn a review that fails into a ReviewError, and log it; `binding` allows reviews."""
        try:
            yield
        except KubeError as error:
            self._tell(error, binding)
            raise ReviewError(str(error)) from error

    def _tell(self, error: KubeError, binding: str) -> None:
        now = self._now()
        if now - self._told_at.get(binding, float("-inf")) < TOLD_EVERY_S:
            return
        self._told_at[binding] = now
        if isinstance(error, NotPermittedError):
            lack = "nobody can be judged: is the ClusterRoleBinding %s missing? %s"
            logger.error(lack, binding, error)
        else:
            logger.warning("the API server did not judge a user: %s", error)

    async def _user(self, request: web.Request) -> User | None:
        if self._is_aggregator(request) and request.headers.get(USER_HEADER):
            groups = tuple(request.headers.getall(GROUP_HEADER, []))
            return User(request.headers[USER_HEADER], groups)
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            return None
        return await self._owner(token)

    async def _owner(self, token: str) -> User | None:
        digest = hashlib.sha256(token.encode()).hexdigest()

        async def ask() -> User | None:
            body = {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenReview",
                "spec": {"token": token},
            }
            answer = await self._client.create(TOKEN_REVIEWS.within(), body)
            status = msgspec.json.decode(answer).get("status", {})
            if not status.get("authenticated"):
                return None
            user = status.get("user", {})
            return User(user.get("username", ""), tuple(user.get("groups", ())))

        found: User | None = await self._memory.recall(("token", digest), ask)
        return found

    async def _is_allowed(self, user: User, attributes: Attributes) -> bool:
        spec = {"user": user.name, "groups": list(user.groups), **attributes}

        async def ask() -> bool:
            body = {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SubjectAccessReview",
                "spec": spec,
            }
            answer = await self._client.create(SUBJECT_ACCESS_REVIEWS.within(), body)
            return bool(msgspec.json.decode(answer).get("status", {}).get("allowed"))

        key = ("access", msgspec.json.encode(spec).decode())
        return bool(await self._memory.recall(key, ask))
