"""What is submitted: queues, and streams of workloads, by the letter of each load.

Amounts are whole cores, times are seconds. All queues preempt lower priorities within themselves
and reclaim from anybody in their cohort.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
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

    queue: str = ""
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

    def due_s(self, number: int) -> float:
        """Return when one of its workloads is created."""
        return self.start_s + number * self.every_s

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


def _to_each(queues: Iterable[Queue], *classes: Stream) -> tuple[Stream, ...]:
    """Let each queue have the same streams."""
    return tuple(replace(one, queue=queue.name) for queue in queues for one in classes)


def _numbered(streams: Iterable[Stream]) -> tuple[Stream, ...]:
    """Give each stream a number, so that those of one class and queue differ."""
    return tuple(replace(one, number=number) for number, one in enumerate(streams))


def _three_sizes(small: int, medium: int, large: int) -> Load:
    """Return Kueue's own load, with so many workloads of each size in each queue."""
    queues = _queues(5, 6, borrowing=100)
    streams = _to_each(
        queues,
        Stream(name="small", priority=50, cpu=(1,), runs_s=0.2, every_s=0.1, count=small),
        Stream(name="medium", priority=100, cpu=(5,), runs_s=0.5, every_s=0.5, count=medium),
        Stream(name="large", priority=200, cpu=(20,), runs_s=1.0, every_s=1.2, count=large),
    )
    return Load(queues=queues, streams=streams, write_factor=1.3)


def _shared_fairly(chance: random.Random) -> Load:
    """Return three levels of cohorts with fair sharing, where a third of the queues wants more."""
    inner = [f"inner-{number}" for number in range(6)]
    parents = {name: f"outer-{number // 2}" for number, name in enumerate(inner)}
    parents |= dict.fromkeys(dict.fromkeys(parents.values()), "root")
    queues = tuple(
        Queue(name=f"queue-{number:02}", cohort=inner[number // 2]) for number in range(12)
    )
    streams: list[Stream] = []
    for number, queue in enumerate(queues):
        more = 3 if number % 3 == 0 else 1
        low = (
            Stream(
                queue=queue.name,
                name="low",
                priority=0,
                cpu=(chance.randint(1, 3),),
                runs_s=chance.uniform(2.0, 12.0),
                every_s=chance.uniform(0.4, 0.9) / more,
                count=30 * more,
            )
            for _ in range(2)
        )
        high = (
            Stream(
                queue=queue.name,
                name="high",
                priority=100,
                cpu=(chance.choice((4, 6, 10)),),
                runs_s=chance.uniform(3.0, 15.0),
                every_s=3.0 / more,
                count=8 * more,
                start_s=chance.uniform(0.0, 10.0),
            )
            for _ in range(2)
        )
        streams += (*low, *high)
    return Load(queues=queues, streams=_numbered(streams), parents=parents, fair_sharing=FAIR)


def _deep() -> Load:
    """Return deep queues, of which 60 % never fit, with three priorities."""
    queues = _queues(2, 10, borrowing=100)
    classes = [
        one
        for name, priority in (("low", 0), ("middle", 100), ("high", 200))
        for one in (
            Stream(
                name="never", priority=priority, cpu=(130,), runs_s=0.0, every_s=0.001, count=100
            ),
            Stream(
                name=name, priority=priority, cpu=(1, 2, 3), runs_s=2.0, every_s=0.0015, count=66
            ),
        )
    ]
    return Load(queues=queues, streams=_numbered(_to_each(queues, *classes)))


def _long_and_rare(*leaves: float) -> Load:
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


def _bound_by_the_server() -> Load:
    """Return more quota than can be used, and wide workloads that must borrow of it."""
    rich = tuple(
        Queue(name=f"rich-{number}", cohort="cohort", nominal=10_000) for number in range(5)
    )
    poor = Queue(name="poor", cohort="cohort")
    small = Stream(name="small", priority=50, cpu=(1,), runs_s=1.0, every_s=0.001, count=6)
    wide = Stream(
        queue=poor.name, name="wide", priority=200, cpu=(60,), runs_s=5.0, every_s=3.0, count=10
    )
    streams = _numbered(_to_each(rich, *[small] * 200))
    return Load(queues=(*rich, poor), streams=(*streams, wide))


def _guest() -> Load:
    """Return owners that come now and then, and a guest without quota who always has more work."""
    owners = _queues(1, 4)
    guest = Queue(name="guest", cohort=owners[0].cohort, nominal=0)
    streams = _to_each(
        owners, Stream(name="owner", priority=50, cpu=(3,), runs_s=4.0, every_s=0.7, count=120)
    )
    more = Stream(
        queue=guest.name, name="guest", priority=100, cpu=(8,), runs_s=6.0, every_s=0.3, count=200
    )
    return Load(queues=(*owners, guest), streams=(*streams, more))


def _pinned() -> Load:
    """Return a load whose large ones fit only when those of the same priority have ended."""
    queues = _queues(1, 2)
    streams = _to_each(
        queues,
        Stream(name="pin", priority=200, cpu=(1,), runs_s=300.0, every_s=0.1, count=2),
        Stream(
            name="large", priority=200, cpu=(20,), runs_s=20.0, every_s=1.0, count=2, start_s=1.0
        ),
        Stream(
            name="small", priority=50, cpu=(1,), runs_s=2.0, every_s=0.1, count=2_000, start_s=2.0
        ),
    )
    return Load(queues=queues, streams=streams)


LOADS: Mapping[str, Callable[[random.Random], Load]] = MappingProxyType(
    {
        "A": lambda _: _three_sizes(117, 33, 16),
        "A-full": lambda _: _three_sizes(350, 100, 50),
        "B": _shared_fairly,
        "C": lambda _: _deep(),
        "D": lambda _: _long_and_rare(0.0),
        "E": lambda _: _long_and_rare(120.0),
        "F": lambda _: _bound_by_the_server(),
        "G": lambda _: _guest(),
        "H": lambda _: _long_and_rare(30.0, 60.0, 120.0, 300.0, 600.0),
        "I": lambda _: _pinned(),
    }
)
"""Loads, drawn with a source of chance."""


def by_workload(load: Load) -> dict[Key, Stream]:
    """Return the stream of each workload that will come."""
    return {one.key(number): one for one in load.streams for number in range(one.count)}
