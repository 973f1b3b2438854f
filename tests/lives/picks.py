"""Chooses the object of a `LivingCluster` that an event concerns."""

from collections.abc import Sequence
from typing import TypeVar

from queueing.core.facts import ClusterQueueFact, Fact, Gone, Kind, LocalQueueFact, WorkloadFact
from tests.lives.living import LivingCluster, place_of
from tests.lives.random_events import Event

T = TypeVar("T")


def pick(found: Sequence[T], event: Event) -> T | None:
    """Return one of some; None when there are none."""
    return found[event.pick % len(found)] if found else None


def any_workload(cluster: LivingCluster, event: Event) -> WorkloadFact | None:
    """Return a workload that is not finished."""
    live = [key for key, one in cluster.workloads.items() if not one.is_true("Finished")]
    key = pick(sorted(live), event)
    return None if key is None else cluster.workloads[key]


def any_waiting(cluster: LivingCluster, event: Event) -> WorkloadFact | None:
    """Return a workload that holds no quota, also one that is finished."""
    waiting = [one for one in cluster.workloads.values() if not one.holds_quota]
    return pick(sorted(waiting, key=lambda one: one.key), event)


def any_queue(cluster: LivingCluster, event: Event) -> ClusterQueueFact | None:
    """Return a ClusterQueue."""
    return pick(cluster.queues(), event)


def doors_of(cluster: LivingCluster) -> list[LocalQueueFact]:
    """Return all LocalQueues."""
    return [one for one in cluster.objects.values() if isinstance(one, LocalQueueFact)]


def take_away_or_return(cluster: LivingCluster, event: Event, kind: Kind) -> None:
    """Take an object away, or bring back one that was."""
    lost = [one for place, one in cluster.removed.items() if place[0] == kind.name]
    found: Fact | None = pick(lost, event)
    if found is not None:
        del cluster.removed[place_of(found)]
        cluster.put(found)
        return
    present = [one for place, one in cluster.objects.items() if place[0] == kind.name]
    found = pick(present, event)
    if found is not None:
        cluster.removed[place_of(found)] = found
        cluster.put(Gone(kind, place_of(found)[1]))
