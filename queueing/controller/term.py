"""What all parts of one term of leadership share."""

from dataclasses import dataclass

from queueing.clock import Clock
from queueing.controller.stores.objects import Objects
from queueing.controller.telemetry.reporter import Reporter
from queueing.controller.work_queues import WorkQueues
from queueing.controller.writing.deferral import Deferral
from queueing.controller.writing.events import Events
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.state.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """The memory of a term, how it writes, and whom it tells what it did."""

    objects: Objects
    engine: Engine
    queues: WorkQueues
    writes: LeaderWrites
    deferral: Deferral
    events: Events
    reporter: Reporter
    clock: Clock
