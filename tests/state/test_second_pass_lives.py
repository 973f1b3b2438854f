"""Workloads that wait for their places after their checks, in random small worlds."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from queueing.core.decisions import Admit, Place, Preempt
from queueing.core.facts import Gone, Kind, NodeUsageFact, PreemptionPolicy, WorkloadFact
from queueing.core.names import Key
from queueing.core.settings import Compatibility, Settings
from queueing.testing.builders import cluster_queue, preemption, quota, workload
from queueing.testing.invariants import check_invariants
from queueing.testing.obedient import ObedientCluster
from tests.state.hosts import QUEUE, node, used
from tests.state.test_second_passes import awaiting, placed

HOSTS = ("a", "b", "c")
CORES = 3


def some_world(random: Random, mode: Compatibility) -> ObedientCluster:
    """Return three nodes, on which some run, and for which others wait that hold quota."""
    policy = preemption(within=PreemptionPolicy.LOWER_PRIORITY)
    queue = cluster_queue("main", {"default": {"cpu": quota(100_000)}}, preemption=policy)
    made = ObedientCluster([*QUEUE, queue], Settings(compatibility=mode))
    for name in HOSTS:
        made.observe(node(name, CORES))
        for number in range(random.randrange(CORES + 1)):
            fact = placed(f"{name}{number}", 1, "", **{name: 1})
            made.observe(replace(fact, priority=random.randrange(3)))
    for number in range(random.randrange(1, 4)):
        pods, priority = random.randrange(1, 5), random.randrange(4)
        made.observe(awaiting(f"w{number}", pods, priority=priority))
    return made


def happen(world: ObedientCluster, random: Random, step: int) -> None:
    """Let anything happen that is no decision."""
    name, draining = random.choice(HOSTS), world.draining()
    match random.choice(("drain", "drain", "others", "gone", "back", "late", "leader", "later")):
        case "drain" if draining:
            world.drain(random.choice(draining))
        case "others":
            world.observe(random.choice((used(name, 1), NodeUsageFact(name=name, usage={}))))
        case "gone":
            world.observe(Gone(Kind.NODE, name))
        case "back":
            world.observe(node(name, CORES))
        case "late":
            made = workload(f"late{step}", {"cpu": 1000}, local_queue="team/main")
            world.observe(replace(made, priority=random.randrange(4)))
        case "leader":
            world.restart()
        case _:
            world.now += 31


def pods_on(world: ObedientCluster) -> Counter[str]:
    found = Counter[str]()
    for one in world.workloads.values():
        for held in () if one.admission is None else one.admission.pod_sets:
            for domain in () if held.placement is None else held.placement.domains:
                found[domain.values[-1]] += domain.count
    return found


def look_at(world: ObedientCluster, facts: dict[Key, WorkloadFact]) -> Counter[str]:
    """Run a cycle, and check what it did."""
    before, seen = pods_on(world), Counter[str]()
    for one in world.cycle().decisions:
        seen[type(one).__name__] += 1
        if isinstance(one, Preempt):
            assert facts[one.workload].priority < facts[one.preemptor].priority
            seen["for places"] += facts[one.preemptor].holds_quota
    for name, count in pods_on(world).items():
        assert count <= max(CORES, before[name]), f"{count} pods on {name}"
    return seen


@pytest.mark.parametrize("mode", list(Compatibility))
def test_places_after_checks_are_within_nodes_and_cost_only_lower_priorities(
    mode: Compatibility,
) -> None:
    """What is kept is undone in full, whatever happens to nodes, victims and leaders."""
    seen = Counter[str]()
    for seed in range(60):
        random = Random(seed)
        world = some_world(random, mode)
        for step in range(25):
            seen += look_at(world, dict(world.workloads))
            check_invariants(world.engine)
            happen(world, random, step)
        world.rest()
        check_invariants(world.engine)
    assert seen["for places"] > 20
    assert min(seen[one.__name__] for one in (Admit, Place, Preempt)) > 20
