"""Watches what is stored, and counts what became of everybody; checks that quota is kept."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from bench.virtual.holdings import Holdings
from bench.virtual.loads import Load, Stream
from queueing.core.decisions import Admit, Preempt
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, ResourceName
from queueing.sim.virtual_time import VirtualTime


class Standing(Enum):
    """Whether a workload holds quota, waits for it, or neither."""

    OUT = (0, 0)
    WAITS = (0, 1)
    HOLDS = (1, 0)


def standing(fact: WorkloadFact | None) -> Standing:
    """Return how a workload stands by its status; one that is not there yet is out."""
    if fact is None or fact.finished:
        return Standing.OUT
    if fact.holds_quota:
        return Standing.HOLDS
    requeued = fact.conditions.get("Requeued")
    return Standing.WAITS if requeued is None or requeued.status else Standing.OUT


@dataclass(slots=True)
class Past:
    """What has happened to one workload; times are None until they come."""

    stream: Stream
    cpu: int
    created: float
    first_admitted: float | None = None
    admitted: float | None = None
    """When its last run was admitted."""
    ended: float | None = None
    evictions: int = 0
    pending_since: float = float("inf")
    """Since when the engine has known it as waiting."""
    decided_at: float = float("-inf")
    """When the cycle began that decided its last admission."""
    assumed: Standing = Standing.OUT
    """How it stands in the eyes of the controller, with decisions that are not written yet."""
    being_admitted: bool = False
    """Whether its admission is decided and the outcome not known yet."""


@dataclass(slots=True)
class Tally:
    """Counts over a run. `left` is how many of those that can end have not."""

    load: Load
    time: VirtualTime
    streams: Mapping[Key, Stream]
    stored: Holdings = field(init=False)
    """By what the API server stores."""
    assumed: Holdings = field(init=False)
    """By what the controller knows and has decided: what is idle here is left idle by decision."""
    pasts: dict[Key, Past] = field(default_factory=dict)
    left: int = 0
    evictions: int = 0
    avoidable: int = 0
    """Evictions of whom was admitted while the engine knew that its preemptor waited."""
    lost_s: float = 0.0
    """Run time of those that were then evicted."""
    by_class: Counter[str] = field(default_factory=Counter)
    """Evictions by the class of the victim."""

    def __post_init__(self) -> None:
        self.stored, self.assumed = Holdings(self.load), Holdings(self.load)
        self.left = sum(
            self.stored.fits_ever(one.queue, one.cores(number))
            for one in self.load.streams
            for number in range(one.count)
        )

    @property
    def excess(self) -> int:
        """Most cores that were held, or decided to be held, beyond what there is."""
        return max(self.stored.excess, self.assumed.excess)

    # What the store tells.

    def witness(self, before: WorkloadFact | None, after: WorkloadFact) -> None:
        """Take in that a workload was written."""
        now, key = self.time.now, after.key
        if before is None:
            self.pasts[key] = Past(self.streams[key], _cores(after), now)
        past, was, stands = self.pasts[key], standing(before), standing(after)
        self.stored.move(past.stream.queue, past.cpu, was.value, stands.value, now)
        if stands is Standing.HOLDS and was is not Standing.HOLDS:
            past.admitted = now
            past.first_admitted = now if past.first_admitted is None else past.first_admitted
        if after.finished and past.ended is None:
            past.ended = now
            self.left -= 1

    # What the controller tells.

    def told(self, fact: WorkloadFact) -> None:
        """Take in that the engine was told a workload."""
        past, stands = self.pasts[fact.key], standing(fact)
        if stands is not Standing.WAITS:
            past.pending_since = float("inf")
        elif past.assumed is not Standing.WAITS:
            past.pending_since = self.time.now
        if not past.being_admitted:
            self._assume(past, stands)

    def decided(self, decision: Admit | Preempt, began: float) -> None:
        """Take in that a cycle, begun at a time, decided something that will be written."""
        if isinstance(decision, Admit):
            past = self.pasts[decision.workload]
            past.decided_at, past.being_admitted = began, True
            self._assume(past, Standing.HOLDS)

    def settled(self, fact: WorkloadFact) -> None:
        """Take in that the outcome of a decision is known, and how its workload is now."""
        self.pasts[fact.key].being_admitted = False
        self.told(fact)

    def begin_term(self) -> None:
        """Take in that a new leader knows of no decision that is not stored."""
        for past in self.pasts.values():
            past.being_admitted = False

    def _assume(self, past: Past, stands: Standing) -> None:
        was, past.assumed = past.assumed, stands
        now = self.time.now
        self.assumed.move(past.stream.queue, past.cpu, was.value, stands.value, now)

    def evicts(self, decision: Preempt) -> None:
        """Take in that an eviction is being stored now."""
        victim, preemptor = self.pasts[decision.workload], self.pasts[decision.preemptor]
        victim.evictions += 1
        self.evictions += 1
        self.by_class[victim.stream.name] += 1
        self.avoidable += preemptor.pending_since <= victim.decided_at
        ran_s = self.time.now - (self.time.now if victim.admitted is None else victim.admitted)
        self.lost_s += min(ran_s, victim.stream.runs_s)


def _cores(fact: WorkloadFact) -> int:
    milli = sum(one.count * one.requests[ResourceName("cpu")] for one in fact.pod_sets)
    return milli // 1_000
