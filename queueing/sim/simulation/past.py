"""Workloads of a cluster as arrivals: what came, and how long it ran, by what is stored of it."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, Uid
from queueing.recording.run_times import ran_s
from queueing.sim.simulation.arrivals import Arrival, in_time, name_of_class


def arrivals_of(facts: Iterable[WorkloadFact], since: float) -> list[Arrival]:
    """Return workloads that were created from a time on, and have ended, as they came.

    Those that have not ended, or never ran, are left out: nobody knows how long they will run.
    """
    return in_time(_ended(facts, since))


def _ended(facts: Iterable[WorkloadFact], since: float) -> Iterator[Arrival]:
    for fact in facts:
        took_s = ran_s(fact)
        if took_s is None or fact.created < since or fact.local_queue is None:
            continue
        key = Key(f"{fact.key}-{fact.uid[:8]}")
        again = replace(fact, key=key, uid=Uid(key), admission=None, conditions={}, checks=())
        again = replace(again, active=True, requeue_count=0, requeue_at=None, reclaimable={})
        yield Arrival(at=fact.created, fact=again, runs_s=took_s, name=name_of_class(fact))
