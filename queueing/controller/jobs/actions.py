"""The steps that the ladder may return, as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from queueing.controller.jobs.parts import Part
from queueing.core.names import Key
from queueing.lifecycle.steps import EvictionReason
from queueing.translate.jobs.composition import Origin
from queueing.translate.jobs.pods.view import PodJob
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload


@dataclass(frozen=True, slots=True)
class Release:
    """Release the quota of an evicted Workload."""

    workload: Workload


@dataclass(frozen=True, slots=True)
class Finish:
    """Set the condition `Finished`."""

    workload: Workload
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class LetGo:
    """Remove our finalizer from a Workload that has finished or is being deleted."""

    workload: Workload


@dataclass(frozen=True, slots=True)
class Ready:
    """Set the condition `PodsReady`: all pods are ready, or no longer are."""

    workload: Workload
    ready: bool


@dataclass(frozen=True, slots=True)
class Reclaim:
    """Write `reclaimablePods`: by pod set, how many pods will not need their quota again."""

    workload: Workload
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Supersede:
    """Finish a slice of an elastic job, for which another one stands now, or none need to."""

    workload: Workload
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Grow:
    """Create the slice that is to replace one of an elastic job, for as many pods as it wants."""

    workload: Workload
    """The slice to be replaced."""
    origin: Origin
    """What the new one is made from."""


@dataclass(frozen=True, slots=True)
class Resize:
    """Write how many pods a slice is for, by pod set."""

    workload: Workload
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class AwaitReplacements:
    """Set `WaitingForReplacementPods`: pods of a group are missing, or no longer are."""

    workload: Workload
    awaits: bool


@dataclass(frozen=True, slots=True)
class PutOnHold:
    """Take back the quota of a Workload, and queue it no more for a while."""

    workload: Workload
    message: str


@dataclass(frozen=True, slots=True)
class TakeOffHold:
    """Queue a Workload again that was on hold."""

    workload: Workload
    message: str


@dataclass(frozen=True, slots=True)
class Own:
    """Make more jobs owners of a Workload that several own."""

    workload: Workload
    jobs: Sequence[JobView]


@dataclass(frozen=True, slots=True)
class Adopt:
    """Make a job the controlling owner of the prebuilt Workload that it names."""

    workload: Workload
    job: JobView


SliceWrite: TypeAlias = Supersede | Grow | Resize
WorkloadWrite: TypeAlias = (
    Release
    | Finish
    | LetGo
    | Ready
    | Reclaim
    | SliceWrite
    | AwaitReplacements
    | PutOnHold
    | TakeOffHold
    | Own
    | Adopt
)


@dataclass(frozen=True, slots=True)
class Create:
    """Create the Workload of these jobs."""

    members: Sequence[JobView]


@dataclass(frozen=True, slots=True)
class Discard:
    """Delete a Workload that is one too many, or does not match its jobs; `message` says why."""

    workload: Workload
    message: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """Write the jobs' pod sets into their Workload, which has no quota."""

    workload: Workload
    members: Sequence[JobView]
    follows: bool = False
    """Write what `Follow` does as well."""


@dataclass(frozen=True, slots=True)
class Follow:
    """Write queue, priority, time limit and gates of a job into its Workload without quota."""

    workload: Workload
    job: JobView


@dataclass(frozen=True, slots=True)
class Start:
    """Unsuspend these parts' jobs, with what the admission adds to their pod templates."""

    workload: Workload
    parts: Sequence[Part]
    begun: bool = False
    """Other parts run already: the start is being completed."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Suspend these jobs."""

    jobs: Sequence[JobView]
    reason: str
    mark: bool = False
    """Mark them as stopping until `Restore` has restored their templates."""
    originals: Mapping[Key, Workload] = field(default_factory=dict)
    """Workloads of jobs, by key, of which those that can are restored by the same write."""


@dataclass(frozen=True, slots=True)
class Restore:
    """Restore the pod templates of these parts' suspended jobs, and remove the mark of a stop."""

    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class BreakUp:
    """Evict a Workload with a part that is lost, so that the gang cannot run as one."""

    workload: Workload
    message: str
    reason: EvictionReason = EvictionReason.GANG_INTERRUPTED


@dataclass(frozen=True, slots=True)
class AwaitPods:
    """Do a write that releases quota once the pods of these parts ended, of which no job tells."""

    parts: Sequence[Part]
    then: WorkloadWrite
    meanwhile: "Action | None" = None
    """The next step until then."""


@dataclass(frozen=True, slots=True)
class Ungate:
    """Let those pods of an elastic job go that its admitted slice covers.

    Once no more pods run than the job wants, the slice shrinks to that.
    """

    workload: Workload
    job: JobView
    shrinks_to: Mapping[str, int] | None = None
    """How many pods of each set the job wants, where those are fewer; None otherwise."""


@dataclass(frozen=True, slots=True)
class Tell:
    """Annotate these jobs with what their gang waits for; an empty text removes the annotation."""

    jobs: Sequence[JobView]
    text: str


@dataclass(frozen=True, slots=True)
class Complain:
    """Record an Event that no Workload can be had for a job, and why."""

    job: JobView
    message: str
    reason: str = "ErrWorkloadCompose"
    patient: bool = False
    """Only once it has been so for a moment: what is lacking may be about to come."""


@dataclass(frozen=True, slots=True)
class LetPodsGo:
    """Remove our finalizer from pods of which nothing more needs to be seen."""

    pods: Sequence[PodJob]


@dataclass(frozen=True, slots=True)
class RemoveExcess:
    """Delete pods of which a group has too many."""

    pods: Sequence[PodJob]


Action: TypeAlias = (
    Create
    | Discard
    | Match
    | Follow
    | Start
    | Stop
    | Restore
    | BreakUp
    | AwaitPods
    | Ungate
    | Tell
    | Complain
    | LetPodsGo
    | RemoveExcess
    | WorkloadWrite
)
