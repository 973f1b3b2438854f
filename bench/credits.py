"""`credits`: eight tenants that want as much as each other, but not at the same times.

The real engine in virtual time, with gangs that start whole or not at all. Two tenants are steady,
the others come in bursts: half, a quarter, an eighth of the time. Half of the capacity is theirs,
half is the cohort's. What a tenant asked for and did not get within a slot is lost (satisfaction),
or waits (waits).
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.results import Result
from queueing.core.credits.facts import BOUNDS, MICRO, CreditPolicyFact, Mode
from queueing.core.credits.prices import Prices
from queueing.core.decisions import Wait
from queueing.core.facts import Condition, Fact, Gone, Kind, PreemptionPolicy, WorkloadFact
from queueing.core.names import Key, ResourceName
from queueing.core.settings import Compatibility, FairSharing, Settings
from queueing.core.usage import held_usage
from queueing.sim.world import World
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    flavor,
    local_queue,
    namespace,
    preemption,
    workload,
)

SLOT_S = 600
DUTIES = (1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125)
BURST = 50
"""Slots of one burst."""
FAIR_PART = 8
"""Cores per tenant; half is its own, half the cohort's."""
GANGS = (1, 1, 2, 4)
LOST_LOAD, WAITING_LOAD = 1.2, 0.85
SLOTS = 3000
HORIZON_SLOTS, HALF_LIFE_SLOTS = 20, 2000
START = 1_700_000_400.0
ROUNDS_MAX = 200
RECLAIM = preemption(reclaim=PreemptionPolicy.ANY)
SETTINGS = Settings(
    compatibility=Compatibility.KUEUE,
    fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare", "LessThanInitialShare")),
)
MODES: tuple[tuple[str, Mode], ...] = (
    ("fair sharing alone", Mode.OFF),
    ("Gentle", Mode.GENTLE),
    ("Balanced", Mode.BALANCED),
    ("Karma", Mode.KARMA),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What is simulated. `waits` keeps what was not served; a `hoarder` always asks for it all."""

    mode: Mode
    slots: int
    seed: int = 1
    waits: bool = False
    hoarder: bool = False


@dataclass(slots=True)
class Tenant:
    """One tenant's demand and what became of it, in cores times slots."""

    name: str
    duty: float
    phase: int
    asked: float = 0.0
    got: float = 0.0
    held: int = 0
    moved: float = 0.0
    waits: list[int] = field(default_factory=list)

    def wants(self, slot: int, load: float) -> int:
        """Return the cores it wants in a slot: nothing, or a burst of its own height."""
        period = BURST / self.duty
        on = self.duty >= 1 or (slot + self.phase) % period < BURST
        return round(load * FAIR_PART / self.duty) if on else 0


def run(scale: float, out: Path) -> list[Result]:
    """Simulate every mode; a `scale` of 1 is 3,000 slots."""
    slots = max(200, round(SLOTS * scale))
    results = [_measure(name, mode, slots) for name, mode in MODES]
    plot(results, out / "credits.png")
    return results


def _measure(name: str, mode: Mode, slots: int) -> Result:
    lost = simulate(Story(mode=mode, slots=slots))
    waiting = simulate(Story(mode=mode, slots=slots, waits=True))
    hoarding = simulate(Story(mode=mode, slots=slots, hoarder=True))
    satisfied = by_class(lost, lambda one: one.got / one.asked)
    numbers = {f"satisfaction at duty {duty:g}": value for duty, value in satisfied.items()}
    numbers |= {
        "worst / best": min(satisfied.values()) / max(satisfied.values()),
        "utilisation": sum(one.got for one in lost) / (slots * FAIR_PART * len(DUTIES)),
        "churn": sum(one.moved for one in lost) / (2 * slots * FAIR_PART * len(DUTIES)),
        "useful service of a hoarder": hoarding[0].got / lost[0].got,
    }
    for duty, value in by_class(waiting, lambda one: sum(one.waits) / len(one.waits)).items():
        numbers[f"mean wait at duty {duty:g}, slots"] = value
    return Result(scenario=f"credits, {name}", numbers=numbers)


def by_class(tenants: Sequence[Tenant], measure: Callable[[Tenant], float]) -> dict[float, float]:
    """Return the mean of a measure over the tenants of each duty."""
    return {
        duty: sum(map(measure, mine)) / len(mine)
        for duty in dict.fromkeys(DUTIES)
        if (mine := [one for one in tenants if one.duty == duty])
    }


def simulate(story: Story) -> list[Tenant]:
    """Run a story; return its tenants."""
    chance = random.Random(story.seed)
    tenants = [
        Tenant(f"t{place}", duty, chance.randrange(int(BURST / duty)))
        for place, duty in enumerate(DUTIES)
    ]
    world = World(_facts(tenants), settings=SETTINGS)
    if story.mode is not Mode.OFF:
        world.engine.observe_credit(_policy(story.mode))
    load = WAITING_LOAD if story.waits else LOST_LOAD
    asked_at: dict[Key, int] = {}
    for slot in range(story.slots):
        now = START + slot * SLOT_S
        _end_slot(world, now, keep_waiting=story.waits)
        for tenant in tenants:
            for fact in _demand(tenant, _cores(tenant, slot, load, story), (slot, now), chance):
                asked_at[fact.key] = slot
                world.observe(fact)
        before = {one.name: one.held for one in tenants}
        _serve(world, now)
        _count(world, tenants, slot, asked_at)
        for one in tenants:
            one.moved += abs(one.held - before[one.name])
            honest = one.wants(slot, load)
            one.got += min(one.held, honest) if story.hoarder else one.held
            one.asked += honest
    return tenants


def _serve(world: World, now: float) -> None:
    """Decide until all that is left waits; victims leave at once."""
    for _ in range(ROUNDS_MAX):
        cycle = world.cycle(now)
        if all(isinstance(one, Wait) for one in cycle.decisions):
            return
        world.drain(now)


def _count(world: World, tenants: Sequence[Tenant], slot: int, asked_at: dict[Key, int]) -> None:
    """Take down who holds what in this slot, and how long those had waited."""
    named = {one.name: one for one in tenants}
    for one in tenants:
        one.held = 0
    for key, fact in world.workloads.items():
        if fact.holds_quota and fact.admission is not None:
            tenant = named[fact.admission.cluster_queue]
            tenant.held += sum(held_usage(fact).values()) // 1000
            tenant.waits.append(slot - asked_at.pop(key))


def _cores(tenant: Tenant, slot: int, load: float, story: Story) -> int:
    """Return what a tenant asks for: a hoarder always for four times its part."""
    wanted = tenant.wants(slot, load)
    return max(wanted, 4 * FAIR_PART) if story.hoarder and tenant.name == "t0" else wanted


def _demand(
    tenant: Tenant, cores: int, when: tuple[int, float], chance: random.Random
) -> Iterator[WorkloadFact]:
    """Cut a demand into gangs of one slot each."""
    (slot, now), number = when, 0
    while cores > 0:
        size = min(cores, chance.choice(GANGS))
        yield workload(
            f"{tenant.name}-{slot}-{number}",
            {"cpu": 1000},
            size,
            local_queue=f"team/{tenant.name}",
            created=now + number / 1000,
        )
        cores, number = cores - size, number + 1


def _end_slot(world: World, now: float, *, keep_waiting: bool) -> None:
    """End what ran, and take back what did not, unless it may wait."""
    for key, fact in list(world.workloads.items()):
        if fact.holds_quota:
            done = Condition(type="Finished", status=True, reason="Succeeded", changed=now)
            world.observe(replace(fact, conditions={**fact.conditions, "Finished": done}))
        elif keep_waiting:
            continue
        world.observe(Gone(Kind.WORKLOAD, key))


def _facts(tenants: Sequence[Tenant]) -> list[Fact]:
    pool = FAIR_PART * len(tenants) // 2 * 1000
    found: list[Fact] = [
        flavor(),
        namespace(),
        cohort("all", quotas={"default": {"cpu": pool}}),
    ]
    for one in tenants:
        own = {"default": {"cpu": FAIR_PART // 2 * 1000}}
        found += [cluster_queue(one.name, own, cohort="all", preemption=RECLAIM)]
        found += [local_queue(f"team/{one.name}", one.name)]
    return found


def _policy(mode: Mode) -> CreditPolicyFact:
    return CreditPolicyFact(
        name="default",
        mode=mode,
        bound=BOUNDS[mode],
        prices=Prices({(None, ResourceName("cpu")): MICRO}),
        horizon_s=HORIZON_SLOTS * SLOT_S,
        half_life_s=HALF_LIFE_SLOTS * SLOT_S,
    )


def plot(results: Sequence[Result], path: Path) -> None:
    """Draw the satisfaction of each class under each mode."""
    import matplotlib as mpl  # noqa: PLC0415 - half a second, for the picture only

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the choice of a backend

    path.parent.mkdir(parents=True, exist_ok=True)
    figure, axes = plt.subplots(figsize=(8, 4.5))
    duties = list(dict.fromkeys(DUTIES))
    for place, one in enumerate(results):
        heights = [one.numbers[f"satisfaction at duty {duty:g}"] for duty in duties]
        left = [number + (place - 1.5) * 0.2 for number in range(len(duties))]
        axes.bar(left, heights, width=0.18, label=one.scenario.removeprefix("credits, "))
    axes.set_xticks(range(len(duties)), [f"busy {duty:.3g} of the time" for duty in duties])
    axes.set_ylabel("part of what was asked for that was served")
    axes.legend()
    axes.grid(alpha=0.3, axis="y")
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
