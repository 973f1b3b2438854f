"""Lives of variants in the engine: one of each workload is admitted, in the best flavor that has
room, and all comes to rest."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from queueing.core.decisions import Mode
from queueing.core.facts import ClusterQueueFact, Fact, Preemption, PreemptionPolicy, WorkloadFact
from queueing.core.names import FlavorName, Key, Uid
from queueing.core.settings import Compatibility, Settings
from queueing.core.variants import Migration, Variant, place
from queueing.testing import worlds
from queueing.testing.builders import cluster_queue, flavor, local_queue, workload
from queueing.testing.invariants import check_invariants
from queueing.testing.obedient import ObedientCluster

FLAVORS = tuple(map(FlavorName, ("best", "good", "poor")))
QUEUES = ("a", "b")


def queue(name: str, migration: Migration) -> ClusterQueueFact:
    made = cluster_queue(
        name,
        {str(one): {"cpu": 4_000} for one in FLAVORS},
        cohort="all",
        preemption=Preemption(
            within_cluster_queue=PreemptionPolicy.LOWER_PRIORITY,
            reclaim_within_cohort=PreemptionPolicy.ANY,
        ),
    )
    return replace(made, migration=migration)


def family(name: str, queue_name: str, cpu: int, priority: int, at: float) -> list[WorkloadFact]:
    """Return the variants of a workload."""
    return [
        replace(
            workload(
                f"{name}-{one}",
                {"cpu": cpu},
                priority=priority,
                local_queue=f"team/{queue_name}",
                created=at,
            ),
            flavors=frozenset({one}),
            variant=Variant(parent=Uid(name), flavor=one),
        )
        for one in FLAVORS
    ]


def admitted_of(world: ObedientCluster, parent: str) -> list[FlavorName]:
    return [
        one.variant.flavor
        for one in world.workloads.values()
        if one.variant is not None
        and one.variant.parent == parent
        and one.holds_quota
        and not one.evicted
    ]


def lives(seed: int, settings: Settings, migration: Migration) -> Iterator[ObedientCluster]:
    """Yield a world at rest, after each of some random events."""
    dice = random.Random(seed)
    facts: list[Fact] = [*map(flavor, FLAVORS)]
    facts += [queue(one, migration) for one in QUEUES]
    facts += [local_queue(f"team/{one}", one) for one in QUEUES]
    world = ObedientCluster(facts, settings)
    alive: list[str] = []
    for step in range(30):
        world.now += 1.0
        if not alive or dice.random() < 0.6:
            name = f"w{step}"
            alive.append(name)
            size, priority = dice.choice((1_000, 2_000, 3_000)), dice.choice((0, 0, 5))
            for one in family(name, dice.choice(QUEUES), size, priority, world.now):
                world.observe(one)
        else:
            over = alive.pop(dice.randrange(len(alive)))
            for key, one in list(world.workloads.items()):
                if one.variant is not None and one.variant.parent == over and not one.finished:
                    world.finish(Key(key))
        world.rest()
        yield world


@pytest.mark.parametrize("mode", list(Compatibility))
@pytest.mark.parametrize("seed", range(12))
def test_one_variant_of_each_workload_is_admitted_and_none_is_forgotten(
    seed: int, mode: Compatibility
) -> None:
    settings = Settings(compatibility=mode, concurrent_admission=True)
    for world in lives(seed, settings, Migration()):
        check_invariants(world.engine)
        parents = {one.variant.parent for one in world.workloads.values() if one.variant}
        for parent in parents:
            found = admitted_of(world, parent)
            assert len(found) <= 1
            waiting = [
                one
                for one in world.workloads.values()
                if one.variant and one.variant.parent == parent and not one.holds_quota
            ]
            for one in waiting if found and not any(map(_finished, waiting)) else ():
                assert one.variant is not None
                is_better = place(one.variant.flavor, FLAVORS) < place(found[0], FLAVORS)
                wait = world.engine.waiting(one.key)
                assert wait is not None
                assert wait.message.startswith("couldn't") is is_better


def _finished(fact: WorkloadFact) -> bool:
    return fact.finished


@pytest.mark.parametrize("seed", range(6))
def test_the_first_admission_is_never_moved_where_it_is_retained(seed: int) -> None:
    settings = Settings(concurrent_admission=True)
    for world in lives(seed, settings, Migration(retains_first=True)):
        check_invariants(world.engine)
        assert not any(one.reason == "FlavorMigration" for one in world.preemptions)


def variant_in(parent: str, flavor_name: str, cpu: int, priority: int = 0) -> WorkloadFact:
    """Return the variant of a workload in one flavor."""
    name = FlavorName(flavor_name)
    return replace(
        workload(f"{parent}-{name}", {"cpu": cpu}, priority=priority),
        flavors=frozenset({name}),
        variant=Variant(parent=Uid(parent), flavor=name),
    )


def one_queue_of_ten_in_each_flavor() -> ObedientCluster:
    lower = Preemption(within_cluster_queue=PreemptionPolicy.LOWER_PRIORITY)
    made = cluster_queue("main", {one: {"cpu": 10} for one in ("best", "good")}, preemption=lower)
    made = replace(made, migration=Migration())
    return ObedientCluster(worlds.world(made), Settings(concurrent_admission=True))


def test_one_that_waits_for_a_leaving_sibling_takes_the_promise_of_a_lower_priority() -> None:
    cluster = one_queue_of_ten_in_each_flavor()
    low = [variant_in(one, "best", 5) for one in ("a", "b")]
    urgent, boss = variant_in("urgent", "good", 5, 8), variant_in("boss", "good", 10, 9)
    for one in (*low, urgent):
        cluster.observe(one)
    cluster.cycle()
    middle = variant_in("middle", "best", 10, 1)
    for one in (boss, middle):
        cluster.observe(one)
        cluster.cycle()
    assert cluster.draining() == sorted([urgent.key, *(one.key for one in low)])
    cluster.finish(low[0].key)
    better = variant_in("urgent", "best", 5, 8)
    cluster.observe(better)
    cluster.cycle()
    waits = [cluster.engine.waiting(one.key) for one in (better, middle)]
    assert [one and one.mode for one in waits] == [Mode.DEFERRED_FIT, Mode.NO_CANDIDATES]


def test_of_siblings_to_which_quota_was_promised_only_one_is_admitted() -> None:
    cluster = one_queue_of_ten_in_each_flavor()
    low = [variant_in("a", "best", 10), variant_in("b", "good", 10)]
    for one in low:
        cluster.observe(one)
    cluster.cycle()
    worse = variant_in("urgent", "good", 5, 8)
    better = replace(variant_in("urgent", "best", 5, 8), created=5.0)  # so its turn is the second
    for one in (worse, better):
        cluster.observe(one)
        cluster.cycle()
    assert cluster.draining() == [one.key for one in low]
    for one in low:
        cluster.finish(one.key)
    cluster.cycle()
    check_invariants(cluster.engine)
    assert len(cluster.running()) <= 1
    cluster.rest()
    assert cluster.running() == [better.key]
