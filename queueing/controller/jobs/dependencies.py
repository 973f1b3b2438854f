"""What the reconcilers of Jobs and of gangs depend on, and what they report to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from queueing.clock import Clock
from queueing.controller.jobs.quiescence import Quiescence
from queueing.controller.workloads.late_reservations import LateReservations
from queueing.controller.writing.deferral import Deferral
from queueing.controller.writing.events import Events
from queueing.translate.devices.realisation import PodChanges
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload


class Reporter(Protocol):
    """Who listens to what becomes of Jobs; nothing depends on it."""

    def created(self, kind: str, job: Meta) -> None: ...
    def started(self, workload: Workload, began: float) -> None: ...
    def pods_ready(self, workload: Workload, job: Meta) -> None: ...
    def finished(self, workload: Workload, job: Meta) -> None: ...
    def evicted(self, workload: Workload, reason: str, cause: str) -> None: ...


class DeviceMaker(Protocol):
    """Who sees to the devices of what is started."""

    async def prepare(self, job: Job, workload: Workload) -> PodChanges: ...
    def holds(self, workload: Workload) -> bool: ...


class Barrier(Protocol):
    """Who says whether the Jobs of an evicted Workload may be suspended yet."""

    def holds(self, workload: Workload, jobs: Sequence[Job]) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """All of these, for one term of leadership."""

    events: Events
    reporter: Reporter
    clock: Clock
    late_reservations: LateReservations
    barrier: Barrier
    devices: DeviceMaker
    deferral: Deferral
    quiescence: Quiescence
