"""What can be seen of Jobs and Workloads from outside: who waits, runs, was preempted, is done."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Wire = Mapping[str, Any]


class Phase(StrEnum):
    """Where a Job stands, in words for people."""

    SUBMITTED = "submitted"
    WAITING = "waiting"
    RUNNING = "running"
    STOPPING = "stopping"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """Something that happened to a Job, to be shown as one line."""

    at: float
    job: str
    text: str


@dataclass(slots=True, kw_only=True)
class Sight:
    """One Job as it was seen so far; times are seconds since the start."""

    job: str
    queue: str
    submitted: float
    phase: Phase = Phase.SUBMITTED
    reason: str = ""
    since: float = 0.0
    waited: float = 0.0
    preemptions: int = 0
    borrowed: bool = False
    flavors: str = ""

    @property
    def team(self) -> str:
        return self.job.partition("/")[0]


@dataclass(slots=True)
class Sightings:
    """All Jobs seen, by name of their Workload's owner."""

    jobs: dict[str, Sight] = field(default_factory=dict)

    def submit(self, job: str, queue: str, now: float) -> None:
        """Note a Job that was just created."""
        self.jobs[job] = Sight(job=job, queue=queue, submitted=now, since=now)

    def look(self, workloads: Iterable[Wire], now: float) -> list[News]:
        """Take in all Workloads as they are, and return what is new."""
        return [one for workload in workloads for one in self._look_at(workload, now)]

    def _look_at(self, workload: Wire, now: float) -> list[News]:
        owner = next(iter(workload["metadata"].get("ownerReferences", ())), None)
        job = f"{workload['metadata']['namespace']}/{owner['name']}" if owner else ""
        sight = self.jobs.get(job)
        if sight is None:
            return []
        true = conditions_of(workload)
        phase = phase_of(true)
        news: list[News] = []
        reason = true.get("QuotaReserved", ("", "", ""))[1]
        if phase is not sight.phase or (phase is Phase.WAITING and reason != sight.reason):
            text = self._moved(sight, phase, workload, now)
            news = [News(at=now, job=job, text=text)] if text else []
            sight.phase, sight.reason = phase, reason
        return news

    def _moved(self, sight: Sight, phase: Phase, workload: Wire, now: float) -> str:
        if phase is not sight.phase:
            if sight.phase in {Phase.SUBMITTED, Phase.WAITING}:
                sight.waited += now - sight.since
            if phase in {Phase.WAITING, Phase.RUNNING}:
                sight.since = now
        true = conditions_of(workload)
        match phase:
            case Phase.WAITING:
                return f"waits: {true['QuotaReserved'][2]}" if "QuotaReserved" in true else ""
            case Phase.RUNNING:
                sight.flavors = flavors_of(workload)
                return f"admitted to {sight.flavors} after {now - sight.submitted:.1f} s"
            case Phase.STOPPING:
                sight.preemptions += 1
                return f"preempted: {true.get('Preempted', ('', 'Evicted', ''))[1]}"
            case Phase.DONE:
                return "done"
            case Phase.SUBMITTED:
                return ""

    @property
    def all_done(self) -> bool:
        """Whether every Job that was seen is done."""
        return all(one.phase is Phase.DONE for one in self.jobs.values())


Conditions = dict[str, tuple[str, str, str]]


def conditions_of(workload: Wire) -> Conditions:
    """Return status, reason and message of each condition."""
    return {
        one["type"]: (one["status"], one.get("reason", ""), one.get("message", ""))
        for one in workload.get("status", {}).get("conditions", ())
    }


def phase_of(conditions: Conditions) -> Phase:
    """Tell where a Workload stands by its conditions."""

    def holds(name: str) -> bool:
        return conditions.get(name, ("",))[0] == "True"

    if holds("Finished"):
        return Phase.DONE
    if holds("Evicted") and holds("QuotaReserved"):
        return Phase.STOPPING
    if holds("Admitted"):
        return Phase.RUNNING
    return Phase.WAITING


def flavors_of(workload: Wire) -> str:
    """Name the flavors that a Workload was given, each once."""
    assignments = workload["status"].get("admission", {}).get("podSetAssignments", ())
    names = {flavor for one in assignments for flavor in one.get("flavors", {}).values()}
    return ", ".join(sorted(names))
