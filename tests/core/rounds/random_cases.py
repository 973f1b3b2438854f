"""Random small worlds with running and pending workloads, and the settings to decide them by."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from random import Random

from queueing.core.facts import (
    CheckFact,
    ClusterQueueFact,
    CohortFact,
    Fact,
    FlavorFact,
    LocalQueueFact,
    PodSet,
    PreemptionPolicy,
    Strategy,
    WorkloadFact,
)
from queueing.core.flavor_quotas import FlavorPolicy, FlavorPreference, Fungibility, Quota
from queueing.core.names import Key, QueueName, ResourceName
from queueing.core.selectors import Taint, Toleration
from queueing.core.settings import (
    AdmissionFairSharing,
    Compatibility,
    FairSharing,
    QuotaCheck,
    Settings,
)
from queueing.testing.builders import (
    Quotas,
    admission,
    assignment,
    cluster_queue,
    cohort,
    condition,
    flavor,
    namespace,
    pod_set,
    preemption,
    quota,
    workload,
)

NOW = 2_000.0
FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
WEIGHTS = [*[Fraction(1)] * 4, Fraction(2), Fraction(1, 2), Fraction(0)]
MAY, NEXT = FlavorPolicy.MAY_STOP_SEARCH, FlavorPolicy.TRY_NEXT_FLAVOR
NEVER, LOWER, ANY = PreemptionPolicy.NEVER, PreemptionPolicy.LOWER_PRIORITY, PreemptionPolicy.ANY


@dataclass
class Case:
    """A world; `random` goes on where the generator stopped."""

    random: Random
    settings: Settings
    flavors: list[FlavorFact] = field(default_factory=list)
    checks: list[CheckFact] = field(default_factory=list)
    cohorts: list[CohortFact] = field(default_factory=list)
    queues: list[ClusterQueueFact] = field(default_factory=list)
    doors: list[LocalQueueFact] = field(default_factory=list)
    running: list[WorkloadFact] = field(default_factory=list)
    pending: list[WorkloadFact] = field(default_factory=list)

    @property
    def facts(self) -> list[Fact]:
        objects: list[Fact] = [namespace(), *self.flavors, *self.checks, *self.cohorts]
        return [*objects, *self.queues, *self.doors, *self.running, *self.pending]


def case_of(seed: int) -> Case:
    """Make the world of a seed: two of three in one full tree, where much is preempted."""
    random = Random(seed)
    case = Case(random, some_settings(random))
    dense = seed % 3 > 0
    names = ["one", "two", "three"][: random.choice([1, 1, 2] if dense else [1, 2, 3])]
    covered = random.choice(
        [[["a"]], [["a", "b"]], *([[["a"], ["b"]], [["a", "pods"]]] * (not dense))]
    )
    layout = [(group, [f"{name}-{at}" for name in names]) for at, group in enumerate(covered)]
    for name in [name for _, group in layout for name in group]:
        tainted = random.random() < (0.02 if dense else 0.15)
        taints = (Taint(key=name, effect="NoSchedule"),) if tainted else ()
        case.flavors.append(flavor(name, taints=taints))
    _draw_cohorts(case, layout, dense=dense)
    for number in range(random.randint(3, 5) if dense else random.randint(1, 5)):
        _draw_queue(case, f"q{number}", layout, dense=dense)
    for number in range(random.choice([8, 12, 16]) if dense else random.randint(0, 8)):
        _draw_running(case, f"r{number}", dense=dense)
    for number in range(random.randint(2, 8)):
        _draw_pending(case, f"w{number}", [name for group, _ in layout for name in group])
    return case


def some_settings(random: Random) -> Settings:
    strategies = random.choice([(FINAL,), (INITIAL,), (FINAL, INITIAL), (FINAL, INITIAL)])
    fair = FairSharing(
        strategies=strategies,
        prioritize_non_borrowing=random.random() < 0.8,
        preempt_within_nominal=random.random() < 0.8,
    )
    turns = AdmissionFairSharing(
        half_life_s=random.choice([3_600.0, 300.0, 0.0]),
        weights={ResourceName("a"): random.choice([1.0, 2.0, 0.5])},
    )
    lax = random.random() < 0.2
    return Settings(
        compatibility=Compatibility.KUEUE,
        fair_sharing=random.choice([None, fair, fair]),
        admission_fair_sharing=random.choice([None, turns]),
        recompute_overlapping=random.random() < 0.85,
        priority_sorting_within_cohort=random.random() < 0.85,
        partial_admission=random.random() < 0.9,
        prioritize_preemptors=random.random() < 0.3,
        quota_check=QuotaCheck.IGNORE_UNDECLARED if lax else QuotaCheck.BLOCK_UNDECLARED,
    )


Layout = list[tuple[list[str], list[str]]]
"""Resource groups: the resources that each covers, and its flavors."""


def _draw_cohorts(case: Case, layout: Layout, *, dense: bool) -> None:
    random = case.random
    for number in range(random.randint(1, 4) if dense else random.randint(0, 3)):
        below = number and (dense or random.random() < 0.8)
        parent = f"c{random.randrange(number)}" if below else None
        tables: list[Quotas] = []
        if random.random() < 0.4:
            tables = _tables(random, layout, own=False, parent=parent is not None, dense=dense)
        weight = random.choice(WEIGHTS)
        case.cohorts.append(cohort(f"c{number}", parent, quotas=tables, fair_weight=weight))


def _tables(
    random: Random, layout: Layout, *, own: bool, parent: bool, dense: bool
) -> list[Quotas]:
    def some() -> Quota:
        nominal = random.choice([0, 1, 2, 3, 4, 5] if own else [0, 0, 1, 2, 4])
        limit = random.choice([*[None] * (12 if dense else 3), 0, 1, 3]) if parent else None
        lends = parent and random.random() < (0.08 if dense else 0.35)
        return quota(
            nominal, borrowing=limit, lending=random.randint(0, nominal) if lends else None
        )

    return [{one: {name: some() for name in covered} for one in names} for covered, names in layout]


def _draw_queue(case: Case, name: str, layout: Layout, *, dense: bool) -> None:
    random = case.random
    chosen: Layout = []
    for covered, names in layout:
        order = random.sample(names, len(names) if dense else random.randint(1, len(names)))
        chosen.append((covered, order))
    cohorts = [str(one.name) for one in case.cohorts]
    parent = random.choice(cohorts) if cohorts and (dense or random.random() < 0.9) else None
    borrow, preempt = random.choice([MAY, NEXT]), random.choice([MAY, NEXT])
    rather = borrow is preempt is NEXT and random.random() < 0.5
    reclaim = random.choice([NEVER, LOWER, ANY, ANY])
    borrowing = NEVER if reclaim is NEVER else random.choice([NEVER, LOWER])
    strict = random.random() < 0.25
    case.queues.append(
        cluster_queue(
            name,
            _tables(random, chosen, own=True, parent=parent is not None, dense=dense),
            cohort=parent,
            strategy=Strategy.STRICT_FIFO if strict else Strategy.BEST_EFFORT_FIFO,
            fungibility=Fungibility(
                when_can_borrow=borrow,
                when_can_preempt=preempt,
                preference=list(FlavorPreference)[rather],
            ),
            preemption=preemption(
                within=random.choice(list(PreemptionPolicy)[:3]),
                reclaim=reclaim,
                borrow=borrowing,
                threshold=random.choice([None, 0, 1, 2]) if borrowing is not NEVER else None,
            ),
            fair_weight=random.choice(WEIGHTS),
            admission_fair_sharing=random.random() < 0.7,
        )
    )
    for door in ("", "-x"):
        consumed = (ResourceName("a"), float(random.choice([0, 0, 1, 2, 3])))
        case.doors.append(
            LocalQueueFact(
                key=Key(f"team/{name}{door}"),
                cluster_queue=QueueName(name),
                fair_weight=random.choice(WEIGHTS),
                consumed=(consumed,),
                sampled_at=NOW,
            )
        )


def _draw_running(case: Case, name: str, *, dense: bool) -> None:
    random = case.random
    queue = random.choice(case.queues)
    flavors: dict[str, str] = {}
    usage: dict[str, int] = {}
    for at, group in enumerate(queue.groups):
        if dense or random.random() < 0.75:
            others = [one for other in case.queues for one in other.groups[at].flavors]
            strays = random.random() < 0.08  # the queue had a quota of it when it was admitted
            one = random.choice(others if strays else group.flavors).flavor
            flavors |= dict.fromkeys(group.covered, one)
            usage |= {resource: random.choice([1, 1, 2, 3]) for resource in group.covered}
    if not usage:
        return
    since = float(random.randrange(1_000, 1_010))
    conditions = [condition(kind, kind, changed=since) for kind in ("QuotaReserved", "Admitted")]
    if random.random() < 0.12:
        conditions.append(condition("Evicted", "Preempted", changed=1_500.0))
    fact = workload(
        f"team/{name}",
        usage,
        uid=f"u{random.randrange(10**6)}-{name}",
        local_queue=f"team/{queue.name}{random.choice(['', '-x'])}",
        created=float(random.randrange(100)),
        priority=random.randint(-1, 3),
        conditions=conditions,
        admission=admission(queue.name, assignment(usage, flavors)),
    )
    case.running.append(fact)


def _draw_pending(case: Case, name: str, resources: list[str]) -> None:
    random = case.random
    queue = random.choice(case.queues)
    grouped = random.random() < 0.2
    pod_sets: list[PodSet] = []
    for number in range(random.choice([1, 1, 1, 2, 3])):
        asked = {one: random.choice([0, 1, 1, 2, 3]) for one in resources if one != "pods"}
        if random.random() < 0.06:
            asked["z"] = 1
        count = random.choice([1, 1, 2, 3])
        least = random.randint(1, count) if count > 1 and random.random() < 0.2 else None
        tolerations = (Toleration(operator="Exists"),) if random.random() < 0.5 else ()
        one = pod_set(asked, count, name=f"p{number}", min_count=least, tolerations=tolerations)
        pod_sets.append(replace(one, group="g" if grouped and number < 2 else None))
    case.pending.append(
        workload(
            f"team/{name}",
            uid=f"v{random.randrange(10**6)}-{name}",
            local_queue=f"team/{queue.name}{random.choice(['', '-x'])}",
            created=float(random.randrange(100)),
            priority=random.randint(0, 3),
            pod_sets=tuple(pod_sets),
        )
    )
