"""The steps that the ladder of gangs may return, as values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from queueing.controller.gangs.parts import Part
from queueing.controller.jobs.workload_writes import WorkloadWrite
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload


@dataclass(frozen=True, slots=True)
class Create:
    """Create the Workload of all members."""

    members: Sequence[Job]


@dataclass(frozen=True, slots=True)
class Discard:
    """Delete a Workload that no longer matches the gang; `message` says why."""

    workload: Workload
    message: str


@dataclass(frozen=True, slots=True)
class Match:
    """Write pod sets, queue, priority and time limit of the Jobs into their Workload."""

    workload: Workload
    members: Sequence[Job]


@dataclass(frozen=True, slots=True)
class Start:
    """Unsuspend these members: first as dry runs, then, if all may, for real."""

    workload: Workload
    parts: Sequence[Part]
    begun: bool
    """Other members run already: the start is being completed."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Suspend these Jobs."""

    jobs: Sequence[Job]
    reason: str


@dataclass(frozen=True, slots=True)
class Restore:
    """Restore the pod templates of these suspended members."""

    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class BreakUp:
    """Evict a Workload with a member that is lost, so that the gang cannot run as one."""

    workload: Workload
    message: str


@dataclass(frozen=True, slots=True)
class AwaitPods:
    """Do a write that releases quota once the pods of these members, whose Jobs are gone, ended."""

    departed: Sequence[Part]
    then: WorkloadWrite
    meanwhile: "Action | None" = None
    """The next step until then."""


@dataclass(frozen=True, slots=True)
class Tell:
    """Annotate these Jobs with what their gang waits for; an empty text removes the annotation."""

    jobs: Sequence[Job]
    text: str


Action: TypeAlias = (
    Create | Discard | Match | Start | Stop | Restore | BreakUp | AwaitPods | Tell | WorkloadWrite
)
