"""Runs the engine as the product's controller does: paces cycles, writes decisions, settles them.

Pace and room are those of the controller's own loop (`queueing.controller.decisions.cycles`) and
writer. A cycle is a job on the cores like any write; while it runs, facts and outcomes wait, as
they do while the event loop is held.
"""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import partial

from bench.virtual.reasons import Reasons
from bench.virtual.slots import Slots
from bench.virtual.store import Store, Write
from bench.virtual.tally import Tally
from bench.virtual.trial import Trial
from queueing.controller.decisions.cycles import BUDGET, GATHER_S, PATIENCE_S
from queueing.controller.decisions.late_evictions import EVICTED_AFTER_S
from queueing.core.decisions import Admit, Cycle, Outcome, Place, Preempt, Strand, Verdict, Wait
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.kube.writer import decisions_at_once
from queueing.sim import transitions
from queueing.state.engine import Engine


@dataclass(slots=True)
class Effort:
    """What the engine did and took over a run, through all its lives."""

    cycles: int = 0
    judged: int = 0
    refused: int = 0
    """Decisions whose write was refused, because the workload had changed."""
    cpu_s: float = 0.0
    """Real CPU seconds in the engine."""
    longest_s: float = 0.0
    """Real CPU seconds of the longest cycle."""

    @contextmanager
    def measured(self) -> Generator[None]:
        """Add the CPU time of a block."""
        began = time.thread_time()
        yield
        self.cpu_s += time.thread_time() - began


class Phase(Enum):
    """What the loop does."""

    ASLEEP = "asleep"
    GATHERING = "gathering"
    """A cycle comes in a moment."""
    DECIDING = "deciding"
    """A cycle is running."""


@dataclass(slots=True)
class Controller:
    """One term of leadership: an engine, what it was told, and its writes in flight."""

    engine: Engine
    store: Store
    tally: Tally
    effort: Effort
    trial: Trial
    evicts_late: bool
    """Whether victims are evicted a moment after they were chosen, if that is still needed."""
    _slots: Slots = field(default_factory=Slots)
    _known: dict[Key, tuple[WorkloadFact, int]] = field(default_factory=dict)
    """Workloads as last seen, with their versions."""
    _phase: Phase = Phase.ASLEEP
    _wanted: bool = False
    _inbox: list[Callable[[], None]] = field(default_factory=list)
    _alarm: int = 0
    """Which of the planned wakes holds."""
    _lacks_room: bool = False
    _decided_at: float = float("-inf")
    _successor: Callable[[], None] | None = None
    """Begins the next term; None as long as this one lasts."""
    _reasons: Reasons = field(init=False)

    def __post_init__(self) -> None:
        self._reasons = Reasons(self.store, self._slots, self._known, self.watch)

    def watch(self, fact: WorkloadFact, version: int) -> None:
        """Take in a workload from a list, a watch event or the reply to a write."""
        self._take(partial(self._observe, fact, version))

    def retire(self, successor: Callable[[], None]) -> None:
        """Decide nothing more, and begin the next term when all writes in flight have ended."""
        self._successor = successor
        self._slots.clear()
        self._end_if_idle()

    def _take(self, act: Callable[[], None]) -> None:
        """Do something now, or when the event loop is free again."""
        if self._phase is Phase.DECIDING:
            self._inbox.append(act)
        else:
            act()

    def _observe(self, fact: WorkloadFact, version: int) -> None:
        _, known = self._known.get(fact.key, (None, 0))
        if version <= known or self._successor is not None:
            return
        self._known[fact.key] = (fact, version)
        self.tally.told(fact)
        with self.effort.measured():
            self.engine.observe(fact)
        self._wake()

    # The loop.

    def _wake(self) -> None:
        """Ask for a cycle."""
        self._wanted = True
        if self._phase is Phase.ASLEEP and self._successor is None:
            self._phase = Phase.GATHERING
            self.store.time.after(GATHER_S, self._begin_cycle)

    def _sleep(self, until: float | None) -> None:
        self._phase = Phase.ASLEEP
        self._alarm += 1
        if self._wanted:
            self._wake()
        elif until is not None:
            self.store.time.at(until, partial(self._ring, self._alarm))

    def _ring(self, alarm: int, _now: float) -> None:
        if alarm == self._alarm:
            self._wake()

    def _begin_cycle(self, now: float) -> None:
        self._wanted = False
        self._decide(now)

    def _decide(self, now: float) -> None:
        heads = self._allowed(now)
        if not heads or self._successor is not None:
            self._sleep(now + PATIENCE_S)
            return
        self._phase, self._decided_at = Phase.DECIDING, now
        spent = self.effort.cpu_s
        with self.effort.measured():
            cycle = self.engine.cycle(now, heads)
        self.effort.longest_s = max(self.effort.longest_s, self.effort.cpu_s - spent)
        self.effort.cycles += 1
        self.effort.judged += cycle.judged
        self.store.cores.run(self.trial.cost(cycle), partial(self._end_cycle, cycle))

    def _end_cycle(self, cycle: Cycle) -> None:
        self._phase = Phase.GATHERING
        if self._successor is None:
            self._slots.most = decisions_at_once(self.engine.queues_to_judge)
            self._carry_out(cycle)
        inbox, self._inbox = self._inbox, []
        for act in inbox:
            act()
        if self._successor is not None:
            self._end_if_idle()
        elif cycle.finished:
            self._sleep(cycle.wake_at)
        else:
            self._decide(self.store.time.now)

    def _allowed(self, now: float) -> int:
        """Return how many heads may be judged now."""
        room = self._slots.room
        self._lacks_room = not room
        return min(BUDGET, room) if room else int(now - self._decided_at >= PATIENCE_S)

    # The writes.

    def _carry_out(self, cycle: Cycle) -> None:
        for decision in cycle.decisions:
            match decision:
                case Wait():
                    self._reasons.note(decision)
                case Preempt(already_evicted=True) | Place() | Strand():  # no load places pods
                    pass
                case Preempt() if self.evicts_late:
                    self.store.time.after(EVICTED_AFTER_S, partial(self._evict_late, decision))
                case _:
                    self._reasons.forget(decision.workload)
                    self.tally.decided(decision, self._decided_at)
                    self._slots.submit(decision.workload, partial(self._write, decision))

    def _evict_late(self, decision: Preempt, _now: float) -> None:
        """Write an eviction when its time has come, if anybody still needs it."""
        self._take(partial(self._evict_if_needed, decision))

    def _evict_if_needed(self, decision: Preempt) -> None:
        if self._successor is not None:
            return
        if self.engine.stands_by(decision):
            self._slots.submit(decision.workload, partial(self._write, decision))
            return
        with self.effort.measured():
            self.engine.settle(Outcome(decision=decision, verdict=Verdict.WITHDRAWN))
        self._wake()

    def _write(self, decision: Admit | Preempt) -> None:
        fact, version = self._known[decision.workload]
        kind = Write.ADMISSION if isinstance(decision, Admit) else Write.EVICTION
        self.store.write(kind, partial(self._end_write, decision, fact, version))

    def _end_write(self, decision: Admit | Preempt, seen: WorkloadFact, version: int) -> None:
        """Store a decision; one on an older version is refused, as by any API server."""
        key, verdict, now = decision.workload, Verdict.DONE, self.store.stamp()
        if self.store.versions[key] != version:
            verdict = Verdict.REFUSED
        elif isinstance(decision, Admit):
            self.store.put(transitions.admitted(seen, decision, now=now))
        else:
            self.tally.evicts(decision)
            self.store.put(transitions.preempted(seen, decision, now=now))
        reply = self.store.workloads[key], self.store.versions[key]
        self._take(partial(self._settle, decision, verdict, *reply))

    def _settle(
        self, decision: Admit | Preempt, verdict: Verdict, reply: WorkloadFact, version: int
    ) -> None:
        self._observe(reply, version)
        if self._successor is None:
            with self.effort.measured():
                self.engine.settle(Outcome(decision=decision, verdict=verdict))
        self.tally.settled(self._known[decision.workload][0])
        if verdict is Verdict.REFUSED:
            self.effort.refused += 1
            self._wake()
        self._slots.end(decision.workload)
        if self._successor is not None:
            self._end_if_idle()
        elif self._lacks_room and self._slots.room:
            self._wake()

    def _end_if_idle(self) -> None:
        if not self._slots.flying and self._phase is not Phase.DECIDING:
            successor, self._successor = self._successor, _nobody
            (successor or _nobody)()


def _nobody() -> None:
    """Follow a term that has ended already."""
