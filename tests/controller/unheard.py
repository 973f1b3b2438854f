"""Replies to writes that no store of a test needs."""

from dataclasses import dataclass, field

from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.kube.client import Client
from queueing.kube.pressure import Pressure
from queueing.testing.hand_clock import HandClock
from queueing.translate.jobs.composition import JobKind


@dataclass
class Unheard:
    """Notes of which kinds jobs came."""

    jobs: list[JobKind] = field(default_factory=list)

    def absorb_workload(self, reply: bytes) -> None: ...

    def absorb_made(self, reply: bytes) -> None: ...

    def absorb_job(self, _reply: bytes, kind: JobKind) -> None:
        self.jobs.append(kind)


def unheard_writes(client: Client, replies: Unheard | None = None) -> LeaderWrites:
    """Return writes that nothing keeps from being sent."""
    pressure = Pressure(HandClock())
    return LeaderWrites(client, lambda _seconds: True, replies or Unheard(), pressure=pressure)
