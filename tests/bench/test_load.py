from collections import Counter

import pytest

from bench import core_alone
from bench.load import LOADS, ideal, queues, schedule
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
