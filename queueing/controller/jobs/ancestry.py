"""Jobs that a managed job owns: they have no Workload, and run only while that job is admitted."""

from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from queueing.controller.stores.objects import Objects
from queueing.kinds.owners import Owned, ancestor_of
from queueing.kinds.registry import LOOKED_THROUGH
from queueing.translate.jobs.composition import GroupKind, JobKind
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.meta import Meta, OwnerReference

NOT_ADMITTED = "The Job that it belongs to is not admitted"
_LOOKED_THROUGH = dict(LOOKED_THROUGH)
Find = Callable[[OwnerReference], Owned | None]


@dataclass(frozen=True, slots=True)
class QueuedElsewhere:
    """An object of a kind that another controller queues."""

    metadata: Meta


@dataclass(frozen=True, slots=True)
class Ancestry:
    """Finds who is queued in the place of a job."""

    objects: Objects
    is_managed: Callable[[Owned], bool]
    passed: dict[str, Owned | None] = field(default_factory=dict)
    """Owners that are not jobs in `objects`, and may be owned by one that is, by uid; None for one
    that is no more."""

    @property
    def kinds(self) -> Mapping[GroupKind, JobKind]:
        """Kinds of owners that are looked through: those that are on, and those known anyway."""
        return ChainMap(self.objects.kinds, self.objects.external, _LOOKED_THROUGH)

    def ancestor_of(self, job: JobView) -> Owned | None:
        """Return the topmost managed job among the controllers above this one; None without one.

        Raises OwnersError.
        """
        return self._walk(job, self._find)

    def unknown_above(self, job: JobView) -> OwnerReference | None:
        """Return the first controller above a job of which nothing is known; None without one.

        Raises OwnersError.
        """
        unknown: list[OwnerReference] = []

        def find(reference: OwnerReference) -> Owned | None:
            found = self._find(reference)
            if found is None and reference.uid not in self.passed:
                unknown.append(reference)
            return found

        self._walk(job, find)
        return unknown[0] if unknown else None

    def is_admitted(self, ancestor: Owned) -> bool:
        """Say whether the jobs below a managed one may run: its end gives its quota back."""
        return any(
            one.status.is_true("Admitted") and not (one.status.is_true("Evicted") or one.finished)
            for one in self.objects.workloads_for(ancestor.metadata.uid)
        )

    def _walk(self, job: JobView, find: Find) -> Owned | None:
        return ancestor_of(job.metadata, self.kinds, find, self._counts)

    def _find(self, reference: OwnerReference) -> Owned | None:
        key = self.objects.job_keys.get(reference.uid)
        return self.objects.jobs[key] if key is not None else self.passed.get(reference.uid)

    def _counts(self, one: Owned) -> bool:
        return isinstance(one, JobView | QueuedElsewhere) and self.is_managed(one)
