"""`credits`, within one queue: the tenants of `bench.credits` as namespaces of one ClusterQueue.

They share its quota by nothing but the order of their LocalQueues, so nobody is preempted. Virtual
time, the real engine. `python -m bench.credits_within` writes the table into the page of
docs/credits-simulated.md.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from bench.bursts import (
    CAPACITY,
    DUTIES,
    HALF_LIFE_SLOTS,
    HORIZON_SLOTS,
    Tenant,
    asks,
    by_class,
    tenants,
)
from bench.credits import GANGS, LOST_LOAD, SLOT_S, START, WAITING_LOAD
from queueing.core.credits.facts import MICRO, CreditPolicyFact
from queueing.core.credits.prices import Prices
from queueing.core.facts import Condition, Fact, Gone, Kind, WorkloadFact
from queueing.core.names import ResourceName, namespace_of
from queueing.core.settings import AdmissionFairSharing, Settings
from queueing.core.usage import held_usage
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import cluster_queue, flavor, local_queue, namespace, workload

SLOTS, SEEDS = 1200, (1, 2)
PAGE = Path("docs/credits-simulated.md")
MARKED = re.compile(r"(?<=<!-- within: begin -->\n).*?(?=<!-- within: end -->)", re.DOTALL)


class Order(StrEnum):
    """By what LocalQueues go first."""

    AGE = "by age"
    HISTORY = "usage history"
    CREDITS = "credits"


def simulate(order: Order, *, slots: int, seed: int, waits: bool) -> list[Tenant]:
    """Let all want what they want for so many slots; Jobs last one. Return the tenants."""
    known = tenants(slots, load=WAITING_LOAD if waits else LOST_LOAD, seed=seed, at_random=False)
    world, chance = _world(order), random.Random(seed)
    asked_at: dict[str, int] = {}
    for slot in range(slots):
        now = START + slot * SLOT_S
        for key, fact in list(world.workloads.items()):
            if fact.holds_quota:
                done = Condition(type="Finished", status=True, reason="Succeeded", changed=now)
                world.observe(replace(fact, conditions={**fact.conditions, "Finished": done}))
            if fact.holds_quota or not waits:
                world.observe(Gone(Kind.WORKLOAD, key))
        for owner, tenant in enumerate(known):
            for fact in _cut(owner, asks(tenant, slot, hoards=False), slot, chance):
                asked_at[fact.key] = slot
                world.observe(fact)
        world.cycle(now)
        held = [0] * len(known)
        for key, fact in world.workloads.items():
            if fact.holds_quota:
                owner, cores = int(namespace_of(key)[1:]), sum(held_usage(fact).values()) // 1000
                held[owner] += cores
                known[owner].waited += cores * (slot - asked_at[key])
                known[owner].served += cores
        for tenant, cores in zip(known, held, strict=True):
            tenant.count(slot, cores)
    return known


def table(slots: int = SLOTS, seeds: Sequence[int] = SEEDS) -> str:
    """Simulate, and tell what each class of tenants got in the mean over the draws."""
    lines = ["| one queue | " + " | ".join(Order) + " |", "|---" * (len(Order) + 1) + "|"]
    for waits, what in ((False, "satisfied"), (True, "mean wait in slots")):
        columns = [
            [_told(simulate(order, slots=slots, seed=seed, waits=waits), waits) for seed in seeds]
            for order in Order
        ]
        for duty in sorted(set(DUTIES), reverse=True):
            cells = (sum(one[duty] for one in column) / len(column) for column in columns)
            told = " | ".join(f"{cell:.2f}" for cell in cells)
            lines.append(f"| {what}, busy {duty:g} of the time | {told} |")
    return "\n".join(lines) + "\n"


def _told(known: Sequence[Tenant], waits: bool) -> dict[float, float]:  # noqa: FBT001 - two ways
    if waits:
        return by_class(known, lambda one: one.waited, lambda one: one.served)
    return by_class(known, lambda one: one.used, lambda one: one.asked)


def _cut(owner: int, cores: int, slot: int, chance: random.Random) -> list[WorkloadFact]:
    """Cut a demand into gangs."""
    found: list[WorkloadFact] = []
    while cores > 0:
        size = min(cores, chance.choice(GANGS))
        found.append(
            workload(
                f"n{owner}/{slot}-{len(found)}",
                {"cpu": 1000},
                size,
                local_queue=f"n{owner}/main",
                created=START + slot * SLOT_S + len(found) / 1000,
            )
        )
        cores -= size
    return found


def _world(order: Order) -> SimulatedCluster:
    history = AdmissionFairSharing(half_life_s=HALF_LIFE_SLOTS * SLOT_S)
    settings = Settings(admission_fair_sharing=history if order is Order.HISTORY else None)
    quota = {"default": {"cpu": CAPACITY * 1000}}
    facts: list[Fact] = [flavor(), cluster_queue("all", quota, admission_fair_sharing=True)]
    for owner in range(len(DUTIES)):
        facts += [namespace(f"n{owner}"), local_queue(f"n{owner}/main", "all")]
    made = SimulatedCluster(facts, settings=settings)
    if order is Order.CREDITS:
        made.engine.observe(
            CreditPolicyFact(
                name="default",
                prices=Prices({(None, ResourceName("cpu")): MICRO}),
                horizon_s=HORIZON_SLOTS * SLOT_S,
                half_life_s=HALF_LIFE_SLOTS * SLOT_S,
                orders_local_queues=True,
            )
        )
    return made


if __name__ == "__main__":
    PAGE.write_text(MARKED.sub(lambda _: table(), PAGE.read_text()))
