"""Since when, and until when, a workload holds quota, by the times in its status."""

from collections.abc import Mapping
from typing import NamedTuple

from queueing.core.credits.allowance import seconds_of
from queueing.core.facts import WorkloadFact
from queueing.core.names import FlavorResource, Key, QueueName, Uid
from queueing.core.usage import held_usage


class Runs(NamedTuple):
    """Since when all pods of a workload run, and when its status came to tell so."""

    since: int
    told_at: int


class Holding(NamedTuple):
    """Quota held by one workload, from `since` to `until` (None: still)."""

    uid: Uid
    queue: QueueName
    priority: int
    usage: Mapping[FlavorResource, int]
    since: int
    until: int | None = None
    local_queue: Key | None = None
    may_last: int | None = None
    """Seconds from `since` after which it is to be over; None when the workload does not say."""
    user: str = ""
    runs: Runs | None = None
    """Known only where rows of usage are kept."""
    admitted_at: int | None = None
    """When it got quota, where it holds something else since then: None if that is `since`."""

    def unsaved_since(self, when: int, saved: int | None) -> int:
        """Return since when its work is lost that an eviction ends at `when`.

        `saved` is when it was saved last, None for never: then all that it did is lost.
        """
        return self.since if saved is None else max(self.since, min(saved, when))

    @property
    def began(self) -> int:
        """When it got quota."""
        return self.since if self.admitted_at is None else self.admitted_at


def holding_of(
    fact: WorkloadFact, usage: Mapping[FlavorResource, int] | None = None
) -> Holding | None:
    """Read what a status says; None when it tells of no quota, held or held before the end.

    `usage` is what it holds, where that was read from the same status before.
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
            None if fact.max_execution_s is None else seconds_of(fact),
            fact.user,
            None,
            None,
        )
    )


def ended_at(fact: WorkloadFact) -> int | None:
    """Return when a workload finished; None as long as it has not."""
    finished = fact.conditions.get("Finished")
    return int(finished.changed) if finished is not None and finished.status else None


def released_at(fact: WorkloadFact) -> int | None:
    """Return when a workload that holds nothing gave its quota back; None when it never had any."""
    reserved = fact.conditions.get("QuotaReserved")
    return int(reserved.changed) if reserved is not None and not reserved.status else None


def running_since(fact: WorkloadFact) -> int | None:
    """Return since when all pods of a workload run; None as long as they do not.

    Of one that finished before they were all ready it is the time of its admission.
    """
    ready, admitted = fact.conditions.get("PodsReady"), fact.conditions.get("Admitted")
    if ready is not None and ready.status:
        return int(ready.changed)
    if fact.is_true("Finished") and admitted is not None and admitted.status:
        return int(admitted.changed)
    return None


def runs_of(fact: WorkloadFact) -> Runs | None:
    """Return since when all pods run, as `running_since` does; the end may be what tells it."""
    if "PodsReady" not in fact.conditions and "Finished" not in fact.conditions:
        return None
    since = running_since(fact)
    if since is None:
        return None
    return Runs(since, since if fact.is_true("PodsReady") else ended_at(fact) or since)
