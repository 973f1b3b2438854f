"""`credits`: tenants that come in bursts, with and without credits, on the real engine.

In virtual time, with gangs that start whole or not at all. What a tenant asked for and did not get
within a slot is lost, or waits.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from bench.bursts import (
    DUTIES,
    FAIR_PART,
    HALF_LIFE_SLOTS,
    HOARDER,
    HORIZON_SLOTS,
    OWN,
    Tenant,
    asks,
    tenants,
)
from queueing.core.credits.facts import BOUNDS, MICRO, CreditMode, CreditPolicyFact
from queueing.core.credits.prices import Prices
from queueing.core.decisions import Preempt, Wait
from queueing.core.facts import Condition, Fact, Gone, Kind, PreemptionPolicy, WorkloadFact
from queueing.core.names import Key, ResourceName
from queueing.core.settings import Compatibility, FairSharing, Settings
from queueing.core.usage import held_usage
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    flavor,
    local_queue,
    namespace,
    preemption,
    workload,
)

SLOT_S = 1080
"""Twenty of them are six hours, the default horizon."""
GANGS = (1, 1, 2, 4)
LOST_LOAD, WAITING_LOAD = 1.2, 0.85
START = 1_700_000_400.0
ROUNDS_MAX = 200
RECLAIM = preemption(reclaim=PreemptionPolicy.ANY)
SETTINGS = Settings(
    compatibility=Compatibility.KUEUE,
    fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare", "LessThanInitialShare")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What is simulated."""

    mode: CreditMode
    slots: int
    seed: int = 1
    waits: bool = False
    """What was not served within a slot waits, and is not lost."""
    at_random: bool = False
    """Bursts, and the pauses between them, are of random length."""
    hoards: bool = False
    """One tenant always asks for four times its part."""
    lasts: Sequence[int] = (1,)
    """Slots that jobs run for, drawn from these."""
    minimum_runtime_s: int = 0


@dataclass(slots=True)
class Jobs:
    """What was asked of the engine and not yet given up or done."""

    chance: random.Random
    lasts: Sequence[int]
    asked_at: dict[Key, int] = field(default_factory=dict)
    lasting: dict[Key, int] = field(default_factory=dict)
    """Slots that each runs for."""
    until: dict[Key, int] = field(default_factory=dict)
    """The slot in which each that runs has ended."""

    def cut(self, owner: int, cores: int, slot: int) -> Iterator[WorkloadFact]:
        """Cut a demand into gangs."""
        number = 0
        while cores > 0:
            size = min(cores, self.chance.choice(GANGS))
            fact = workload(
                f"t{owner}-{slot}-{number}",
                {"cpu": 1000},
                size,
                local_queue=f"team/t{owner}",
                created=START + slot * SLOT_S + number / 1000,
            )
            self.asked_at[fact.key] = slot
            self.lasting[fact.key] = self.chance.choice(self.lasts)
            yield fact
            cores, number = cores - size, number + 1

    def forget(self, key: Key) -> None:
        for known in (self.asked_at, self.lasting, self.until):
            known.pop(key, None)


def load_of(story: Story) -> float:
    """Return the demand as a part of the capacity."""
    return WAITING_LOAD if story.waits else LOST_LOAD


def drawn(story: Story) -> list[Tenant]:
    """Return the tenants of a story before it begins."""
    return tenants(story.slots, load=load_of(story), seed=story.seed, at_random=story.at_random)


def simulate(story: Story) -> list[Tenant]:
    """Run a story on the engine; return its tenants."""
    known = drawn(story)
    jobs = Jobs(random.Random(story.seed), story.lasts)
    world = SimulatedCluster(_facts(), settings=SETTINGS)
    if story.mode is not CreditMode.OFF:
        world.engine.observe(_policy(story))
    for slot in range(story.slots):
        _end(world, jobs, slot, keep_waiting=story.waits)
        running = _held(world)
        for owner, tenant in enumerate(known):
            wanted = asks(tenant, slot, hoards=story.hoards and owner == HOARDER)
            for fact in jobs.cut(owner, wanted - running[owner], slot):
                world.observe(fact)
        _serve(world, known, START + slot * SLOT_S)
        _count(world, known, jobs, slot)
    return known


def _end(world: SimulatedCluster, jobs: Jobs, slot: int, *, keep_waiting: bool) -> None:
    """End what has run, and take back what did not start, unless it may wait."""
    now = START + slot * SLOT_S
    for key, fact in list(world.workloads.items()):
        if fact.holds_quota:
            if jobs.until[key] > slot:
                continue
            done = Condition(type="Finished", status=True, reason="Succeeded", changed=now)
            world.observe(replace(fact, conditions={**fact.conditions, "Finished": done}))
        elif keep_waiting:
            continue
        world.observe(Gone(Kind.WORKLOAD, key))
        jobs.forget(key)


def _serve(world: SimulatedCluster, known: Sequence[Tenant], now: float) -> None:
    """Decide until all that is left waits; victims leave at once."""
    for _ in range(ROUNDS_MAX):
        cycle = world.cycle(now)
        for one in cycle.decisions:
            if isinstance(one, Preempt):
                fact = world.workloads[one.workload]
                known[_owner(fact)].stopped += _cores(fact)
        if all(isinstance(one, Wait) for one in cycle.decisions):
            return
        world.drain(now)


def _count(world: SimulatedCluster, known: Sequence[Tenant], jobs: Jobs, slot: int) -> None:
    """Take down who holds what in this slot, and how long what started had waited."""
    for owner, cores in enumerate(_held(world)):
        known[owner].count(slot, cores)
    for key, fact in world.workloads.items():
        if not fact.holds_quota:
            jobs.until.pop(key, None)
        elif key not in jobs.until:
            jobs.until[key] = slot + jobs.lasting[key]
            tenant, cores = known[_owner(fact)], _cores(fact)
            tenant.waited += cores * (slot - jobs.asked_at[key])
            tenant.served += cores


def _held(world: SimulatedCluster) -> list[int]:
    """Return the cores that each tenant holds."""
    held = [0] * len(DUTIES)
    for fact in world.workloads.values():
        if fact.holds_quota:
            held[_owner(fact)] += _cores(fact)
    return held


def _owner(fact: WorkloadFact) -> int:
    return int(str(fact.local_queue).removeprefix("team/t"))


def _cores(fact: WorkloadFact) -> int:
    return sum(held_usage(fact).values()) // 1000


def _facts() -> list[Fact]:
    pool = {"default": {"cpu": (FAIR_PART - OWN) * len(DUTIES) * 1000}}
    found: list[Fact] = [flavor(), namespace(), cohort("all", quotas=pool)]
    for owner in range(len(DUTIES)):
        own = {"default": {"cpu": OWN * 1000}}
        found += [cluster_queue(f"t{owner}", own, cohort="all", preemption=RECLAIM)]
        found += [local_queue(f"team/t{owner}", f"t{owner}")]
    return found


def _policy(story: Story) -> CreditPolicyFact:
    return CreditPolicyFact(
        name="default",
        mode=story.mode,
        bound=BOUNDS[story.mode],
        prices=Prices({(None, ResourceName("cpu")): MICRO}),
        horizon_s=HORIZON_SLOTS * SLOT_S,
        half_life_s=HALF_LIFE_SLOTS * SLOT_S,
        minimum_runtime_s=story.minimum_runtime_s,
    )
