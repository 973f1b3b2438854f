from collections import Counter

import pytest

from bench import core_alone
from bench.load import LOADS, THIRD, ideal, queues, racks, schedule, workload_object
from queueing.core.settings import FairSharing, Settings
from queueing.testing.worlds import Deep

A = LOADS["a"]


def test_the_full_schedule_is_the_published_one() -> None:
    items = schedule(A, 1.0)
    assert len(items) == 15_000
    assert Counter(item.name.partition("-")[0] for item in items) == {
        size.name: size.count * A.queues for size in A.sizes
    }
    assert [item.at for item in items] == sorted(item.at for item in items)


def test_a_part_of_it_keeps_every_class() -> None:
    assert {item.cpu for item in schedule(A, 0.001)} == {1, 5, 20}


def test_many_queues_are_fifty_thousand_workloads() -> None:
    assert len(schedule(LOADS["b"], 1.0)) == 50_000


def test_three_of_five_in_the_deep_queue_never_fit_and_stand_between_the_others() -> None:
    items = schedule(LOADS["c"], 1.0)
    assert len(items) == 10_000
    assert sum(not item.fits for item in items) == 6_000
    assert sum(not item.fits for item in items[:1_000]) == 600


def test_queues_and_cohorts_are_those_of_the_scenario() -> None:
    assert Counter(one["kind"] for one in queues(A)) == {
        "ResourceFlavor": 1,
        "ClusterQueue": A.queues,
        "LocalQueue": A.queues,
    }
    assert len({A.cohort_of(number) for number in range(A.queues)}) == 5


@pytest.mark.parametrize("name", ["a", "c"])
def test_the_ideal_is_bound_by_arrival_and_quota_only(name: str) -> None:
    items = schedule(LOADS[name], 0.01)
    admissions = ideal(LOADS[name], items)
    assert len(admissions) == sum(item.fits for item in items)
    assert admissions[0] == 0.0
    assert admissions[-1] >= items[-1].at


def test_the_core_leaves_nothing_behind_classical_or_fair() -> None:
    world = Deep(queues=20, each=5, shapes=50)
    fair = FairSharing(strategies=("LessThanOrEqualToFinalShare",))
    for settings in (Settings(), Settings(fair_sharing=fair)):
        numbers = core_alone.run(world, settings, name="e").numbers
        assert numbers["left unfinished"] == 0
        assert numbers["decisions"] >= 100


def test_kueues_own_load_has_priorities_and_preemption_at_full_size_and_at_a_third() -> None:
    whole, third = LOADS["i"], LOADS[THIRD]
    assert len(schedule(whole, 1.0)) == 15_000
    assert Counter((one.size, one.priority, one.cpu) for one in schedule(third, 1.0)) == {
        ("small", 50, 1): 30 * 117,
        ("medium", 100, 5): 30 * 33,
        ("large", 200, 20): 30 * 16,
    }
    for load in (whole, third):
        made = [one["spec"] for one in queues(load) if one["kind"] == "ClusterQueue"]
        assert {tuple(one["preemption"].items()) for one in made} == {
            (("withinClusterQueue", "LowerPriority"), ("reclaimWithinCohort", "Any"))
        }


def test_only_workloads_with_a_priority_name_one() -> None:
    plain, urgent = schedule(A, 0.001)[0], schedule(LOADS["i"], 0.001)[0]
    assert "priority" not in workload_object(plain)["spec"]
    assert workload_object(urgent)["spec"]["priority"] == urgent.priority


def test_pods_of_the_load_on_racks_share_a_host_a_rack_or_a_block() -> None:
    load = LOADS["h"]
    assert next(iter(queues(load)))["kind"] == "Topology"
    assert Counter(labels["rack"] for _, labels in racks()) == {
        f"b{block}-r{rack}": 16 for block in range(10) for rack in range(4)
    }
    asked = {}
    for item in schedule(load, 0.001):
        (pods,) = workload_object(item)["spec"]["podSets"]
        (container,) = pods["template"]["spec"]["containers"]
        each = container["resources"]["requests"]["cpu"]
        asked[item.size] = (pods["count"], each, pods["topologyRequest"]["required"])
    assert asked == {
        "small": (1, "1", "kubernetes.io/hostname"),
        "medium": (5, "1", "rack"),
        "large": (20, "1", "block"),
    }
