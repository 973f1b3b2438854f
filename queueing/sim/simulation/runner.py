"""Runs a cluster's engine in virtual time, from any set of facts.

At each moment all that happens is taken in first, then the engine decides until nothing more is to
be decided, and its decisions hold at once: writing them costs no time here. Admission checks are
ready at once as well.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from queueing.core.credits.facts import CreditFact
from queueing.core.credits.holding import seconds_of
from queueing.core.decisions import Admit, Preempt
from queueing.core.facts import (
    ClusterQueueFact,
    Condition,
    Fact,
    Gone,
    Kind,
    LocalQueueFact,
    WorkloadFact,
)
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.sim import transitions
from queueing.sim.virtual_time import Happening, VirtualTime
from queueing.sim.world import SimulatedCluster

EVERYBODY = 1_000_000
"""More groups than wait in any queue: a sweep of so many judges all again."""
MOMENT_S = 1e-3
"""The least time until the engine is asked again because of time alone."""
ALARMS_MAX = 1_000
"""How often in a row the engine is asked because of time alone, with nothing else to come."""


class Lives(Protocol):
    """Says how long everything takes, in seconds."""

    def runs_s(self, fact: WorkloadFact, ran_s: float) -> float | None:
        """Return how long the run of an admitted workload takes in all; None for without end.

        `ran_s` is how long it has run by now: 0 unless it ran when the simulation began.
        """

    def leaves_s(self, fact: WorkloadFact) -> float:
        """Return how long the pods of an evicted workload take to end."""


class Watcher(Protocol):
    """Is told of each change of a workload when it happens."""

    def came(self, fact: WorkloadFact, now: float) -> None: ...

    def admitted(self, fact: WorkloadFact, now: float) -> None: ...

    def evicted(self, fact: WorkloadFact, now: float) -> None: ...

    def left(self, fact: WorkloadFact, now: float) -> None:
        """Take in that an evicted workload gave back its quota and is queued again."""

    def ended(self, fact: WorkloadFact, now: float) -> None: ...


@dataclass(slots=True)
class Simulation:
    """A simulated cluster and its time. Workloads of the facts that hold quota are running."""

    cluster: SimulatedCluster
    time: VirtualTime
    lives: Lives
    watcher: Watcher
    ahead: int = 0
    """How many arrivals are planned and have not come."""
    last_event: float = float("-inf")
    """When something happened last, beside that time passed."""
    _runs: dict[Key, int] = field(default_factory=dict)
    """Running workloads, each with the number of its run."""
    _leaving: set[Key] = field(default_factory=set)
    _number: int = 0
    _alarm: float | None = None
    """When the engine is asked again without an event."""
    _alarms: int = 0
    """How often in a row only time has passed while nothing else was to come."""
    _events: int = 0
    """How much is planned beside alarms."""

    @classmethod
    def empty(
        cls, settings: Settings, now: float, *, lives: Lives, watcher: Watcher
    ) -> "Simulation":
        """Return a simulation of an empty cluster."""
        return cls(SimulatedCluster((), settings=settings), VirtualTime(now), lives, watcher)

    def begin(self, facts: Iterable[Fact | CreditFact]) -> None:
        """Put in what is there from the beginning; who holds quota is running.

        Workloads that are finished or being deleted are left out.
        """
        now, workloads = self.time.now, list[WorkloadFact]()
        for fact in facts:
            if isinstance(fact, WorkloadFact):
                workloads.append(fact)
            elif isinstance(fact, CreditFact):
                self.cluster.engine.observe(fact)
            else:
                self.cluster.observe(fact)
        for fact in workloads:
            if fact.finished or fact.deleting:
                continue
            self.cluster.observe(fact)
            self.watcher.came(fact, now)
            if fact.holds_quota:
                self.watcher.admitted(fact, now)
                self._go_on(fact)
        self._plan(now, self._evict_told)

    @property
    def present(self) -> int:
        """How many workloads are there and have not ended."""
        return len(self.cluster.workloads)

    # What is planned from outside.

    def submit(self, at: float, fact: WorkloadFact) -> None:
        """Plan that a workload comes."""
        self.ahead += 1
        self._plan(at, partial(self._come, fact))

    def change(self, at: float, fact: Fact) -> None:
        """Plan a change of anything but a workload."""
        self._plan(at, partial(self._change, fact))

    def _plan(self, at: float, happening: Happening) -> None:
        self._events += 1
        self.time.at(at, partial(self._happen, happening))

    def _happen(self, happening: Happening, now: float) -> None:
        self._events -= 1
        self._alarms = 0
        self.last_event = now
        happening(now)

    # Running.

    def step(self, until: float = float("inf")) -> bool:
        """Go on to the next event, and decide; False when nothing is to come before a time.

        Before it gives up, everybody who waits is judged once more.
        """
        upcoming = self.time.next_at
        if upcoming is None or (not self._events and self._alarms >= ALARMS_MAX):
            return bool(self.cluster.engine.sweep(EVERYBODY)) and self._decide()
        if upcoming > until:
            return False
        self.time.step()
        self._decide()
        return True

    def run(self, until: float = float("inf")) -> None:
        """Run until nothing happens any more, or until a time."""
        while self.step(until):
            pass

    def _decide(self) -> bool:
        """Decide all that can be decided now; say whether anybody was admitted or evicted."""
        now, moved = self.time.now, False
        while True:
            cycle = self.cluster.cycle(now)
            for decision in cycle.decisions:
                match decision:
                    case Admit():
                        moved = True
                        self._admitted(self.cluster.workloads[decision.workload])
                    case Preempt(already_evicted=False):
                        moved = True
                        self._leave(self.cluster.workloads[decision.workload])
                    case _:
                        pass
            if cycle.finished:
                break
        if cycle.wake_at is not None and cycle.wake_at != self._alarm:
            self._alarm = cycle.wake_at
            self.time.at(max(cycle.wake_at, now + MOMENT_S), self._ring)
        if moved:
            self.last_event = now
        return moved

    # What happens.

    def _come(self, fact: WorkloadFact, now: float) -> None:
        self.ahead -= 1
        self.watcher.came(fact, now)
        self.cluster.observe(fact)

    def _change(self, fact: Fact, now: float) -> None:
        self.cluster.observe(fact)
        if isinstance(fact, ClusterQueueFact | LocalQueueFact):
            self._evict_told(now)

    def _admitted(self, fact: WorkloadFact) -> None:
        if fact.checks:
            fact = transitions.checked(fact, now=self.time.now)
            self.cluster.observe(fact)
        self.watcher.admitted(fact, self.time.now)
        self._start(fact, 0.0)

    def _go_on(self, fact: WorkloadFact) -> None:
        """Let a workload run on that held quota when the simulation began."""
        if fact.evicted:
            self._leave(fact)
            return
        told = fact.conditions.get("Admitted")
        if told is None or not told.status:
            fact = transitions.checked(fact, now=self.time.now)
            self.cluster.observe(fact)
            told = fact.conditions["Admitted"]
        self._start(fact, max(0.0, self.time.now - told.changed))

    def _start(self, fact: WorkloadFact, ran_s: float) -> None:
        self._number += 1
        self._runs[fact.key] = self._number
        takes_s = self.lives.runs_s(fact, ran_s)
        most_s = seconds_of(fact)
        if most_s is not None:
            takes_s = float(most_s) if takes_s is None else min(takes_s, most_s)
        if takes_s is not None:
            left_s = max(0.0, takes_s - ran_s)
            ends = self.time.now + left_s
            self._plan(ends, partial(self._end, fact.key, self._number))

    def _end(self, key: Key, number: int, now: float) -> None:
        if self._runs.get(key) != number or key in self._leaving:
            return
        del self._runs[key]
        fact = self.cluster.workloads[key]
        self.watcher.ended(fact, now)
        done = Condition(type="Finished", status=True, reason="Succeeded", changed=now)
        self.cluster.observe(replace(fact, conditions={**fact.conditions, "Finished": done}))
        self.cluster.observe(Gone(Kind.WORKLOAD, key))

    def _ring(self, _now: float) -> None:
        """Let time come to this moment, at which the engine asked to be asked again."""
        self._alarms += 1

    def _evict_told(self, _now: float) -> None:
        """Evict whom deactivation or a stopped queue tells to leave."""
        for fact in self.cluster.evict_told(self.time.now):
            self._leave(fact)

    def _leave(self, fact: WorkloadFact) -> None:
        self._leaving.add(fact.key)
        self.watcher.evicted(fact, self.time.now)
        gone = self.time.now + self.lives.leaves_s(fact)
        self._plan(gone, partial(self._left, fact.key))

    def _left(self, key: Key, now: float) -> None:
        self._leaving.discard(key)
        self._runs.pop(key, None)
        fact = transitions.drained(self.cluster.workloads[key], now=now)
        self.watcher.left(fact, now)
        self.cluster.observe(fact)
