"""What the reconcilers of Jobs and of gangs are given, for one term of leadership."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from queueing.clock import Clock
from queueing.controller.jobs.quiescence import Quiescence
from queueing.controller.work_queues import WorkQueues
from queueing.controller.workloads.departing_pods import DepartingPods
from queueing.controller.workloads.late_reservations import LateReservations
from queueing.controller.writing.deferral import Deferral
from queueing.controller.writing.events import Events
from queueing.translate.devices.realisation import PodChanges
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload


class Reporter(Protocol):
    """Called after each step for metrics and traces; nothing depends on it.

    `began` is when the write of the start began, in seconds of the wall clock.
    """

    def created(self, kind: str, job: Meta) -> None: ...
    def started(self, workload: Workload, began: float) -> None: ...
    def pods_ready(self, workload: Workload, job: Meta) -> None: ...
    def finished(self, workload: Workload, job: Meta) -> None: ...
    def evicted(self, workload: Workload, reason: str, cause: str) -> None: ...


class DeviceMaker(Protocol):
    """Creates what the pods of a Job need of devices (`devices.starting`)."""

    async def prepare(self, job: JobView, workload: Workload) -> PodChanges:
        """Create claims and templates; return the changes of the pod template that name them."""
        ...

    def holds(self, workload: Workload) -> bool:
        """Say whether devices are still allocated to a Workload, so that its quota is in use."""
        ...


class Barrier(Protocol):
    """Delays the stop of an evicted Workload while its pods save (`checkpoints.barrier`)."""

    def holds(self, workload: Workload, jobs: Sequence[JobView]) -> bool:
        """Say whether these Jobs of a Workload must not be suspended yet."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """The parts of a term that both reconcilers use."""

    events: Events
    reporter: Reporter
    clock: Clock
    late_reservations: LateReservations
    barrier: Barrier
    devices: DeviceMaker
    deferral: Deferral
    quiescence: Quiescence
    departing: DepartingPods
    queues: WorkQueues
