"""Random lives in which cohorts are deep and everybody borrows, so that shares and ranks decide.

In the worlds of `random_worlds` most queues have enough of their own. Here they have little, all of
the same flavors, in a tree of three or four levels; jobs are many and small; and admins edit what
they seldom do there: quota of cohorts, checks of queues, cohorts that go and come back.
"""

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from queueing.core.facts import (
    ClusterQueueFact,
    CohortFact,
    Fact,
    LocalQueueFact,
    PreemptionPolicy,
    Strategy,
)
from queueing.core.flavor_quotas import FlavorPolicy, Fungibility
from queueing.core.names import Key, QueueName
from queueing.testing.builders import (
    check,
    check_rule,
    cluster_queue,
    cohort,
    namespace,
    pod_set,
    preemption,
    quota,
    workload,
)
from tests.lives.random_events import (
    EVERYTHING,
    NOTHING,
    PICKS,
    Event,
    Life,
    Step,
    Table,
    some_step,
)
from tests.lives.random_worlds import (
    COHORTS,
    DEFAULT,
    MODES,
    QUEUES,
    SPOT,
    WEIGHTS,
    Choose,
    some_flavors,
    some_settings,
)

EDITS: Table = MappingProxyType(
    {
        "cohort quota": tuple(map(quota, (0, 2, 4))),
        "cohort": NOTHING,
        "checks": ((), (check_rule(),)),
        "priority": range(5),
        "weight": WEIGHTS,
        "time": (400.0,),
        "policy": (preemption(reclaim=PreemptionPolicy.ANY), preemption()),
    }
)
"""What admins edit here more often than there."""
_LOWER, _ANY = PreemptionPolicy.LOWER_PRIORITY, PreemptionPolicy.ANY
_POLICIES = (
    preemption(within=_LOWER, reclaim=_ANY, borrow=_LOWER, threshold=1),
    preemption(within=_LOWER, reclaim=_ANY),
    preemption(within=_LOWER, reclaim=_LOWER, borrow=_LOWER),
)
_LITTLE = (
    *map(quota, (1, 2, 3, 0)),
    quota(3, lending=1),
    quota(2, borrowing=4),
    quota(2, borrowing=3, lending=2),
)
_PARENTS = (
    (None, "top", "left", "right"),
    (None, "top", "left", "left"),
    (None, "top", "top", "right"),
)
"""Parents of the four cohorts: one chain of them, or one that branches low or high."""
_SHAPES = (
    *((pod_set({"cpu": cpu}, count),) for cpu in (1, 2) for count in (1, 2, 3)),
    (pod_set({"cpu": 1}, 4, min_count=1),),
    (
        pod_set({"cpu": 1}, group="both"),
        pod_set({"cpu": 1}, 2, name="second", group="both"),
    ),
)


def some_contention(choose: Choose, *, modes: Sequence[str] = MODES, size: int = 30) -> Life:
    """Choose a world of four queues in four cohorts, and what happens in it."""
    facts = _world(choose)
    jobs: list[Step] = [_job(choose) for _ in range(choose(range(8, 14)))]
    steps = [_step(choose) for _ in range(choose(range(size // 2, size)))]
    return Life(some_settings(choose, modes), facts, [*jobs, Event("cycle"), *steps])


def _world(choose: Choose) -> list[Fact]:
    parents = choose(_PARENTS)
    limits = (None, *_LITTLE)
    cohorts: list[CohortFact] = []
    for name, parent in zip(COHORTS, parents, strict=True):
        own = choose(limits if parent is not None else (None, quota(2), quota(4)))
        table = {} if own is None else {DEFAULT: {"cpu": own}}
        cohorts.append(cohort(name, parent, quotas=table, fair_weight=choose(WEIGHTS)))
    flavors = choose(((DEFAULT,), (DEFAULT,), (SPOT, DEFAULT)))
    queues = [_queue(choose, name, flavors) for name in QUEUES]
    doors = [
        LocalQueueFact(
            key=Key(f"{space}/{one}"), cluster_queue=QueueName(one), fair_weight=choose(WEIGHTS)
        )
        for one in QUEUES
        for space in ("team", "crew")
    ]
    spaces = [namespace("team"), namespace("crew")]
    return [*spaces, check(), *some_flavors(choose), *cohorts, *queues, *doors]


def _queue(choose: Choose, name: str, flavors: Sequence[str]) -> ClusterQueueFact:
    return cluster_queue(
        name,
        [{one: {"cpu": choose(_LITTLE)} for one in flavors}],
        cohort=choose(COHORTS[1:]),
        strategy=choose((Strategy.BEST_EFFORT_FIFO,) * 3 + (Strategy.STRICT_FIFO,)),
        fungibility=choose(
            (Fungibility(), Fungibility(when_can_preempt=FlavorPolicy.MAY_STOP_SEARCH))
        ),
        preemption=choose(_POLICIES),
        checks=choose(((), (), (), (check_rule(),))),
        fair_weight=choose(WEIGHTS),
        admission_fair_sharing=choose((True, False)),
    )


def _job(choose: Choose) -> Step:
    door = choose(tuple(f"{space}/{one}" for one in QUEUES for space in ("team", "crew")))
    space, _, _ = door.partition("/")
    made = workload(
        f"{space}/job",
        pod_sets=choose(_SHAPES),
        local_queue=door,
        priority=choose(range(4)),
        created=float(choose(range(4))),
    )
    return replace(made, preemption_gated=choose((False,) * 9 + (True,)))


def _step(choose: Choose) -> Step:
    match choose(("job", "job", "edit", "other", "other", "other")):
        case "job":
            return _job(choose)
        case "edit":
            kind = choose(tuple(EDITS))
            return Event(kind, choose(PICKS), choose(EDITS[kind]))
        case _:
            made = some_step(choose, EVERYTHING)
            return made if isinstance(made, Event) else Event("cycle")
