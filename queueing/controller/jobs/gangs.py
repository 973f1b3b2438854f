"""A gang: jobs that start, stop and end as one Workload. One Job is a gang of one part.

Its *form* says what ties its jobs together: how their Workload comes to be, and when it fits them.
The ladder asks it wherever one Job by itself and several Jobs with a label differ. `alone`,
`prebuilt` and `together` are the forms.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from queueing.controller.jobs.actions import Action, Discard, Finish, Release, WorkloadWrite
from queueing.controller.jobs.parts import Part
from queueing.core.names import Key
from queueing.translate.jobs.composition import Priority
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload


class Form(ABC):
    """One of the forms; all methods are pure."""

    several: ClassVar[bool] = False
    """Whether several jobs may be tied together; one by itself is marked while it is stopped."""
    is_rehearsed: ClassVar[bool] = False
    """Whether the start of several jobs is tried as a dry run, so that all of them start or none.
    """

    def before(self, gang: "Gang") -> Action | None:
        """Return a step that comes before those of the ladder; None when there is none."""
        del gang
        return None

    @abstractmethod
    def owners(self, gang: "Gang", workload: Workload) -> Sequence[JobView]:
        """Return the jobs that a Workload is of, without those that are deleted."""

    @abstractmethod
    def parts(self, gang: "Gang", workload: Workload) -> Sequence[Part]:
        """Return the parts of a Workload, in the order of its pod sets."""

    @abstractmethod
    def fits(self, gang: "Gang", workload: Workload) -> tuple[bool, bool]:
        """Say whether a Workload is what would be created now, and whether its name is."""

    @abstractmethod
    def ending(self, workload: Workload, parts: Sequence[Part]) -> Finish | None:
        """Return how the gang has ended, by its jobs; None while it has not."""

    @abstractmethod
    def assemble(self, gang: "Gang") -> Action | None:
        """Return the next step without a Workload."""

    @abstractmethod
    def while_pending(
        self, gang: "Gang", workload: Workload, parts: Sequence[Part]
    ) -> Action | None:
        """Return the next step for a Workload without quota, none of whose jobs runs."""

    def broken(self, workload: Workload, parts: Sequence[Part], why: str) -> Action | None:
        """Return the step for a Workload with quota that lost a part, before all others stop.

        None when they may be stopped one by one.
        """
        del workload, parts, why
        return None

    def ready(self, parts: Sequence[Part]) -> bool:
        """Say whether all pods run and are ready, or have succeeded."""
        return all(job.ready for _, job in living(parts))

    def reclaimable(self, parts: Sequence[Part]) -> Mapping[str, int]:
        """Return how many pods of each pod set will not be needed again."""
        return {name: count for one in parts for name, count in one.reclaimable}

    def release(self, gang: "Gang", workload: Workload) -> WorkloadWrite:
        """Return the write that releases the quota of an evicted Workload of which nothing runs."""
        del gang
        return Release(workload)

    def misfit(self, workload: Workload, why: str) -> Action:
        """Return the step for a Workload with quota that lost a part, when nothing of it runs."""
        return Discard(workload, why)

    def at_rest(self, gang: "Gang", workload: Workload, parts: Sequence[Part]) -> Action | None:
        """Return the step when all else is done for a Workload that runs; None for none."""
        del gang, workload, parts
        return None

    @abstractmethod
    def compose(
        self, members: Sequence[JobView], priority: Priority, labels_to_copy: Sequence[str]
    ) -> tuple[str, bytes]:
        """Return the name of the Workload of these jobs, and the Workload to create."""


def living(parts: Sequence[Part]) -> list[tuple[Part, JobView]]:
    """Return the parts whose jobs are there and have not ended, each with its job."""
    return [(one, one.job) for one in parts if one.job is not None and not one.ended]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gang:
    """All that the ladder looks at; `membership` collects it."""

    key: Key
    """Of the Job or, where several have its label, `namespace/name` of the gang."""
    form: Form
    """What ties its jobs together."""
    candidates: Sequence[JobView]
    """Jobs that may become members of a new Workload, in order of their names."""
    jobs: Mapping[str, JobView]
    """Jobs by uid: the candidates, those over, and those that its Workloads name as owners."""
    workloads: Sequence[Workload]
    """The oldest first."""
