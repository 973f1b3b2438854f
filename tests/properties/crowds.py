"""Trees of queues that ask for one thing, in which more wait than can be held at once."""

from collections.abc import Iterator
from fractions import Fraction
from random import Random

from queueing.core.facts import ClusterQueueFact, Fact, WorkloadFact
from queueing.core.settings import FairSharing, Settings
from queueing.testing.builders import cluster_queue, quota, workload
from queueing.testing.worlds import world
from tests.lives.living import LivingCluster

SETTINGS = (
    Settings(),
    Settings(priority_sorting_within_cohort=False),
    Settings(fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare",))),
    Settings(
        fair_sharing=FairSharing(
            strategies=("LessThanOrEqualToFinalShare",), prioritize_non_borrowing=True
        )
    ),
)


def crowd(seed: int, settings: Settings) -> Iterator[LivingCluster]:
    """Give a cluster again and again as it lives, with facts told and nothing decided since."""
    dice = Random(seed)
    cluster = LivingCluster(list(_objects(dice)), settings)
    number = 0
    for _ in range(30):
        for _ in range(dice.choice((0, 0, 0, 0, 2, 40))):
            cluster.put(_workload(dice, number))
            number += 1
        running = cluster.running()
        for key in dice.sample(running, dice.randint(0, len(running))):
            cluster.finish(key)
        if not dice.randrange(12):
            cluster.put(_queue(dice, dice.randrange(5), odd=False))
        cluster.tell()
        yield cluster


def _objects(dice: Random) -> list[Fact]:
    odd = not dice.randrange(3)
    return world(cluster_queues=[_queue(dice, number, odd=odd) for number in range(8)])


def _queue(dice: Random, number: int, *, odd: bool) -> ClusterQueueFact:
    """Return a queue of one of two trees; an odd one may keep a part of its quota to itself."""
    limits = quota(
        dice.choice((0, 4_000, 10_000)),
        borrowing=dice.choice((None, 0, 3_000, 20_000)),
        lending=dice.choice((None, 2_000)) if odd else None,
    )
    return cluster_queue(
        f"queue-{number}",
        {"default": {"cpu": limits}},
        cohort="few" if number < 3 else "many",
        fair_weight=Fraction(dice.choice((0, 1, 1, 1, 2, 3)), dice.choice((1, 1, 3))),
    )


def _workload(dice: Random, number: int) -> WorkloadFact:
    return workload(
        f"job-{number:04}",
        {"cpu": dice.choice((500, 900, 1_000, 1_000, 2_500, 7_000))},
        local_queue=f"team/queue-{dice.randrange(8)}",
        priority=dice.choice((0, 0, 0, 5, 100)),
        created=float(dice.choice((number, number, number // 10))),
        misconfigured="" if dice.randrange(60) else "its pods cannot be read",
    )
