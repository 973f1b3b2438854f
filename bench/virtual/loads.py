"""What is submitted: queues, and streams of workloads, by the letter of each load.

Amounts are whole cores, times are seconds. All queues preempt lower priorities within themselves
and reclaim from anybody in their cohort.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from queueing.core.facts import Fact, PreemptionPolicy
from queueing.core.names import Key
from queueing.core.settings import FairSharing
from queueing.testing.builders import (
    NAMESPACE,
    cluster_queue,
    cohort,
    flavor,
    local_queue,
    namespace,
    preemption,
    quota,
)

CONTENDED = preemption(within=PreemptionPolicy.LOWER_PRIORITY, reclaim=PreemptionPolicy.ANY)
FAIR = FairSharing(strategies=("LessThanOrEqualToFinalShare", "LessThanInitialShare"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Workloads of one class, which one client creates for one queue, one after another."""

    queue: str
    name: str
    """The class: what is told is told by class."""
    priority: int
    cpu: tuple[int, ...]
    """Cores that the workloads ask for, in turn."""
    runs_s: float
    every_s: float
    count: int
    start_s: float = 0.0
    leaves_s: float = 0.0
    """Seconds until the pods of an evicted one have ended."""
    number: int = 0
    """Tells the streams of one class and queue apart."""

    def cores(self, number: int) -> int:
        """Return how much one of its workloads asks for."""
        return self.cpu[number % len(self.cpu)]

    def key(self, number: int) -> Key:
        """Return the key of one of its workloads."""
        return Key(f"{NAMESPACE}/{self.name}-{self.queue}-{self.number}-{number:04}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A ClusterQueue, and the cohort it is in; a limit of None does not bind."""

    name: str
    cohort: str
    nominal: int = 20
    borrowing: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """All that happens in a run. `parents` gives the parents of cohorts that have one."""

    queues: tuple[Queue, ...]
    streams: tuple[Stream, ...]
    parents: Mapping[str, str] = field(default_factory=dict)
    fair_sharing: FairSharing | None = None
    write_factor: float = 1.0
    """How many times as dear writes are as usual."""
    limit_s: float = 7_200.0
    """Seconds by which everything must have ended."""

    def scaled(self, scale: float) -> "Load":
        """Return the load with so many times the workloads."""
        streams = (replace(one, count=max(1, round(one.count * scale))) for one in self.streams)
        return replace(self, streams=tuple(streams))

    def root(self, queue: Queue) -> str:
        """Return the root cohort above a queue."""
        name = queue.cohort
        while name in self.parents:
            name = self.parents[name]
        return name

    def objects(self) -> Iterator[Fact]:
        """Give the facts of all that is there from the beginning."""
        yield namespace()
        yield flavor()
        for name in dict.fromkeys((*self.parents, *self.parents.values())):
            yield cohort(name, self.parents.get(name))
        for one in self.queues:
            borrowing = None if one.borrowing is None else one.borrowing * 1_000
            limits = {"default": {"cpu": quota(one.nominal * 1_000, borrowing=borrowing)}}
            yield cluster_queue(one.name, limits, cohort=one.cohort, preemption=CONTENDED)
            yield local_queue(f"{NAMESPACE}/{one.name}", one.name)


def _queues(cohorts: int, each: int, borrowing: int | None = None) -> tuple[Queue, ...]:
    return tuple(
        Queue(name=f"queue-{number:02}", cohort=f"cohort-{number // each}", borrowing=borrowing)
        for number in range(cohorts * each)
    )


def _three_sizes(small: int, medium: int, large: int) -> Load:
    """Return Kueue's own load, with so many workloads of each size in each queue."""
    queues = _queues(5, 6, borrowing=100)
    return Load(
        queues=queues,
        streams=tuple(
            Stream(
                queue=queue.name,
                name=name,
                priority=priority,
                cpu=(cpu,),
                runs_s=runs_s,
                every_s=every_s,
                count=count,
            )
            for queue in queues
            for name, priority, cpu, runs_s, every_s, count in (
                ("small", 50, 1, 0.2, 0.1, small),
                ("medium", 100, 5, 0.5, 0.5, medium),
                ("large", 200, 20, 1.0, 1.2, large),
            )
        ),
        write_factor=1.3,
    )


def _long_and_rare(leaves: tuple[float, ...]) -> Load:
    """Return long jobs and rare large ones; the victims of each stream leave after one of these."""
    queues = _queues(1, 6, borrowing=100)
    streams: list[Stream] = []
    for number, queue in enumerate(queues):
        long = Stream(
            queue=queue.name,
            name="long",
            priority=50,
            cpu=(2,),
            runs_s=60.0,
            every_s=0.5,
            count=110 if number < 2 else 70,
        )
        large = Stream(
            queue=queue.name,
            name="large",
            priority=200,
            cpu=(20,),
            runs_s=30.0,
            every_s=60.0,
            count=5,
            start_s=5.0 + 9.0 * number,
        )
        streams += (long, large)
    drained = (
        replace(one, leaves_s=leaves[number % len(leaves)]) for number, one in enumerate(streams)
    )
    return Load(queues=queues, streams=tuple(drained))


def _pinned() -> Load:
    """Return a load whose large ones fit only when those of the same priority have ended."""
    queues = _queues(1, 2)
    return Load(
        queues=queues,
        streams=tuple(
            Stream(
                queue=queue.name,
                name=name,
                priority=priority,
                cpu=(cpu,),
                runs_s=runs_s,
                every_s=every_s,
                count=count,
                start_s=start_s,
            )
            for queue in queues
            for name, priority, cpu, runs_s, every_s, count, start_s in (
                ("pin", 200, 1, 300.0, 0.1, 2, 0.0),
                ("large", 200, 20, 20.0, 1.0, 2, 1.0),
                ("small", 50, 1, 2.0, 0.1, 2_000, 2.0),
            )
        ),
    )


LOADS: Mapping[str, Callable[[random.Random], Load]] = MappingProxyType(
    {
        "A": lambda _: _three_sizes(117, 33, 16),
        "A-full": lambda _: _three_sizes(350, 100, 50),
        "D": lambda _: _long_and_rare((0.0,)),
        "E": lambda _: _long_and_rare((120.0,)),
        "H": lambda _: _long_and_rare((30.0, 60.0, 120.0, 300.0, 600.0)),
        "I": lambda _: _pinned(),
    }
)
"""Loads, drawn with a source of chance."""


def by_workload(load: Load) -> dict[Key, Stream]:
    """Return the stream of each workload that will come."""
    return {one.key(number): one for one in load.streams for number in range(one.count)}
