"""Workloads of a cluster as arrivals: what came, and how long it ran, by what is stored of it."""

from collections.abc import Iterable, Iterator

from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.recording.run_times import ran_s
from queueing.sim.simulation.arrivals import Arrival, again, in_time, name_of_class


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
        if fact.variant is not None:
            continue  # its parent ran
        key = Key(f"{fact.key}-{fact.uid[:8]}")
        fresh = again(fact, key, fact.created)
        yield Arrival(at=fact.created, fact=fresh, runs_s=took_s, name=name_of_class(fact))
