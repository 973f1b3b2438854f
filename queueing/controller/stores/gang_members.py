"""Which Jobs and Workloads belong to which gang, kept beside the objects themselves."""

from collections.abc import Iterable

from queueing.controller.stores.indexes import Entry, Index
from queueing.core.names import Key
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload


class GangMembers:
    """Jobs and Workloads by gang (`namespace/name`), and the gangs whose Workload names a Job.

    `objects` enters them. A Job that belongs to no gang, as most, is in none of the indexes.
    """

    def __init__(self) -> None:
        self.jobs: Index[Key] = Index()
        self.workloads: Index[Key] = Index()
        self._named: dict[str, Key] = {}
        """The gang that a Job's label names, by uid of the Job."""
        self._of: dict[Key, Key] = {}
        """The gang of each Workload of one."""
        self._holders: Index[str] = Index()
        """Workloads by the uids of the Jobs that they hold in their gang."""

    def entries_of_job(self, found: JobView, gang: Key | None) -> Iterable[Entry]:
        """Note the gang that a Job's label names, if it names one; return its entries."""
        uid = found.metadata.uid
        if gang is None:
            self._named.pop(uid, None)
            return ()
        self._named[uid] = gang
        return ((self.jobs, gang),)

    def forget_job(self, uid: str) -> None:
        """Forget what the label of a deleted Job said."""
        self._named.pop(uid, None)

    def forget_workload(self, key: Key) -> None:
        """Forget a deleted Workload."""
        self._of.pop(key, None)

    def entries_of_workload(self, found: Workload, gang: Key) -> Iterable[Entry]:
        """Note a gang's Workload; return its entries.

        While it is not finished, the Jobs that it names as owners belong to the gang, whatever
        their labels say.
        """
        self._of[found.metadata.key] = gang
        yield (self.workloads, gang)
        if not is_finished(found):
            for owner in found.metadata.owner_references:
                yield (self._holders, owner.uid)

    def of(self, job: JobView | None) -> Iterable[Key]:
        """Return the gangs of a Job: the one its label names, and those whose Workload names it."""
        if job is None:
            return ()
        uid = job.metadata.uid
        named, holders = self._named.get(uid), self._holders.groups.get(uid)
        if holders is None:
            return () if named is None else (named,)
        holding = [self._of[one] for one in holders]
        return dict.fromkeys(holding if named is None else (named, *holding))

    def workloads_holding(self, uid: str) -> Iterable[Key]:
        """Return the Workloads of gangs that name a job (a uid) as an owner, and go on."""
        return self._holders.groups.get(uid, ())

    def claims(self, job: JobView) -> bool:
        """Say whether a Job belongs to a gang, whose reconciler then starts and stops it."""
        uid = job.metadata.uid
        return uid in self._named or uid in self._holders.groups


def is_finished(workload: Workload) -> bool:
    """Say whether a Workload has the condition `Finished`."""
    return workload.status.is_true("Finished")
