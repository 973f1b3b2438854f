"""Where pages get what they show: the leader's answers, and objects of the API server."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import msgspec

from queueing.explain.model import ANSWERS, Answer, Estimate, LineEstimates
from queueing.kube.client import Client
from queueing.kube.errors import ForbiddenError, KubeError, NotFoundError
from queueing.kube.listing import list_all
from queueing.kube.resources import Resource, Target
from queueing.serving.estimates import NO_QUEUE, NONE, EstimateError, Estimates
from queueing.serving.explanations import ESTIMATE, PARENTS, path_of
from queueing.serving.forward import Answered
from queueing.serving.frames import Subject
from queueing.serving.read_models import NoAnswerError, ReadModels
from queueing.serving.ui.problems import NotNowError, NotThereError
from queueing.serving.ui.prospects import Prospect, Prospects
from queueing.serving.ui.sharing import Shared

Wire = dict[str, Any]
E = TypeVar("E", bound=Answer)
T = TypeVar("T")
OF_LINE, OF_ONE = msgspec.json.Decoder(LineEstimates), msgspec.json.Decoder(Estimate)
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
    estimates: Estimates | None = None
    """None where nobody works them out."""
    prospects: Prospects = field(default_factory=Prospects, repr=False)
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
        return await self._fetched(path_of(subject), ANSWERS)

    async def _fetched(self, path: str, decoder: "msgspec.json.Decoder[T]") -> T | None:
        """Return what the leader's replica answers; None where there is no such thing."""
        answered = await self.fetch(path)
        if answered is None:
            raise NotNowError("No replica leads at the moment.")
        if answered.status == NOT_FOUND:
            return None
        if answered.status != OK:
            raise NotNowError(f"The leader answers with status {answered.status}.")
        try:
            return decoder.decode(answered.body)
        except msgspec.DecodeError as error:
            raise NotNowError(f"The leader's answer cannot be read: {error}") from error

    def prospect(self, subject: Subject) -> Prospect | None:
        """Return what is known of when a workload, or who waits in a queue, will be admitted.

        Asked for beside the page, which does not wait. None where nobody works it out.
        """
        if self.estimates is None:
            return None
        return self.prospects.of(subject, lambda: self._estimated(subject))

    async def _estimated(self, subject: Subject) -> Mapping[str, Estimate]:
        """Return estimates by key. Raises NotNowError."""
        if self.models.leading and self.estimates is not None:
            try:
                found = await self.estimates.of(subject)
            except (NoAnswerError, EstimateError) as error:
                raise NotNowError(f"There is no answer: {error}.") from error
        else:
            found = await self._fetched_estimates(subject, path_of(subject, ESTIMATE))
        if found is None:
            raise NotNowError(f"Nobody can say: {NO_QUEUE if subject.part else NONE}.")
        return found

    async def _fetched_estimates(
        self, subject: Subject, path: str
    ) -> Mapping[str, Estimate] | None:
        if subject.part:
            line = await self._fetched(path, OF_LINE)
            return None if line is None else line.estimates
        one = await self._fetched(path, OF_ONE)
        return None if one is None else {subject.name: one}

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
