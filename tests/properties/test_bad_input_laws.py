"""Laws of bad input: whatever an object says, nothing raises and nobody else's usage changes."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from queueing.core.facts import (
    Admission,
    CheckPhase,
    CheckState,
    ClusterQueueFact,
    CohortFact,
    Condition,
    Fact,
    LocalQueueFact,
    PodSetAssignment,
    WorkloadFact,
)
from queueing.core.flavor_quotas import Quota
from queueing.core.names import (
    CheckName,
    CohortName,
    FlavorName,
    Key,
    PodSetName,
    QueueName,
    ResourceName,
)
from queueing.reports import queues as reports
from queueing.testing.invariants import check_invariants
from tests.lives.happenings import play
from tests.lives.living import LivingCluster
from tests.lives.random_events import GENTLE, Life
from tests.lives.random_worlds import MODES
from tests.properties.plain import held_together
from tests.properties.profiles import AT_BOTH_LENGTHS, Hold, Law
from tests.properties.test_usage_laws import holders_in, is_told

GHOST = "ghost"
CHECK = CheckName(GHOST)
HUGE = 2**80


def _with_quota(fact: ClusterQueueFact, quota: Quota) -> ClusterQueueFact:
    group = fact.groups[0]
    first = group.flavors[0]
    flavors = (
        replace(first, quotas=tuple((name, quota) for name, _ in first.quotas)),
        *group.flavors[1:],
    )
    return replace(fact, groups=(replace(group, flavors=flavors), *fact.groups[1:]))


def _holding(fact: WorkloadFact, queue: str, flavor: str, pods: str = "main") -> WorkloadFact:
    cpu = ResourceName("cpu")
    assigned = PodSetAssignment(
        name=PodSetName(pods), count=0, flavors={cpu: FlavorName(flavor)}, usage={cpu: 3}
    )
    reserved = Condition(type="QuotaReserved", status=True)
    return replace(
        fact,
        admission=Admission(cluster_queue=QueueName(queue), pod_sets=(assigned,)),
        conditions={**fact.conditions, "QuotaReserved": reserved},
    )


QUEUES: tuple[Callable[[ClusterQueueFact], Fact], ...] = (
    lambda fact: replace(fact, groups=()),
    lambda fact: replace(fact, misconfigured="cannot be used"),
    lambda fact: replace(fact, cohort=CohortName(GHOST)),
    lambda fact: replace(fact, groups=fact.groups * 2),
    lambda fact: _with_quota(fact, Quota(nominal=HUGE, borrowing_limit=HUGE, lending_limit=HUGE)),
    lambda fact: _with_quota(fact, Quota(nominal=0, borrowing_limit=0, lending_limit=HUGE)),
    lambda fact: replace(fact, namespace_selector=None),
)
COHORTS: tuple[Callable[[CohortFact], Fact], ...] = (
    lambda fact: replace(fact, parent=fact.name),
    lambda fact: replace(fact, parent=CohortName("deep")),
    lambda fact: replace(fact, parent=CohortName(GHOST)),
)
DOORS: tuple[Callable[[LocalQueueFact], Fact], ...] = (
    lambda fact: replace(fact, cluster_queue=QueueName(GHOST)),
    lambda fact: replace(fact, deleting=True),
)
WORKLOADS: tuple[Callable[[WorkloadFact], Fact], ...] = (
    lambda fact: replace(fact, pod_sets=()),
    lambda fact: replace(fact, local_queue=None),
    lambda fact: replace(fact, local_queue=Key("nowhere/none")),
    lambda fact: _holding(fact, GHOST, "default"),
    lambda fact: _holding(fact, "a", GHOST),
    lambda fact: _holding(fact, "a", "default", pods=GHOST),
    lambda fact: replace(fact, admission=None, conditions=_holding(fact, "a", "spot").conditions),
    lambda fact: replace(fact, reclaimable={PodSetName("main"): 99, PodSetName(GHOST): 1}),
    lambda fact: replace(
        fact, pod_sets=tuple(replace(one, count=0, min_count=9) for one in fact.pod_sets)
    ),
    lambda fact: replace(fact, conditions={}),
    lambda fact: replace(fact, checks=(CheckState(name=CHECK, state=CheckPhase.REJECTED),)),
    lambda fact: replace(fact, checks=(CheckState(name=CHECK, state=CheckPhase.RETRY),)),
    lambda fact: replace(
        fact, conditions={**fact.conditions, "Admitted": Condition(type="Admitted", status=True)}
    ),
    lambda fact: replace(
        fact, conditions={**fact.conditions, "Evicted": Condition(type="Evicted", status=True)}
    ),
    lambda fact: replace(fact, priority=HUGE, created=-1.0, requeue_at=1e18),
    lambda fact: replace(fact, misconfigured="cannot be used"),
)


def broken(fact: Fact, random: Random) -> Fact | None:
    """Return an object as nobody should write it; None when nothing of it can be broken."""
    match fact:
        case ClusterQueueFact() if fact.groups:
            return random.choice(QUEUES)(fact)
        case CohortFact():
            return random.choice(COHORTS)(fact)
        case LocalQueueFact():
            return random.choice(DOORS)(fact)
        case WorkloadFact():
            return random.choice(WORKLOADS)(fact)
        case _:
            return None


def assert_everybody_is_charged_for_what_is_held(cluster: LivingCluster) -> None:
    """See that usage is what statuses say; a write of which nobody knows the end stays charged."""
    if not is_told(cluster):
        return
    for queue in cluster.queues():
        view = reports.cluster_queue(cluster.engine.memory, queue.name)
        assert view is not None
        got = {one: charged.total for one, charged in view.reservation.items() if charged.total}
        assert got == held_together(holders_in(cluster, queue.name))


def a_broken_object_harms_nobody_else(life: Life) -> None:
    cluster = LivingCluster.of(life)
    random = Random(len(life.steps))
    for step in life.steps:
        play(cluster, step)
        found = random.choice(cluster.facts())
        bad = broken(found, random)
        if bad is not None:
            cluster.put(bad)
        for _ in range(2):
            cluster.cycle()
            check_invariants(cluster.engine)
            assert_everybody_is_charged_for_what_is_held(cluster)
        if bad is not None and random.random() < 0.5:
            cluster.put(found)
            cluster.cycle()
            check_invariants(cluster.engine)
            assert_everybody_is_charged_for_what_is_held(cluster)


LAWS = [pytest.param(a_broken_object_harms_nobody_else, id="a broken object harms nobody else")]


@AT_BOTH_LENGTHS
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("law", LAWS)
def test_bad_input(hold: Hold, law: Law, mode: str) -> None:
    hold(law, mode, GENTLE)
