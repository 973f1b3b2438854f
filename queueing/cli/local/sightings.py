"""What can be seen of Jobs and Workloads from outside: who waits, runs, was preempted, is done."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

Wire = Mapping[str, Any]
_PREEMPTOR: Final = re.compile(r"\(UID: ([^,)]+)")
_MORE: Final = re.compile(r"unused quota for (\S+) in flavor (\S+), (\S+) more needed")
_PLAIN_WORDS: Final = MappingProxyType(
    {
        "PendingEvaluation": "waits for another turn",
        "WaitingForPreemptedWorkloads": "waits until those that are preempted have left",
    }
)


class JobStage(StrEnum):
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
    phase: JobStage = JobStage.SUBMITTED
    reason: str = ""
    since: float = 0.0
    waited: float = 0.0
    preemptions: int = 0
    waited_its_turn: bool = False
    cluster_queue: str = ""

    @property
    def team(self) -> str:
        return self.job.partition("/")[0]


@dataclass(slots=True)
class Sightings:
    """All Jobs seen, by name of their Workload's owner, and who borrowed."""

    jobs: dict[str, Sight] = field(default_factory=dict)
    borrowed: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """Most that a queue was seen to borrow, by queue, flavor and resource."""
    strict: set[str] = field(default_factory=set)
    """ClusterQueues that keep their order strictly."""
    names: dict[str, str] = field(default_factory=dict)
    """Job of each Workload, by the Workload's UID."""

    def submit(self, job: str, queue: str, now: float) -> None:
        """Note a Job, or the last pod of a group, that was just created."""
        self.jobs[job] = Sight(job=job, queue=queue, submitted=now, since=now)

    def look(self, workloads: Iterable[Wire], queues: Iterable[Wire], now: float) -> list[News]:
        """Take in all Workloads and queues as they are, and return what is new."""
        present = list(workloads)
        self.names |= {one["metadata"].get("uid", ""): _job_of(one) for one in present}
        news = [one for each in present for one in self._look_at(each, now)]
        return news + [one for queue in queues for one in self._borrowing(queue, now)]

    def _borrowing(self, queue: Wire, now: float) -> Iterator[News]:
        name = queue["metadata"]["name"]
        if queue.get("spec", {}).get("queueingStrategy") == "StrictFIFO":
            self.strict.add(name)
        for flavor, resource, _, borrowed in usage_of(queue):
            key = (name, flavor, resource)
            if borrowed != "0" and key not in self.borrowed and resource != "memory":
                self.borrowed[key] = borrowed
                yield News(at=now, job=f"queue {name}", text=f"borrows {resource} of {flavor}")

    def _look_at(self, workload: Wire, now: float) -> list[News]:
        job = _job_of(workload)
        sight = self.jobs.get(job)
        if sight is None:
            return []
        true = conditions_of(workload)
        phase, reason = phase_of(true), true.get("QuotaReserved", ("", "", ""))[1]
        if phase is sight.phase and (phase is not JobStage.WAITING or reason == sight.reason):
            return []
        text = self._moved(sight, phase, workload, now)
        sight.phase, sight.reason = phase, reason
        return [News(at=now, job=job, text=text)] if text else []

    def _moved(self, sight: Sight, phase: JobStage, workload: Wire, now: float) -> str:
        before, true = sight.phase, conditions_of(workload)
        evicted = before is JobStage.RUNNING and phase in {JobStage.WAITING, JobStage.STOPPING}
        if phase is not before:
            if before in {JobStage.SUBMITTED, JobStage.WAITING}:
                sight.waited += now - sight.since
            sight.since = now
        if evicted:
            sight.preemptions += 1
            return _preempted(true, self.names)
        match phase:
            case JobStage.WAITING if "QuotaReserved" in true:
                return _waits(*true["QuotaReserved"][1:])
            case JobStage.WAITING if before is JobStage.SUBMITTED:
                sight.waited_its_turn = True
                return "waits its turn"
            case JobStage.RUNNING:
                sight.cluster_queue = workload["status"]["admission"].get("clusterQueue", "")
                waited = f"after {sight.waited:.1f} s of waiting"
                return f"admitted to {flavors_of(workload)} {waited}"
            case JobStage.DONE:
                return "done"
            case _:
                return ""

    @property
    def all_done(self) -> bool:
        """Whether every Job that was seen is done."""
        return all(one.phase is JobStage.DONE for one in self.jobs.values())


Conditions = dict[str, tuple[str, str, str]]


def _job_of(workload: Wire) -> str:
    """Name the Job, or the group of pods, that a Workload belongs to; empty without one."""
    metadata = workload["metadata"]
    if metadata.get("annotations", {}).get("kueue.x-k8s.io/is-group-workload") == "true":
        return f"{metadata['namespace']}/{metadata['name']}"
    owner = next(iter(workload["metadata"].get("ownerReferences", ())), None)
    return f"{workload['metadata']['namespace']}/{owner['name']}" if owner else ""


def _preempted(true: Conditions, names: Mapping[str, str]) -> str:
    """Say why a Job was stopped, and for whom."""
    _, reason, message = true.get("Preempted", ("", "Evicted", ""))
    found = _PREEMPTOR.search(message)
    job = names.get(found[1], "") if found else ""
    return f"preempted for {job}: {reason}" if job else f"preempted: {reason}"


def _waits(reason: str, message: str) -> str:
    """Say what a Job waits for: what is missing where that is known, else the message."""
    if reason in _PLAIN_WORDS:
        return _PLAIN_WORDS[reason]
    missing = [f"{more} more {what} of {flavor}" for what, flavor, more in _MORE.findall(message)]
    if missing:
        return f"waits for {' or '.join(missing)}"
    return f"waits: {reason}: {message.partition(': ')[2] or message}"


def conditions_of(workload: Wire) -> Conditions:
    """Return status, reason and message of each condition."""
    return {
        one["type"]: (one["status"], one.get("reason", ""), one.get("message", ""))
        for one in workload.get("status", {}).get("conditions", ())
    }


def phase_of(conditions: Conditions) -> JobStage:
    """Tell where a Workload stands by its conditions."""

    def holds(name: str) -> bool:
        return conditions.get(name, ("",))[0] == "True"

    if holds("Finished"):
        return JobStage.DONE
    if holds("Evicted") and holds("QuotaReserved"):
        return JobStage.STOPPING
    if holds("Admitted"):
        return JobStage.RUNNING
    return JobStage.WAITING


def flavors_of(workload: Wire) -> str:
    """Name the flavors that a Workload was given, each once."""
    assignments = workload["status"].get("admission", {}).get("podSetAssignments", ())
    names = {flavor for one in assignments for flavor in one.get("flavors", {}).values()}
    return ", ".join(sorted(names))


def usage_of(queue: Wire) -> Iterator[tuple[str, str, str, str]]:
    """Yield flavor, resource, amount in use and amount borrowed of a ClusterQueue's status."""
    for flavor in queue.get("status", {}).get("flavorsReservation", ()):
        for one in flavor["resources"]:
            yield (
                flavor["name"],
                one["name"],
                str(one.get("total", "0")),
                str(one.get("borrowed", "0")),
            )
