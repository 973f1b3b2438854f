"""A part of a gang: one job, and what the gang's Workload has for it."""

from collections.abc import Iterator
from dataclasses import dataclass

from queueing.translate.jobs.gang import told
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A job, and what the gang's Workload has for it."""

    view: Workload
    """The Workload with this part's pod sets alone, as a kind's functions expect it."""
    job: JobView | None
    """None when it is deleted."""
    ended: bool
    """The job has ended, and needs its pods' quota no longer."""
    lost: str
    """Why the job can no longer be a part of the gang; empty when it can."""
    departed: bool
    """The job was deleted before its end: its pods may still run, and no status tells of them."""

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return told(self.job) if self.job is not None else self.view.spec.pod_sets[0].name

    @property
    def reclaimable(self) -> Iterator[tuple[str, int]]:
        """Yield the pod sets of the part, and how many pods of each will not be needed again."""
        pod_sets = self.view.spec.pod_sets
        if self.ended:
            return ((one.name, one.count) for one in pod_sets)
        own = self.job.pod_sets if self.job is not None else ()
        return ((one.name, mine.reclaimable) for one, mine in zip(pod_sets, own, strict=False))

    @property
    def failure(self) -> str | None:
        """Why the job failed; None when it did not."""
        end = self.job.end if self.job is not None else None
        return end.message if end is not None and not end.succeeded else None

    @property
    def runs(self) -> bool:
        """Whether pods of the job run, or may start to."""
        if self.job is None or self.ended:
            return False
        return not self.job.suspended or self.job.active
