"""Indexes: the keys of the objects that share a property, such as an owner, a queue or a gang."""

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

from queueing.core.names import Key
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload

G = TypeVar("G")


class Index(Generic[G]):
    """Keys by group, in the order in which they were added; empty groups take no memory."""

    __slots__ = ("groups",)

    def __init__(self) -> None:
        self.groups: dict[G, dict[Key, None]] = {}
        """To be read only, and not across changes; `[group]` returns a copy."""

    def __getitem__(self, group: G) -> tuple[Key, ...]:
        return tuple(self.groups.get(group, ()))

    def add(self, group: G, key: Key) -> None:
        """Put a key into a group."""
        self.groups.setdefault(group, {})[key] = None

    def drop(self, group: G, key: Key) -> None:
        """Take a key out of a group."""
        keys = self.groups.get(group)
        if keys is not None:
            keys.pop(key, None)
            if not keys:
                del self.groups[group]


Entry = tuple[Index[Any], str]
"""A group of an index that an object is in."""


class Entries:
    """The entries of each object. A version with the same entries as the last changes nothing."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Key, Sequence[Entry]] = {}

    def put(self, key: Key, entries: Sequence[Entry]) -> None:
        """Enter a new version of an object, in place of the last one."""
        before = self._known.get(key, ())
        if entries == before:
            return
        for one in before:
            if one not in entries:
                one[0].drop(one[1], key)
        for one in entries:
            if one not in before:
                one[0].add(one[1], key)
        self._known[key] = entries

    def drop(self, key: Key) -> None:
        """Take an object that is gone out of all indexes."""
        for index, group in self._known.pop(key, ()):
            index.drop(group, key)


class GangMembers:
    """Jobs and Workloads by gang (`namespace/name`), and the gangs whose Workload names a Job.

    `objects` enters them. A Job that belongs to no gang, as most, is in none of the indexes.
    """

    def __init__(self) -> None:
        self.jobs: Index[Key] = Index()
        self.workloads: Index[Key] = Index()
        self._named: dict[str, Key] = {}
        """The gang that a Job's label names, by uid of the Job."""
        self.of_workload: dict[Key, Key] = {}
        """The gang of each Workload of one; to be read only."""
        self._holders: Index[str] = Index()
        """Workloads by the uids of the Jobs that they hold in their gang."""

    def entry_of_job(self, found: JobView, gang: Key) -> Entry:
        """Note the gang that a Job's label names; return its entry."""
        self._named[found.metadata.uid] = gang
        return self.jobs, gang

    def forget_job(self, uid: str) -> None:
        """Forget what the label of a Job said that is deleted, or has none any more."""
        self._named.pop(uid, None)

    def forget_workload(self, key: Key) -> None:
        """Forget a deleted Workload."""
        self.of_workload.pop(key, None)

    def entries_of_workload(self, found: Workload, gang: Key) -> Iterable[Entry]:
        """Note a gang's Workload; return its entries.

        While it is not finished, the Jobs that it names as owners belong to the gang, whatever
        their labels say.
        """
        self.of_workload[found.metadata.key] = gang
        yield (self.workloads, gang)
        if not found.finished:
            for owner in found.metadata.owner_references:
                yield (self._holders, owner.uid)

    def of(self, job: JobView) -> Iterable[Key]:
        """Return the gangs of a Job: the one its label names, and those whose Workload names it."""
        uid = job.metadata.uid
        named, holders = self._named.get(uid), self._holders.groups.get(uid)
        if holders is None:
            return () if named is None else (named,)
        holding = [self.of_workload[one] for one in holders]
        return dict.fromkeys(holding if named is None else (named, *holding))

    def workloads_holding(self, uid: str) -> Iterable[Key]:
        """Return the Workloads of gangs that name a job (a uid) as an owner, and go on."""
        return self._holders.groups.get(uid, ())

    def claims(self, job: JobView) -> bool:
        """Say whether a Job belongs to a gang, whose reconciler then starts and stops it."""
        uid = job.metadata.uid
        return uid in self._named or uid in self._holders.groups
