"""Random objects around the workloads, for laws that must hold in all worlds.

All that is random is one choice after another from a finite list, the simplest first. So Hypothesis
can draw a world and shrink it to what a counterexample needs, and a seeded generator can draw
thousands in the time in which Hypothesis draws hundreds.
"""

from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Protocol, TypeVar

from queueing.core.facts import (
    ClusterQueueFact,
    CohortFact,
    Fact,
    FlavorFact,
    LocalQueueFact,
    PreemptionPolicy,
    Strategy,
)
from queueing.core.flavor_quotas import CheckRule, FlavorPolicy, FlavorPreference, Fungibility
from queueing.core.names import Key, QueueName
from queueing.core.selectors import Taint
from queueing.core.settings import AdmissionFairSharing, Compatibility, FairSharing, Settings
from queueing.testing.builders import (
    check,
    check_rule,
    cluster_queue,
    cohort,
    flavor,
    namespace,
    preemption,
    quota,
)

T = TypeVar("T")


class Choose(Protocol):
    """Take one of some options; where it is Hypothesis that takes, the first is the simplest."""

    def __call__(self, options: Sequence[T]) -> T: ...


def by_seed(seed: int) -> Choose:
    """Return who takes options by chance: the same ones for the same number."""
    random = Random(seed)

    def choose(options: Sequence[T]) -> T:
        return random.choice(options)

    return choose


QUEUES = ("a", "b", "c", "d")
COHORTS = ("top", "left", "right", "deep")
TAINT = Taint(key="tier", value="gold", effect="NoSchedule")
SPOT, DEFAULT, GOLD = "spot", "default", "gold"
Layout = tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
LAYOUTS: tuple[Layout, ...] = (
    (((DEFAULT,), ("cpu",)),),
    (((SPOT, DEFAULT), ("cpu",)),),
    (((DEFAULT, SPOT, GOLD), ("cpu",)),),
    (((SPOT, DEFAULT), ("cpu", "memory")),),
    (((DEFAULT, SPOT), ("cpu", "pods")), ((GOLD,), ("gpu",))),
)
"""Resource groups of a queue: flavors in order of preference, and resources covered."""

_NEVER = PreemptionPolicy.NEVER
_LOWER = PreemptionPolicy.LOWER_PRIORITY
_NEWER = PreemptionPolicy.LOWER_OR_NEWER_EQUAL_PRIORITY
WEIGHTS = tuple(map(Fraction, ("1", "2", "1/2", "0")))
STRATEGIES = (
    ("LessThanOrEqualToFinalShare", "LessThanInitialShare"),
    ("LessThanOrEqualToFinalShare",),
    ("LessThanInitialShare",),
)

FUNGIBILITIES = tuple(
    Fungibility(when_can_borrow=borrow, when_can_preempt=preempt, preference=preference)
    for preference in FlavorPreference
    for preempt in reversed(FlavorPolicy)
    for borrow in FlavorPolicy
)
POLICIES = tuple(
    preemption(within=within, reclaim=reclaim, borrow=borrow, threshold=threshold)
    for borrow, threshold in ((_NEVER, None), (_LOWER, None), (_LOWER, 1))
    for reclaim in (PreemptionPolicy.ANY, _LOWER, _NEWER, _NEVER)
    for within in (_NEVER, _LOWER, _NEWER)
    if borrow is _NEVER or reclaim is not _NEVER
)
LONELY = tuple(map(quota, (4, 3, 6, 2, 5, 0)))
LIMITED = LONELY + tuple(
    quota(nominal, borrowing=borrowing, lending=lending)
    for nominal in (4, 6, 3, 0)
    for borrowing in (None, 3, 0)
    for lending in (None, 2, 0)
    if lending is None or lending <= nominal
)
"""Quotas with and without limits; only who has a parent may have limits."""

CHECK_ON_SPOT: tuple[CheckRule, ...] = (check_rule("check", SPOT),)
MODES = ("classical", "fair sharing", "taking turns", "as Kueue")


def some_settings(choose: Choose, modes: Sequence[str] = MODES) -> Settings:
    """Choose what the operator chose, in one of some modes."""
    match choose(modes):
        case "fair sharing":
            return Settings(fair_sharing=_fair_sharing(choose))
        case "taking turns":
            shared = AdmissionFairSharing(
                half_life_s=choose((600.0, 0.0)), sampling_interval_s=choose((60.0, 300.0))
            )
            fair = choose((None, FairSharing(strategies=STRATEGIES[0])))
            return Settings(admission_fair_sharing=shared, fair_sharing=fair)
        case "as Kueue":
            fair = choose((None, FairSharing(strategies=STRATEGIES[0])))
            return Settings(compatibility=Compatibility.KUEUE, fair_sharing=fair)
        case _:
            return Settings(
                equivalence_hashing=choose((True, True, False)),
                flavor_fungibility=choose((True, True, True, False)),
                priority_sorting_within_cohort=choose((True, True, True, False)),
            )


def _fair_sharing(choose: Choose) -> FairSharing:
    return FairSharing(
        strategies=choose(STRATEGIES),
        prioritize_non_borrowing=choose((True, True, False)),
        preempt_within_nominal=choose((True, True, False)),
    )


def some_queue(
    choose: Choose, name: str, parent: str | None, layouts: Sequence[Layout] = LAYOUTS
) -> ClusterQueueFact:
    """Choose a ClusterQueue of one or two resource groups."""
    limits = LONELY if parent is None else LIMITED
    return cluster_queue(
        name,
        [
            {one: {resource: choose(limits) for resource in covered} for one in flavors}
            for flavors, covered in choose(layouts)
        ],
        cohort=parent,
        strategy=choose([Strategy.BEST_EFFORT_FIFO] * 2 + [Strategy.STRICT_FIFO]),
        fungibility=choose(FUNGIBILITIES),
        preemption=choose(POLICIES),
        checks=choose(((), (), (), (), (), (), (check_rule(),), CHECK_ON_SPOT)),
        fair_weight=choose(WEIGHTS),
        admission_fair_sharing=choose((True, False)),
    )


def some_cohorts(choose: Choose) -> list[CohortFact]:
    """Choose up to four cohorts in a forest of up to four levels."""
    made: list[CohortFact] = []
    for at, name in enumerate(COHORTS[: choose((1, 1, 2, 3, 4))]):
        parent = choose((*reversed(COHORTS[:at]), None)) if at else None
        limits = LONELY if parent is None else LIMITED
        own = choose((False, True))
        table = {DEFAULT: {"cpu": choose(limits)}} if own else {}
        made.append(cohort(name, parent, quotas=table, fair_weight=choose(WEIGHTS)))
    return made


def some_flavors(choose: Choose) -> list[FlavorFact]:
    """Choose the three flavors: with labels to choose by, and one of them perhaps tainted."""
    taints = choose(((), (), (), (TAINT,)))
    labelled = choose((False, True))
    return [
        flavor(
            name,
            labels={"tier": name} if labelled else None,
            taints=taints if name == GOLD else (),
        )
        for name in (DEFAULT, SPOT, GOLD)
    ]


def some_world(choose: Choose) -> list[Fact]:
    """Choose up to four queues in a forest of cohorts, each behind two LocalQueues."""
    trees = some_cohorts(choose)
    parents = [one.name for one in trees]
    # Most queues offer the same, or nobody would borrow from anybody.
    layouts = [*[choose(LAYOUTS)] * 2 * len(LAYOUTS), *LAYOUTS]
    made: list[ClusterQueueFact] = []
    doors: list[LocalQueueFact] = []
    for name in QUEUES[: choose((2, 3, 4, 1))]:
        made.append(some_queue(choose, name, choose([*parents * 3, None]), layouts))
        for space, weight in (("team", WEIGHTS[0]), ("crew", choose(WEIGHTS))):
            doors.append(
                LocalQueueFact(
                    key=Key(f"{space}/{name}"), cluster_queue=QueueName(name), fair_weight=weight
                )
            )
    spaces = [namespace("team"), namespace("crew")]
    return [*spaces, check(), *some_flavors(choose), *trees, *made, *doors]
