"""What the parts of this package are given, for one term of leadership."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from queueing.controller.jobs.quiescence import Quiescence
from queueing.controller.term import Term
from queueing.controller.workloads.departing_pods import DepartingPods
from queueing.controller.workloads.late_reservations import LateReservations
from queueing.kinds.managed import JobRules, Managed
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload


class Barrier(Protocol):
    """Delays the stop of an evicted Workload while its pods save (`checkpoints.shell.barrier`)."""

    def holds(self, workload: Workload, jobs: Sequence[JobView]) -> bool:
        """Say whether these Jobs of a Workload must not be suspended yet."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """What the parts of this package use beside the term."""

    term: Term
    rules: JobRules
    tell_ready_within_s: float
    """For how many seconds the write of `PodsReady` may be put off while the API server is slow."""
    is_managed: Managed
    departing: DepartingPods
    late_reservations: LateReservations
    barrier: Barrier
    quiescence: Quiescence
