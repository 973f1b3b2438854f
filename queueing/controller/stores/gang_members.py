"""Which Jobs and Workloads belong to which gang, kept beside the objects themselves."""

from collections.abc import Iterable

from queueing.controller.stores.indexes import Index
from queueing.core.names import Key
from queueing.translate.jobs.gang import gang_key
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload


class GangMembers:
    """Jobs and Workloads by gang (`namespace/name`), and the gangs whose Workload names a Job."""

    def __init__(self) -> None:
        self.jobs: Index[Key] = Index()
        self.workloads: Index[Key] = Index()
        self._holders: Index[str] = Index()

    def put_job(self, found: JobView) -> None:
        """Add a Job to the gang that its label names, if it names one."""
        gang = gang_key(found.metadata)
        if gang is not None:
            self.jobs.add(gang, found.metadata.key)

    def drop_job(self, found: JobView) -> None:
        """Remove a Job from the gang that its label names."""
        gang = gang_key(found.metadata)
        if gang is not None:
            self.jobs.drop(gang, found.metadata.key)

    def put_workload(self, found: Workload) -> None:
        """Add a gang's Workload.

        While it is not finished, the Jobs that it names as owners belong to the gang, whatever
        their labels say.
        """
        gang = gang_key(found.metadata)
        if gang is None:
            return
        self.workloads.add(gang, found.metadata.key)
        if not is_finished(found):
            for owner in found.metadata.owner_references:
                self._holders.add(owner.uid, gang)

    def drop_workload(self, found: Workload) -> None:
        """Remove a gang's Workload."""
        gang = gang_key(found.metadata)
        if gang is None:
            return
        self.workloads.drop(gang, found.metadata.key)
        for owner in found.metadata.owner_references:
            self._holders.drop(owner.uid, gang)

    def of(self, job: JobView | None) -> Iterable[Key]:
        """Return the gangs of a Job: the one its label names, and those whose Workload names it."""
        if job is None:
            return ()
        named, holding = gang_key(job.metadata), self._holders[job.metadata.uid]
        return holding if named is None else dict.fromkeys((named, *holding))

    def claims(self, job: JobView) -> bool:
        """Say whether a Job belongs to a gang, whose reconciler then starts and stops it."""
        return bool(gang_key(job.metadata) or self._holders[job.metadata.uid])


def is_finished(workload: Workload) -> bool:
    """Say whether a Workload has the condition `Finished`."""
    return workload.status.is_true("Finished")
