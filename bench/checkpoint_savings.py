"""What requests to save are worth: the same days of training and urgent work, with and without.

`python -m bench.checkpoint_savings` prints GPU-hours that were held for work that was then lost:
for preempted workloads that are stopped at once, at once with a checkpoint of their own each hour,
and after they were asked. The engine and the life of a request are the product's; pods are made
up: they answer after 2 s, save for 20 to 120 s, need a minute to start, and one in fifty hangs.
"""

import random
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from queueing.checkpoints.rules.phases import Phase, RequestEvent
from queueing.checkpoints.rules.record import Record, SaveRequest, StopCause
from queueing.checkpoints.rules.step import Happening, look_again_at, settle, step
from queueing.checkpoints.rules.terms import Driver, Terms
from queueing.core.facts import PreemptionPolicy, WorkloadFact
from queueing.core.names import Key
from queueing.sim.virtual_time import VirtualTime
from queueing.testing import builders
from queueing.testing.obedient import ObedientCluster

GPU = "nvidia.com/gpu"
HOUR_S = 3600.0
START_S = 60.0
"""A run needs so long until it does anything."""
END_S = 5.0
"""Pods that are told to end take so long."""
ANSWER_S = 2.0
SAVE_S = (20.0, 120.0)
HANGS = 0.02
TERMS = Terms(driver=Driver.ANNOTATION)
QUEUES = 6
QUOTA = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How preempted workloads are treated, and whether they make checkpoints by themselves."""

    name: str
    asks: bool = False
    own_every_s: float | None = None


MANNERS = (
    Manner(name="stopped at once"),
    Manner(name="stopped at once, own checkpoint each hour", own_every_s=HOUR_S),
    Manner(name="asked to save", asks=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a manner came to; GPU-hours."""

    manner: str
    useful: float
    lost: float
    preemptions: int
    wait_s: float
    """Mean time that urgent work waited."""


@dataclass(slots=True)
class Work:
    """A workload's progress."""

    fact: WorkloadFact
    gpus: int
    length_s: float
    arrived: float
    done_s: float = 0.0
    began: float | None = None
    record: Record | None = None
    held: float = 0.0
    first_began: float | None = None
    run: int = 0


@dataclass(slots=True)
class World:
    """The days, as one manner lives them."""

    manner: Manner
    draw: random.Random
    time: VirtualTime = field(default_factory=VirtualTime)
    works: dict[Key, Work] = field(default_factory=dict)
    cluster: ObedientCluster = field(default_factory=ObedientCluster)

    def settle(self) -> None:
        """Let the engine decide until nothing more happens now."""
        self.cluster.now = self.time.now
        while self.cluster.cycle().decisions:
            for key, work in self.works.items():
                fact = self.cluster.workloads[key]
                if fact.holds_quota and work.began is None and not fact.finished:
                    self._begin(work)
            moved = [key for key in self.cluster.draining() if self.works[key].record is None]
            for key in moved:
                self._stop(self.works[key])
            if not moved and self.cluster.engine.cycle(self.time.now).decisions == ():
                return

    def _begin(self, work: Work) -> None:
        work.began = self.time.now
        work.first_began = work.first_began if work.first_began is not None else work.began
        work.run += 1
        left, run = START_S + work.length_s - work.done_s, work.run
        self.time.after(left, lambda _: self._end(work, run))

    def _end(self, work: Work, run: int) -> None:
        if work.run != run or work.began is None:
            return
        work.held += self.time.now - work.began
        work.done_s, work.began = work.length_s, None
        if work.record is not None and (moved := self._step(work.record, RequestEvent.ENDED)):
            work.record = moved
        self.cluster.now = self.time.now
        self.cluster.finish(work.fact.key)

    def _stop(self, work: Work) -> None:
        """Begin to stop a victim: at once, or after it was asked."""
        cause = StopCause("Preempted", "p")
        request = SaveRequest.made("r", work.run, cause, terms=TERMS, now=self.time.now)
        work.record = Record(request=request)
        if not self.manner.asks:
            self._leave(work, self._kept_by_itself(work))
            return
        work.record = self._step(work.record, RequestEvent.NOTICE_DELIVERED) or work.record
        run, hangs = work.run, self.draw.random() < HANGS
        save_s = self.draw.uniform(*SAVE_S)
        if not hangs:
            self.time.after(ANSWER_S, lambda _: self._hear(work, run, RequestEvent.ACCEPTED))
            beats = int(save_s // TERMS.heartbeat_s)
            for beat in range(beats):
                at = ANSWER_S + (beat + 1) * TERMS.heartbeat_s
                self.time.after(at, lambda _: self._hear(work, run, RequestEvent.HEARD))
            self.time.after(ANSWER_S + save_s, lambda _: self._hear(work, run, RequestEvent.SAVED))
        self._watch(work, run)

    def _hear(self, work: Work, run: int, event: RequestEvent) -> None:
        record = work.record
        if record is None or work.run != run or work.began is None:
            return
        moved = self._step(record, event)
        if moved is not None:
            work.record = moved
        self._look(work, run)

    def _watch(self, work: Work, run: int) -> None:
        at = look_again_at(work.record) if work.record is not None else None
        if at is not None:
            self.time.at(at, lambda _: self._look(work, run))

    def _look(self, work: Work, run: int) -> None:
        record = work.record
        if record is None or work.run != run or record.phase is Phase.SUSPENDING:
            return
        work.record = settle(record, self.time.now)
        if work.record.phase is Phase.SUSPENDING:
            saved = work.record.saved is not None
            done = self._worked(work) if saved else self._kept_by_itself(work)
            self._leave(work, done)
        else:
            self._watch(work, run)

    def _step(self, record: Record, event: RequestEvent) -> Record | None:
        return step(record, Happening(event=event, asked=("a",)), self.time.now)

    def _leave(self, work: Work, kept_s: float) -> None:
        run = work.run
        self.time.after(END_S, lambda _: self._drained(work, run, kept_s))

    def _drained(self, work: Work, run: int, kept_s: float) -> None:
        if work.run != run or work.began is None:
            return
        work.held += self.time.now - work.began
        work.done_s, work.began, work.record = kept_s, None, None
        work.run += 1
        self.cluster.now = self.time.now
        self.cluster.drain(work.fact.key)

    def _worked(self, work: Work) -> float:
        """Return the work done by now, that of earlier runs which was kept included."""
        began = work.began if work.began is not None else self.time.now
        return work.done_s + max(self.time.now - began - START_S, 0.0)

    def _kept_by_itself(self, work: Work) -> float:
        every = self.manner.own_every_s
        if every is None:
            return work.done_s
        return max(work.done_s, self._worked(work) // every * every)


def trace(days: float, seed: int) -> Iterable[tuple[float, str, int, float, bool]]:
    """Return arrivals: when, in which queue, GPUs, length in seconds, whether it is urgent."""
    draw = random.Random(seed)
    found = []
    for queue in range(QUEUES):
        at = 0.0
        while (at := at + draw.expovariate(1 / (1.8 * HOUR_S))) < days * 24 * HOUR_S:
            length = draw.uniform(1.0, 8.0) * HOUR_S
            found.append((at, f"q{queue}", draw.choice((2, 4, 8)), length, False))
        at = 0.0
        while (at := at + draw.expovariate(1 / (2.5 * HOUR_S))) < days * 24 * HOUR_S:
            length = draw.uniform(0.25, 1.0) * HOUR_S
            found.append((at, f"q{queue}", 8, length, True))
    return sorted(found)


def live(manner: Manner, days: float, seed: int) -> Result:
    """Live through the trace in one manner, until all of it is done."""
    world = World(manner=manner, draw=random.Random(seed))
    policy = builders.preemption(
        within=PreemptionPolicy.LOWER_PRIORITY, reclaim=PreemptionPolicy.ANY
    )
    world.cluster.observe(builders.namespace())
    world.cluster.observe(builders.flavor())
    for name in (f"q{number}" for number in range(QUEUES)):
        quotas = {"default": {GPU: QUOTA}}
        world.cluster.observe(builders.cluster_queue(name, quotas, cohort="all", preemption=policy))
        world.cluster.observe(builders.local_queue(f"team/{name}", name))
    for number, (at, queue, gpus, length_s, urgent) in enumerate(trace(days, seed)):
        fact = builders.workload(
            f"w{number}",
            {GPU: gpus},
            local_queue=f"team/{queue}",
            priority=100 if urgent else 0,
            created=at,
        )
        work = Work(fact=fact, gpus=gpus, length_s=length_s, arrived=at)
        world.time.at(at, lambda _, one=work: _arrive(world, one))  # type: ignore[misc] # bound now
    while world.time.step():
        world.settle()
    return _result(world)


def _arrive(world: World, work: Work) -> None:
    world.works[work.fact.key] = work
    world.cluster.observe(work.fact)


def _result(world: World) -> Result:
    works = list(world.works.values())
    unfinished = [one.fact.key for one in works if one.done_s < one.length_s]
    if unfinished:
        raise AssertionError(f"never done: {unfinished[:5]}")
    useful = sum(one.gpus * one.length_s for one in works) / HOUR_S
    held = sum(one.gpus * one.held for one in works) / HOUR_S
    urgent = [one for one in works if one.fact.priority > 0]
    waits = [one.first_began - one.arrived for one in urgent if one.first_began is not None]
    starts = sum(one.gpus for one in works) * START_S / HOUR_S  # each must start once in any case
    return Result(
        manner=world.manner.name,
        useful=useful,
        lost=held - useful - starts,
        preemptions=len(world.cluster.preemptions),
        wait_s=sum(waits) / len(waits),
    )


def main(arguments: list[str]) -> int:
    """Print a table; the argument is the number of days."""
    days = float(arguments[0]) if arguments else 7.0
    sys.stdout.write(f"{'':44}{'GPU-h useful':>14}{'lost':>9}{'preempted':>11}{'wait s':>8}\n")
    for manner in MANNERS:
        one = live(manner, days, seed=1)
        sys.stdout.write(
            f"{one.manner:44}{one.useful:14.0f}{one.lost:9.1f}{one.preemptions:11}{one.wait_s:8.0f}\n"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
