"""Holdings: since when and until when a workload holds which quota, by the times in its status."""

from collections.abc import Mapping
from typing import NamedTuple

from queueing.core.facts import WorkloadFact
from queueing.core.names import FlavorResource, Key, QueueName, Uid
from queueing.core.usage import held_usage


class Runs(NamedTuple):
    """Since when all pods of a workload run, and when its status began to show that."""

    since: int
    told_at: int


class Holding(NamedTuple):
    """Quota held by one workload from `since` to `until` (None: still), in epoch seconds."""

    uid: Uid
    queue: QueueName
    priority: int
    usage: Mapping[FlavorResource, int]
    since: int
    until: int | None = None
    local_queue: Key | None = None
    may_last: int | None = None
    """Seconds from `since` after which it must end; None without a maximum execution time."""
    user: str = ""
    runs: Runs | None = None
    """Known only where rows of usage are kept."""
    admitted_at: int | None = None
    """When the workload got quota, if the amounts have changed since; None if that is `since`."""

    def lost_s(self, when: int, saved: int | None) -> int:
        """Return how many seconds of work are lost if an eviction ends the holding at `when`.

        `saved` is when its work was last saved; None for never, so that all of it is lost.
        """
        since = self.since if saved is None else max(self.since, min(saved, when))
        return max(0, when - since)

    def as_leaver(self) -> "Holding":
        """Return what is stored of it when its status does not show it any more."""
        runs = None if self.runs is None else Runs(self.runs.since, self.runs.since)
        return self._replace(may_last=None, admitted_at=None, runs=runs)

    @property
    def life(self) -> tuple[Uid, int]:
        """What distinguishes it from all other holdings: its workload, and since when it holds."""
        return self.uid, self.since

    @property
    def began(self) -> int:
        """When the workload got quota."""
        return self.since if self.admitted_at is None else self.admitted_at


def holding_of(
    fact: WorkloadFact, usage: Mapping[FlavorResource, int] | None = None
) -> Holding | None:
    """Return the holding that a workload's status shows, also a finished one; None if none.

    `usage` is what it holds, if that was computed from the same status before.
    """
    reserved, admission = fact.conditions.get("QuotaReserved"), fact.admission
    if admission is None or reserved is None or not reserved.status:
        return None
    return Holding._make(  # all fields, in their order: half the time of a call by names
        (
            fact.uid,
            admission.cluster_queue,
            fact.priority,
            held_usage(fact) if usage is None else usage,
            int(reserved.changed),
            ended_at(fact) if "Finished" in fact.conditions else None,
            fact.local_queue,
            seconds_of(fact),
            fact.user,
            None,
            None,
        )
    )


def seconds_of(fact: WorkloadFact) -> int | None:
    """Return how many seconds a run may last; None without a maximum execution time."""
    if fact.max_execution_s is None:
        return None
    return max(0, fact.max_execution_s - fact.past_execution_s)


def seconds_left(since: int, seconds: int, at: int) -> int:
    """Return how much is left at a time of so many seconds from `since` on."""
    return max(0, since + seconds - max(at, since))


def ended_at(fact: WorkloadFact) -> int | None:
    """Return when a workload finished; None if it has not."""
    finished = fact.conditions.get("Finished")
    return int(finished.changed) if finished is not None and finished.status else None


def released_at(fact: WorkloadFact) -> int | None:
    """Return when a workload without quota released it; None if it never had any."""
    reserved = fact.conditions.get("QuotaReserved")
    return int(reserved.changed) if reserved is not None and not reserved.status else None


def runs_of(fact: WorkloadFact) -> Runs | None:
    """Return since when all pods of a workload run; None if they do not.

    For a workload that finished before all were ready, it is the time of its admission, and the end
    shows it.
    """
    ready, finished = fact.conditions.get("PodsReady"), fact.conditions.get("Finished")
    if ready is not None and ready.status:
        return Runs(int(ready.changed), int(ready.changed))
    admitted = fact.conditions.get("Admitted")
    if finished is None or not finished.status or admitted is None or not admitted.status:
        return None
    return Runs(int(admitted.changed), int(finished.changed))
