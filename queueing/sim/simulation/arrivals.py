"""The workloads that come in a simulation, and how long each of them runs."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from queueing.core.facts import PodSet, WorkloadFact
from queueing.core.names import Key, PodSetName, ResourceName, Uid, name_of
from queueing.core.topology.requests import Placeable, in_order
from queueing.sim.simulation.durations import Length, fixed


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One workload that comes."""

    at: float
    fact: WorkloadFact
    """As it is created, at that time."""
    runs_s: float | None
    """How long it runs once it is admitted; None for without end."""
    name: str
    """Its class, by which results are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a workload that is made up asks for."""

    queue: Key
    """Its LocalQueue."""
    requests: Mapping[ResourceName, int]
    """What one pod asks for."""
    pods: int = 1
    priority: int = 0
    max_execution_s: int | None = None
    user: str = ""


def made_up(key: Key, created: float, asked: Asked) -> WorkloadFact:
    """Return a pending workload of one pod set."""
    shape = repr(sorted(asked.requests.items()))
    pod_set = PodSet(
        name=PodSetName("main"),
        count=asked.pods,
        requests=asked.requests,
        shape=shape,
        placeable=Placeable(requests=in_order(asked.requests, pods=1)),
    )
    return WorkloadFact(
        key=key,
        uid=Uid(key),
        local_queue=asked.queue,
        pod_sets=(pod_set,),
        created=created,
        priority=asked.priority,
        max_execution_s=asked.max_execution_s,
        user=asked.user,
    )


def again(like: WorkloadFact, key: Key, at: float) -> WorkloadFact:
    """Return a new workload that asks for the same as one to which something happened already.

    What was decided and what became of it is not its own. Who had variants is one by itself.
    """
    return replace(
        like,
        key=key,
        uid=Uid(key),
        created=at,
        active=True,
        admission=None,
        conditions={},
        checks=(),
        preemption_gated=False,
        reclaimable={},
        given={},
        requeue_count=0,
        requeue_at=None,
        past_execution_s=0,
        deleting=False,
        stake=None if like.stake is None else replace(like.stake, started=None, saved_at=None),
        slice_of="",
        unhealthy=(),
        has_variants=False,
    )


@dataclass(slots=True)
class KnownLives:
    """How long workloads run, by key; those that are not known run as long as `others` says."""

    chance: random.Random
    others: Length = field(default_factory=lambda: fixed(3600.0))
    leaving: Length = field(default_factory=lambda: fixed(30.0))
    known: dict[Key, float | None] = field(default_factory=dict)

    def runs_s(self, fact: WorkloadFact, ran_s: float) -> float | None:
        """Return how long a workload runs in all: the same in each of its runs."""
        if fact.key not in self.known:
            drawn = self.others.draw(self.chance)
            self.known[fact.key] = drawn if self.others.is_fixed else max(drawn, ran_s)
        return self.known[fact.key]

    def leaves_s(self, fact: WorkloadFact) -> float:
        """Return how long the pods of an evicted workload take to end."""
        del fact
        return self.leaving.draw(self.chance)


def name_of_class(fact: WorkloadFact) -> str:
    """Return a class for a workload that nobody gave one: its LocalQueue."""
    return name_of(fact.local_queue) if fact.local_queue else "(no queue)"


def in_time(arrivals: Iterable[Arrival]) -> list[Arrival]:
    """Return arrivals by time; those of one time in the order given."""
    return sorted(arrivals, key=lambda one: one.at)
