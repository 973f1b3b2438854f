"""Scenario (e): the engine alone, in virtual time, until everything that was pending has run."""

import gc
import resource
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from bench.results import Result, percentile
from queueing.controller.process.garbage_collection import postponed
from queueing.core.decisions import Admit, Cycle, Outcome, Place, Preempt, Strand, Verdict, Wait
from queueing.core.facts import Condition, Fact, WorkloadFact
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.sim import transitions
from queueing.sim.virtual_time import VirtualTime
from queueing.state.engine import Engine
from queueing.testing.worlds import Deep

ROUND = 1_000
"""Heads per call: one full round over 1,000 queues."""
COHORTS_OF = 100
"""Queues per cohort: 1,000 queues in 10 cohorts."""
RUNTIMES_S = ((1_000, 0.2), (5_000, 0.5), (20_000, 1.0))
"""Up to so many milli-cpus, a workload runs for so long."""
AIMS = MappingProxyType(
    {
        "decisions per CPU second": "at least 10,000",
        "round over 1,000 heads, p99 CPU ms": "under 100",
    }
)
PORTIONED_AIMS = MappingProxyType(
    dict.fromkeys(
        (
            "longest call, CPU ms",
            "longest stretch, CPU ms",
            "after a release: longest stretch, CPU ms",
        ),
        "under 100",
    )
)
"""What is aimed at where the loop is let go between calls, as in the controller."""


@dataclass(slots=True)
class Stopwatch:
    """Adds up time spent in blocks, of the wall and of the CPU: on a busy machine they differ."""

    wall_s: float = 0.0
    cpu_s: float = 0.0

    @contextmanager
    def running(self) -> Generator[None]:
        wall, cpu = time.perf_counter(), time.thread_time()
        yield
        self.wall_s += time.perf_counter() - wall
        self.cpu_s += time.thread_time() - cpu


@dataclass(slots=True)
class Counts:
    """What happened, and how long the engine took for it."""

    kinds: Counter[str] = field(default_factory=Counter)
    judged: set[Key] = field(default_factory=set)
    cycles_s: list[float] = field(default_factory=list)
    cycles_cpu_s: list[float] = field(default_factory=list)
    full_rounds_s: list[float] = field(default_factory=list)
    """Of the calls that judged as many heads as they may, in CPU seconds."""
    engine: Stopwatch = field(default_factory=Stopwatch)
    admissions: list[float] = field(default_factory=list)

    @property
    def decisions(self) -> int:
        """Admissions, preemptions, and first judgements of those that were not admitted."""
        return self.kinds["Admit"] + self.kinds["Preempt"] + len(self.judged)


class Run:
    """The engine, the workloads, and the clock that only jumps."""

    def __init__(self, settings: Settings, portion: int = ROUND) -> None:
        self.engine = Engine(settings)
        self.portion = portion
        self.time = VirtualTime()
        self.counts = Counts()
        self.workloads: dict[Key, WorkloadFact] = {}
        self.ended: list[WorkloadFact] = []

    def observe(self, facts: Iterable[Fact]) -> None:
        known = list(facts)
        self.workloads |= {fact.key: fact for fact in known if isinstance(fact, WorkloadFact)}
        with self.counts.engine.running():
            for fact in known:
                self.engine.observe(fact)

    def to_the_end(self) -> None:
        """Decide, let what was admitted run, and so on until nothing happens any more."""
        for _ in self.steps():
            pass

    def steps(self) -> Iterator[float]:
        """Do the same bit by bit; yield the virtual time after each of them."""
        self._decide()
        yield self.time.now
        while self.time.step():
            self._decide()
            yield self.time.now

    def _decide(self) -> None:
        self._report_ends()
        finished = False
        while not finished:
            call = Stopwatch()
            with self.counts.engine.running(), call.running():
                cycle = self.engine.cycle(self.time.now, self.portion)
            self.counts.cycles_s.append(call.wall_s)
            self.counts.cycles_cpu_s.append(call.cpu_s)
            if cycle.judged >= ROUND:
                self.counts.full_rounds_s.append(call.cpu_s * ROUND / cycle.judged)
            self._carry_out(cycle)
            finished = cycle.finished

    def _carry_out(self, cycle: Cycle) -> None:
        outcomes, echoes = [], []
        for decision in cycle.decisions:
            if isinstance(decision, Place | Strand):
                continue  # no load places pods
            if isinstance(decision, Wait):
                if decision.mode is not None:
                    self.counts.judged.add(decision.workload)
                continue
            self.counts.kinds[type(decision).__name__] += 1
            outcomes.append(Outcome(decision=decision, verdict=Verdict.DONE))
            echo = self._admit(decision) if isinstance(decision, Admit) else self._evict(decision)
            echoes += [] if echo is None else [echo]
        with self.counts.engine.running():
            for outcome in outcomes:
                self.engine.settle(outcome)
        self.observe(echoes)

    def _admit(self, decision: Admit) -> WorkloadFact:
        now = self.time.now
        fact = transitions.admitted(self.workloads[decision.workload], decision, now=now)
        self.counts.admissions.append(now)
        self.time.after(_runtime_s(decision), lambda when: self._end(fact, when))
        return fact

    def _end(self, fact: WorkloadFact, now: float) -> None:
        """Finish a workload, unless it was preempted meanwhile."""
        current = self.workloads[fact.key]
        if current is fact:
            done = Condition(type="Finished", status=True, reason="Succeeded", changed=now)
            self.ended.append(replace(fact, conditions={**fact.conditions, "Finished": done}))

    def _evict(self, decision: Preempt) -> WorkloadFact | None:
        fact = self.workloads[decision.workload]
        if fact.evicted:
            return None
        victim = transitions.preempted(fact, decision, now=self.time.now)
        self.workloads[victim.key] = victim
        drained = transitions.drained
        self.time.after(0.0, lambda when: self.ended.append(drained(victim, now=when)))
        return victim

    def _report_ends(self) -> None:
        """Tell the engine of all that ended at this time."""
        self.observe(self.ended)
        self.ended = []


def _runtime_s(decision: Admit) -> float:
    asked = sum(amount for one in decision.pod_sets for amount in one.usage.values())
    return next((seconds for most, seconds in RUNTIMES_S if asked <= most), RUNTIMES_S[-1][1])


def run(world: Deep, settings: Settings, *, name: str, portion: int = ROUND) -> Result:
    """Run a world to its end, in calls that judge so many heads, and return what it took."""
    gc.unfreeze()
    gc.collect()  # what an earlier run left behind is not this one's to keep in memory
    this = Run(settings, portion)
    with postponed():  # as the controller does while it lists
        this.observe(world.objects())
        this.observe(world.workloads())
    loading, this.counts.engine = this.counts.engine, Stopwatch()
    this.to_the_end()
    counts = this.counts
    left = sum(not one.finished for one in this.workloads.values())
    return Result(
        scenario=name,
        numbers={
            "pending at the start": len(this.workloads),
            "queues": world.queues,
            "shapes": world.shapes,
            "left unfinished": left,
            "decisions": counts.decisions,
            "engine, seconds": counts.engine.wall_s,
            "engine, CPU seconds": counts.engine.cpu_s,
            "decisions per second": counts.decisions / counts.engine.wall_s,
            "decisions per CPU second": counts.decisions / counts.engine.cpu_s,
            "loading, CPU seconds": loading.cpu_s,
            "round over 1,000 heads, p99 CPU ms": percentile(counts.full_rounds_s, 0.99) * 1e3,
            "heads per call": portion,
            "longest call, CPU ms": max(counts.cycles_cpu_s) * 1e3,
            "longest call, ms": max(counts.cycles_s) * 1e3,
            "virtual seconds": this.time.now,
            "peak memory, MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        },
        aims=dict(AIMS if portion == ROUND else PORTIONED_AIMS),
    )
