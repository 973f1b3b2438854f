"""What the API server stores of workloads, what a write costs, and who hears of it when."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import partial

from bench.virtual.cores import Cores
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.sim.virtual_time import VirtualTime

WATCH_S = 0.003
"""Seconds from a write to its watch event."""
JITTER = 0.3
"""By how much, either way, a write costs more or less than in the mean."""

Watcher = Callable[[WorkloadFact, int], None]
"""Called with a workload and its version."""


class Write(Enum):
    """Kinds of writes, by their CPU seconds at server and client together."""

    CREATE = 0.0055
    ADMISSION = 0.0095
    FINISH = 0.0065
    EVICTION = 0.008
    CLEARING = 0.0075
    REQUEUE = 0.005
    REASON = 0.006


@dataclass(slots=True)
class Store:
    """The API server. A workload is written when the write's CPU time is spent, not before."""

    time: VirtualTime
    cores: Cores
    luck: random.Random
    factor: float
    """How many times as dear writes are as `Write` says."""
    workloads: dict[Key, WorkloadFact] = field(default_factory=dict)
    versions: dict[Key, int] = field(default_factory=dict)
    witness: Callable[[WorkloadFact | None, WorkloadFact], None] = lambda _old, _new: None
    """Called with each workload before and after a write, at once."""
    watchers: list[Watcher] = field(default_factory=list)

    def write(self, kind: Write, done: Callable[[], object]) -> None:
        """Spend what a write costs, then call `done`, which puts or finds out that it may not."""
        jitter = self.luck.uniform(1 - JITTER, 1 + JITTER)
        self.cores.run(kind.value * self.factor * jitter, done)

    def put(self, fact: WorkloadFact) -> int:
        """Store a workload, tell the watchers in a moment, and return its version."""
        version = self.versions.get(fact.key, 0) + 1
        before = self.workloads.get(fact.key)
        self.workloads[fact.key], self.versions[fact.key] = fact, version
        self.witness(before, fact)
        self.time.after(WATCH_S, partial(self._tell, fact, version))
        return version

    def stamp(self) -> float:
        """Return the time as the API server writes it: whole seconds."""
        return float(int(self.time.now))

    def _tell(self, fact: WorkloadFact, version: int, _now: float) -> None:
        for watcher in self.watchers:
            watcher(fact, version)
