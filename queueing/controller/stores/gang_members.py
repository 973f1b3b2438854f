"""Which Jobs and Workloads belong to which gang, kept beside the objects themselves."""

from collections.abc import Iterable

from queueing.controller.stores.indexes import Index
from queueing.core.names import Key
from queueing.translate.jobs.gang import gang_key
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload


class GangMembers:
    """Indexes by gang (`namespace/name`), and from a Job's life to the gang that holds it."""

    def __init__(self) -> None:
        self.jobs: Index[Key] = Index()
        self.workloads: Index[Key] = Index()
        self._holders: Index[str] = Index()

    def put_job(self, found: Job) -> None:
        """Take a Job in."""
        gang = gang_key(found.metadata)
        if gang is not None:
            self.jobs.add(gang, found.metadata.key)

    def drop_job(self, found: Job) -> None:
        """Forget a Job."""
        gang = gang_key(found.metadata)
        if gang is not None:
            self.jobs.drop(gang, found.metadata.key)

    def put_workload(self, found: Workload) -> None:
        """Take a Workload in; while it is not finished it holds its Jobs, whatever they say."""
        gang = gang_key(found.metadata)
        if gang is None:
            return
        self.workloads.add(gang, found.metadata.key)
        if not is_finished(found):
            for owner in found.metadata.owner_references:
                self._holders.add(owner.uid, gang)

    def drop_workload(self, found: Workload) -> None:
        """Forget a Workload."""
        gang = gang_key(found.metadata)
        if gang is None:
            return
        self.workloads.drop(gang, found.metadata.key)
        for owner in found.metadata.owner_references:
            self._holders.drop(owner.uid, gang)

    def of_job(self, job: Job) -> Iterable[Key]:
        """Return the gangs that have to do with a Job: by its label, or by their Workload."""
        named = gang_key(job.metadata)
        found = dict.fromkeys(self._holders[job.metadata.uid])
        return found if named is None else {named: None, **found}

    def claims(self, job: Job) -> bool:
        """Say whether a Job is a gang's business."""
        return bool(gang_key(job.metadata) or self._holders[job.metadata.uid])


def is_finished(workload: Workload) -> bool:
    """Say whether a Workload is over."""
    return workload.status.is_true("Finished")
