"""Where pages get what they show: the leader's answers, and objects of the API server."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import msgspec

from queueing.explain.model import ANSWERS, Answer
from queueing.kube.client import Client
from queueing.kube.errors import ForbiddenError, KubeError, NotFoundError
from queueing.kube.listing import list_all
from queueing.kube.resources import Resource, Target
from queueing.serving.explanations import PARENTS, path_of
from queueing.serving.forward import Answered
from queueing.serving.frames import Subject
from queueing.serving.read_models import NoAnswerError, ReadModels
from queueing.serving.ui.problems import NotNowError, NotThereError
from queueing.serving.ui.sharing import Shared

Wire = dict[str, Any]
E = TypeVar("E", bound=Answer)
OK, NOT_FOUND = 200, 404
FIND_EVERY_S = 60.0
"""How often all namespaces are gone through for those that a visitor may read."""
CORE_EVENTS = Resource("", "v1", "events", "Event")


async def nobody_leads(_path: str) -> Answered | None:
    """Say that no other replica can be asked."""
    return None


@dataclass(frozen=True, slots=True)
class Sources:
    """What a page is made of."""

    models: ReadModels
    client: Client = field(repr=False)
    fetch: Callable[[str], Awaitable[Answered | None]] = nobody_leads
    """Has the replica that leads answer a path of the visibility API."""
    shared: Shared = field(default_factory=Shared, repr=False)
    readable: Shared = field(default_factory=partial(Shared, FIND_EVERY_S), repr=False)
    """Namespaces that visitors could read, by name: to be asked again before anything is shown."""

    async def explained(self, subject: Subject, kind: type[E]) -> E:
        """Return the leader's answer. Raises NotThereError, NotNowError."""
        found = await self._explanation(subject)
        if found is None:
            raise NotThereError(f"There is no {singular(subject.kind)} {subject.name}.")
        if not isinstance(found, kind):
            raise NotNowError("The leader is of another version.")
        return found

    async def _explanation(self, subject: Subject) -> Answer | None:
        if self.models.leading:
            try:
                return await self.models.explanation(subject)
            except NoAnswerError as error:
                raise NotNowError(f"There is no answer: {error}.") from error
        answered = await self.fetch(path_of(subject))
        if answered is None:
            raise NotNowError("No replica leads at the moment.")
        if answered.status == NOT_FOUND:
            return None
        if answered.status != OK:
            raise NotNowError(f"The leader answers with status {answered.status}.")
        try:
            found: Answer = ANSWERS.decode(answered.body)
        except msgspec.DecodeError as error:
            raise NotNowError(f"The leader's answer cannot be read: {error}") from error
        return found

    async def object(self, target: Target) -> Wire:
        """Return an object. Raises NotThereError, NotNowError."""
        try:
            found: Wire = msgspec.json.decode(await self.client.get(target))
        except NotFoundError as error:
            raise NotThereError(f"There is no {target.label}.") from error
        except KubeError as error:
            raise NotNowError(f"{target.label} cannot be read: {error}") from error
        return found

    async def objects(self, resource: Resource, namespace: str = "") -> list[Wire]:
        """Return the objects of a kind, of one namespace or all, to be read only: pages share them.

        There are none where it is not installed. Raises NotNowError.
        """
        target = resource.within(namespace)
        return await self.shared.get(target, lambda: self._list(target))

    async def events_of(self, workload: Wire) -> list[Wire]:
        """Return the events about a workload; none where they may not be read."""
        meta = workload["metadata"]
        chosen = f"involvedObject.uid={meta['uid']}"
        try:
            return await self._list(CORE_EVENTS.within(meta["namespace"]), chosen)
        except NotNowError as error:
            if isinstance(error.__cause__, ForbiddenError):
                return []
            raise

    async def _list(self, target: Target, field_selector: str = "") -> list[Wire]:
        try:
            return await list_all(self.client, target, Wire, field_selector=field_selector)
        except NotFoundError:
            return []
        except KubeError as error:
            raise NotNowError(f"{target.label} cannot be read: {error}") from error


def singular(plural: str) -> str:
    """Return the kind of a resource, for a sentence."""
    return next((kind for name, kind, _ in PARENTS if name == plural), plural)
