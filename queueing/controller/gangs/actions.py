"""What may be done next about a gang."""

from collections.abc import Sequence
from dataclasses import dataclass

from queueing.controller.gangs.parts import Part
from queueing.controller.jobs.workload_writes import WorkloadWrite
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload


@dataclass(frozen=True, slots=True)
class Create:
    """Make the Workload of all members."""

    members: Sequence[Job]


@dataclass(frozen=True, slots=True)
class Discard:
    """Delete a Workload that no longer speaks of the gang."""

    workload: Workload
    message: str


@dataclass(frozen=True, slots=True)
class Match:
    """Bring pod sets, queue, priority and time limit of a Workload in line with its Jobs."""

    workload: Workload
    members: Sequence[Job]


@dataclass(frozen=True, slots=True)
class Start:
    """Unsuspend these members: try all, then do all."""

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
    """Give these suspended members their own templates back."""

    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class BreakUp:
    """Evict a Workload whose gang can no longer run as one."""

    workload: Workload
    message: str


@dataclass(frozen=True, slots=True)
class Tell:
    """Say on these Jobs what their gang waits for; an empty text takes that away."""

    jobs: Sequence[Job]
    text: str


Action = Create | Discard | Match | Start | Stop | Restore | BreakUp | Tell | WorkloadWrite
