"""Replies to writes that no store of a test needs."""

from dataclasses import dataclass, field

from queueing.translate.jobs.composition import JobKind


@dataclass
class Unheard:
    """Notes of which kinds jobs came."""

    jobs: list[JobKind] = field(default_factory=list)

    def absorb_workload(self, reply: bytes) -> None: ...

    def absorb_made(self, reply: bytes) -> None: ...

    def absorb_job(self, _reply: bytes, kind: JobKind) -> None:
        self.jobs.append(kind)
