"""Which kinds of jobs are queued, and are followed because the API server serves them.

Made by `composition`, once a term; `session` starts it. A kind whose definition is not there costs
nothing; one whose definition appears, or goes away, while we run is taken up or let go at once.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any, NoReturn

import msgspec

from queueing.controller.intake.pump import Pump
from queueing.controller.intake.related_objects import RelatedObjects, WholeObject
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.leader_writes import job_resource
from queueing.kinds.compiler import Kind
from queueing.kinds.hooks import Related
from queueing.kinds.jobs import DescribedJob, described, names, read_job
from queueing.kinds.registry import ALWAYS
from queueing.kinds.view import View
from queueing.kube.client import Client
from queueing.kube.reflector import Added, Deleted, Modified, Reflector, Synced, WatchEvent
from queueing.kube.resources import CUSTOM_RESOURCE_DEFINITIONS
from queueing.translate.jobs.composition import GroupKind, JobKind
from queueing.translate.wire.definitions import Definition

logger = logging.getLogger(__name__)

_OF_KUBERNETES = frozenset({"", "apps", "batch"})
"""Groups whose kinds need no definition."""


class KindState(StrEnum):
    """How far a kind is from being queued."""

    NOT_SERVED = "NotServed"
    """The API server has no such kind, or not in this version."""
    REFUSED = "Refused"
    """Its objects may not be listed."""
    FOLLOWING = "Following"
    """Its objects are listed for the first time."""
    ACTIVE = "Active"


@dataclass(frozen=True, slots=True)
class _Followed:
    """A kind whose objects are followed."""

    kind: Kind
    reflector: Reflector[DescribedJob]
    task: asyncio.Task[NoReturn]
    beside: Sequence[tuple[Reflector[WholeObject], asyncio.Task[NoReturn]]]
    """What follows the objects that those of the kind cannot be read without."""

    @property
    def all(self) -> Iterator[tuple[Reflector[Any], asyncio.Task[NoReturn]]]:
        """All reflectors, each with its task."""
        yield self.reflector, self.task
        yield from self.beside


class Kinds:
    """The described kinds of one term."""

    def __init__(
        self, client: Client, pump: Pump, objects: Objects, external: Sequence[JobKind] = ()
    ) -> None:
        self._client, self._pump, self._objects = client, pump, objects
        self._external = {one.group_kind: one for one in external}
        self._related = RelatedObjects(client, self._read_anew)
        self._wanted: dict[GroupKind, Kind] = {}
        self._definitions: dict[str, Definition] = {}
        self._late: set[GroupKind] = set()
        """Kinds that were activated when Workloads were looked at already."""
        self._discovered: set[GroupKind] = set()
        """Kinds without a definition that are served nevertheless."""
        self._followed: dict[GroupKind, _Followed] = {}
        self._group: asyncio.TaskGroup | None = None
        self._reflector: Reflector[Definition] = Reflector(
            client, CUSTOM_RESOURCE_DEFINITIONS.within(), Definition, self._on_definition
        )
        self.changed: list[Callable[[GroupKind], None]] = []
        """Told of each kind whose state changed."""

    def activate(self, kind: Kind) -> None:
        """Queue objects of a kind from now on, whenever the API server serves it.

        The same group and kind again takes the place of the description that was there.
        """
        of = kind.names.group_kind
        self._wanted[of] = kind
        self._objects.kinds[of] = kind.names
        self._settle(of)
        if self._group is not None:  # else all Workloads are looked at when they are listed
            self._late.add(of)
            self._pump.attend_workloads_of(of)

    def retire(self, of: GroupKind) -> None:
        """Queue no objects of a kind any more; their Workloads stay."""
        self._wanted.pop(of, None)
        self._settle(of)

    def discovered(self, of: GroupKind, *, served: bool) -> None:
        """Say whether the API server lists a kind among those it serves.

        That decides for kinds without a definition, which another API server behind it serves.
        """
        known = of in self._discovered
        if served and not known and not any(d.group_kind == of for d in self._definitions.values()):
            self._discovered.add(of)
            self._settle(of)
        elif known and not served:
            self._discovered.discard(of)
            self._settle(of)

    def state(self, of: GroupKind) -> tuple[KindState, str]:
        """Return how far a kind is, and what the API server said if it refuses to list it."""
        followed = self._followed.get(of)
        if followed is None:
            return KindState.NOT_SERVED, ""
        if followed.reflector.synced.is_set():
            return KindState.ACTIVE, ""
        if followed.reflector.is_refused:
            return KindState.REFUSED, str(followed.reflector.error)
        return KindState.FOLLOWING, ""

    async def follow(self, group: asyncio.TaskGroup) -> None:
        """Start to follow definitions and kinds; return when all that are served are known.

        Kinds whose objects may not be listed are done without, but for those that always are on.
        """
        self._group = group
        group.create_task(self._reflector.run(), name="reflector customresourcedefinitions")
        for of in self._wanted:
            self._settle(of)
        await self._reflector.until_known()
        for of, one in list(self._followed.items()):
            for reflector, task in one.all:
                is_needed = of in ALWAYS
                known = group.create_task(
                    reflector.synced.wait() if is_needed else reflector.until_known()
                )
                await asyncio.wait((known, task), return_when=asyncio.FIRST_COMPLETED)
                known.cancel()

    def _on_definition(self, event: WatchEvent[Definition]) -> None:
        match event:
            case Added(object=found) | Modified(object=found):
                self._definitions[found.metadata.name] = found
                self._discovered.discard(found.group_kind)
                self._name(found)
                self._settle(found.group_kind)
            case Deleted(key=name):
                gone = self._definitions.pop(name, None)
                if gone is not None:
                    self._settle(gone.group_kind)
                    # Its objects went after it began to be deleted, when nobody followed them.
                    self._pump.attend_workloads_of(gone.group_kind)
            case Synced():
                pass

    def _name(self, found: Definition) -> None:
        """Note what a kind is called in URLs that another controller queues."""
        kind = self._external.get(found.group_kind)
        if kind is not None:
            self._objects.external[found.group_kind] = replace(kind, plural=found.spec.names.plural)

    def _settle(self, of: GroupKind) -> None:
        """Follow a kind exactly if it is wanted and served."""
        wanted, followed = self._wanted.get(of), self._followed.get(of)
        if wanted is not None and not self._is_served(wanted):
            wanted = None
        if followed is not None and followed.kind is not wanted:
            self._let_go(of, followed)
            followed = None
        if wanted is not None and followed is None and self._group is not None:
            self._take_up(of, wanted, self._group)

    def _is_served(self, kind: Kind) -> bool:
        named = kind.spec.resource
        if named.group in _OF_KUBERNETES:
            return True
        definition = self._definitions.get(f"{named.plural}.{named.group}")
        if definition is None:
            return kind.names.group_kind in self._discovered
        return definition.serves(named.version)

    def _take_up(self, of: GroupKind, kind: Kind, group: asyncio.TaskGroup) -> None:
        beside = [
            (one, group.create_task(one.run(), name=f"reflector {plural}"))
            for one, plural in self._related.reflectors(kind)
        ]
        read = partial(self._read, kind)
        target = job_resource(kind.names).within()
        reflector: Reflector[DescribedJob] = Reflector(
            self._client, target, read, partial(self._on_object, of)
        )
        self._pump.readers[of] = read
        name = f"reflector {kind.spec.resource.plural}"
        first = [one for one, _ in beside]
        task = group.create_task(_follow(reflector, after=first), name=name)
        self._followed[of] = _Followed(kind, reflector, task, beside)
        logger.info("%s is queued from now on", kind.name)
        self._tell(of)

    def _let_go(self, of: GroupKind, followed: _Followed) -> None:
        for _, task in followed.all:
            task.cancel()
        del self._followed[of]
        self._pump.readers.pop(of, None)
        self._pump.forget_kind(of)
        logger.info("%s is queued no more", followed.kind.name)
        self._tell(of)

    def _on_object(self, of: GroupKind, event: WatchEvent[DescribedJob]) -> None:
        self._pump.on_job(event)
        if isinstance(event, Synced):
            if of in self._late:
                self._pump.attend_workloads_of(of)  # their jobs may have gone before
            self._tell(of)

    def _read(self, kind: Kind, data: bytes | msgspec.Raw) -> DescribedJob:
        """Read an object. Raises msgspec.ValidationError when that is not possible.

        A mistake in what reads one kind must not end what is done for all others.
        """
        try:
            return read_job(kind, data, self._related.find, self._known)
        except msgspec.ValidationError:
            raise
        except Exception as error:
            logger.exception("a %s cannot be read: a bug", kind.name)
            raise msgspec.ValidationError(f"{type(error).__name__}: {error}") from error

    def _known(self, found: View) -> DescribedJob | None:
        """Return what is known of an object that comes a second time, as after each write.

        Not a later version: a watch goes on from the version of what is read.
        """
        key = self._objects.job_keys.get(found.metadata.uid)
        known = None if key is None else self._objects.jobs.get(key)
        if not isinstance(known, DescribedJob) or known.source.kind is not found.kind:
            return None
        version = known.metadata.resource_version
        return known if found.metadata.resource_version == version else None

    def _read_anew(self, changed: Related) -> None:
        """Read the jobs again that cannot be read without an object that changed."""
        for job in list(self._objects.jobs.values()):
            if isinstance(job, DescribedJob) and names(job, changed):
                self._pump.put_anew(described(job.source.beside(self._related.find)))

    def _tell(self, of: GroupKind) -> None:
        for hear in self.changed:
            hear(of)


async def _follow(
    reflector: Reflector[DescribedJob], *, after: Sequence[Reflector[WholeObject]]
) -> NoReturn:
    """Follow objects once all is known that they cannot be read without.

    Before that they would seem to have no pod sets, and those that run would be stopped.
    """
    for one in after:
        await one.until_known()
    await reflector.run()
