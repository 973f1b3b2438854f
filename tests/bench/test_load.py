from collections import Counter

from bench import core_alone
from bench.load import QUEUES, SIZES, cohort_of, ideal, queues, schedule
from queueing.core.settings import FairSharing, Settings
from queueing.testing.worlds import Deep


def test_the_full_schedule_is_the_published_one() -> None:
    items = schedule(1.0)
    assert len(items) == 15_000
    assert Counter(item.name.partition("-")[0] for item in items) == {
        size.name: size.count * QUEUES for size in SIZES
    }
    assert [item.at for item in items] == sorted(item.at for item in items)


def test_a_part_of_it_keeps_every_class() -> None:
    assert {item.cpu for item in schedule(0.001)} == {1, 5, 20}


def test_queues_and_cohorts_are_those_of_the_scenario() -> None:
    assert Counter(one["kind"] for one in queues()) == {
        "ResourceFlavor": 1,
        "ClusterQueue": QUEUES,
        "LocalQueue": QUEUES,
    }
    assert len({cohort_of(number) for number in range(QUEUES)}) == 5


def test_the_ideal_is_bound_by_arrival_and_quota_only() -> None:
    items = schedule(0.01)
    admissions = ideal(items)
    assert len(admissions) == len(items)
    assert admissions[0] == 0.0
    assert admissions[-1] >= items[-1].at


def test_the_core_leaves_nothing_behind_classical_or_fair() -> None:
    world = Deep(queues=20, each=5, shapes=50)
    fair = FairSharing(strategies=("LessThanOrEqualToFinalShare",))
    for settings in (Settings(), Settings(fair_sharing=fair)):
        numbers = core_alone.run(world, settings, name="e").numbers
        assert numbers["left unfinished"] == 0
        assert numbers["decisions"] >= 100
