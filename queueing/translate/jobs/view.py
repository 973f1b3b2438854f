"""A job as everything above its kind sees it: read once from its object, and never changed.

Who decides about jobs looks at this alone. What only a kind knows (how its pod templates are
changed at a start, restored after a stop, compared with a Workload) are methods, which the view of
a kind fills in: `pods` for pods, `queueing.kinds.jobs` for every kind that is described.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from queueing.core.names import Key
from queueing.translate.jobs.composition import JobKind
from queueing.translate.jobs.injection import Injection
from queueing.translate.jobs.patches import Patch
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.pods import PodTemplate
from queueing.translate.wire.workloads import Workload

_template = msgspec.json.Decoder(PodTemplate)


class End(NamedTuple):
    """How a job has ended."""

    succeeded: bool
    message: str


class JobPodSet(msgspec.Struct, frozen=True, kw_only=True):
    """Pods of one shape that a job asks for."""

    name: str
    count: int
    """How many are to run at once."""
    least: int | None
    """With how few of them the job may be admitted; None for all."""
    encoded_template: msgspec.Raw
    """The pod template, as JSON."""
    reclaimable: int = 0
    """How many will never be needed again."""
    first_index: int = 0
    """The number of its first pod, where pods are placed by number."""

    @property
    def template(self) -> PodTemplate:
        """The fields of the pod template that we read."""
        return decoded(bytes(self.encoded_template))


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView(ABC):
    """A job, in one version of its object."""

    kind: JobKind
    metadata: Meta
    key: Key
    """By which it is stored and looked at: no two jobs of any kinds share one."""
    suspended: bool
    stopping: bool
    """It is being suspended, and its pod templates are not restored yet: an annotation says so."""
    pod_sets: tuple[JobPodSet, ...]
    """In the order of its Workload; empty when they cannot be read."""
    running_pods: int
    """How many pods run or are about to; all that are still needed, of kinds that do not count."""
    active: bool
    """Pods of it may still run, those being terminated included."""
    ready: bool
    """All pods run and are ready, or have succeeded."""
    end: End | None
    """None while it has not ended."""
    source: Any
    """The object itself, for its kind."""
    group: Key | None = None
    """Of a pod in a group: the gang that it is a part of."""
    ready_pods: int | None = None
    """How many pods are ready, or have succeeded; None of kinds that do not tell."""
    problem: str = ""
    """What of the object cannot be read, by the field; empty when everything can."""
    unreadable: bool = False
    """Nothing of it can be read but its metadata, so that it is left as it is."""
    ignored: bool = False
    """It is of those that their kind never queues."""
    on_hold: bool = False
    """It shall keep no quota for now, although it has not ended: its own controller refuses it."""
    uncharged: str = ""
    """Parts of it for which no quota is asked, although they may have pods; empty without any."""

    @property
    def is_marked(self) -> bool:
        """Whether it is only seen because it was queued when it was created."""
        return False

    @property
    def is_stopped_by_deletion(self) -> bool:
        """Whether it cannot be suspended again once it runs."""
        return False

    @property
    def ended(self) -> bool:
        """Whether it has succeeded or failed."""
        return self.end is not None

    @property
    def pods(self) -> int:
        """How many pods are to run at once, of all sets."""
        return sum(one.count for one in self.pod_sets)

    @property
    def least_pods(self) -> int | None:
        """With how few pods its only set may be admitted; None for all."""
        return self.pod_sets[0].least if len(self.pod_sets) == 1 else None

    @property
    def reclaimable(self) -> int:
        """How many pods will never be needed again, of all sets."""
        return sum(one.reclaimable for one in self.pod_sets)

    @property
    def template(self) -> PodTemplate:
        """The fields that we read of the template of its first pod set."""
        return self.pod_sets[0].template if self.pod_sets else PodTemplate()

    @property
    def queued_through_pods(self) -> bool:
        """Whether its pods are queued in its place, each by itself or in groups."""
        return False

    @property
    @abstractmethod
    def priority_class(self) -> str:
        """Name of the PriorityClass of its pods; empty without one."""

    @property
    def restored_by_stop(self) -> bool:
        """Whether one patch both suspends it and restores its templates.

        Else they are restored when it is no longer active.
        """
        return False

    @property
    def tells_of_all_pods(self) -> bool:
        """Whether it says that pods run as long as any does.

        Else pods are listed before its quota is released.
        """
        return True

    @property
    def needs_stored(self) -> bool:
        """Whether its templates are restored from a Workload just read.

        What is watched of Workloads leaves out what is empty, which objects of some kinds keep.
        """
        return False

    @property
    def suspension_seen(self) -> float | None:
        """When its controller noted that it is suspended; None while it has not.

        Of jobs that tell of all pods.
        """
        return None

    def only_waits_as(self, before: "JobView") -> bool:
        """Say whether it waits for its first start as it did before, so that nobody need look."""
        del before
        return False

    @abstractmethod
    def wire_pod_sets(self) -> list[dict[str, Any]]:
        """Return the pod sets of its Workload, with its pod templates as they are now."""

    @abstractmethod
    def fits(self, workload: Workload) -> bool:
        """Say whether the pod sets of a Workload still equal the job's."""

    def standing_on(self, workload: Workload) -> "JobView":
        """Return the job as the Workload that it was admitted by tells of it.

        That is the job itself, unless what it asks for is said by an object that is gone.
        """
        del workload
        return self

    @abstractmethod
    def start(self, added: Sequence[Injection]) -> Sequence[Patch]:
        """Return the patches that let it run, with what an admission adds to each pod set.

        All but the last leave it suspended. Raises ConflictError when the job contradicts them.
        """

    @abstractmethod
    def suspension(self, *, mark: bool) -> Patch | None:
        """Return the patch that only suspends it; None when it is.

        With `mark` it is `stopping` afterwards, if its kind knows such a mark.
        """

    @abstractmethod
    def reset(self) -> Patch | None:
        """Return the patch of its status without which templates cannot be restored, if any."""

    @property
    @abstractmethod
    def was_started(self) -> bool:
        """Whether a pod template still has the annotation that a start adds."""

    @property
    @abstractmethod
    def marks_its_start(self) -> bool:
        """Whether `differs` goes by a mark that a start leaves, which no edit can be taken for."""

    @abstractmethod
    def differs(self, workload: Workload) -> bool:
        """Say whether a pod template has what a start added, by the original of its Workload."""

    @abstractmethod
    def undo(self, workload: Workload, stored: bytes) -> Patch | None:
        """Return the patch that restores what a start changed, and suspends it; None for none.

        `stored` is its Workload as the API server keeps it, if `needs_stored`.
        """


@lru_cache(maxsize=256)
def decoded(template: bytes) -> PodTemplate:
    """Return what we read of an encoded template.

    It is asked for at each look at a job, and many jobs are alike. Raises msgspec.ValidationError.
    """
    return _template.decode(template)
