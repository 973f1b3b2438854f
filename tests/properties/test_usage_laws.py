"""Laws of usage: it is what workloads hold, and never more than the tree allowed."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from typing_extensions import override

from queueing.core.decisions import Admit, Cycle, Preempt
from queueing.core.facts import Admission, Condition, WorkloadFact
from queueing.core.names import CohortName, FlavorResource, Key, QueueName
from queueing.core.settings import Compatibility
from queueing.reports import queues as reports
from queueing.testing.invariants import check_invariants
from tests.lives.happenings import play
from tests.lives.living import LivingCluster
from tests.lives.random_events import Life
from tests.lives.random_worlds import MODES
from tests.properties.plain import Forest, held_together
from tests.properties.profiles import AT_BOTH_LENGTHS, Hold, Law

Held = Mapping[Key, WorkloadFact]


def forest_of(cluster: LivingCluster) -> Forest:
    """Return what is stored, as a tree in which every queue holds what its workloads hold."""
    forest = Forest(cluster.facts())
    for name in forest.queues:
        forest.hold(name, held_together(holders_in(cluster, QueueName(name))))
    return forest


def holders_in(cluster: LivingCluster, queue: QueueName) -> list[WorkloadFact]:
    """Return who holds quota of a queue."""
    held = {key: one for key, one in cluster.workloads.items() if one.holds_quota}
    return _held_in(held, queue)


def is_told(cluster: LivingCluster) -> bool:
    """Say whether the engine knows all that is stored."""
    return not (cluster.untold or cluster.unanswered or cluster.held_back)


def assert_usage_is_the_sum(cluster: LivingCluster) -> None:
    forest, engine = forest_of(cluster), cluster.engine
    cohorts = {*forest.cohorts, *(one.cohort for one in forest.queues.values())} - {None}
    rings = {one for one in cohorts if one is not None and forest.in_a_ring(one)}
    for resource in forest.resources():
        for name in forest.queues:
            view = reports.cluster_queue(engine.memory, QueueName(name))
            node = forest.queue(name, resource)
            assert view is not None
            shown = view.reservation.get(resource)
            got = (0, 0) if shown is None else (shown.total, shown.borrowed)
            more = max(0, node.held - node.subtree())
            borrowed = 0 if forest.queues[name].cohort is None else more
            assert got == (node.held, borrowed), (name, resource)
        for cohort in cohorts - rings:
            whole = reports.cohort(engine.memory, CohortName(str(cohort)))
            above = forest.nodes(resource).get(f"cohort {cohort}")
            assert above is None or whole is not None
            if above is not None and whole is not None:
                charged = whole.usage.get(resource)
                total = 0 if charged is None else charged.total
                assert total == above.usage(), (cohort, resource)
                assert whole.quota.get(resource, 0) == above.subtree(), (cohort, resource)


def usage_is_the_sum_of_live_reservations_at_every_node(life: Life) -> None:
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        check_invariants(cluster.engine)
        if is_told(cluster):
            assert_usage_is_the_sum(cluster)
    cluster.answer()
    assert_usage_is_the_sum(cluster)


class Watched(LivingCluster):
    """A cluster that holds every admission against the tree as it was at that time."""

    @override
    def write(self, cycle: Cycle) -> None:
        if is_told(self):
            self._hold_against_the_tree(cycle)
        super().write(cycle)

    def _hold_against_the_tree(self, cycle: Cycle) -> None:
        forest = forest_of(self)
        held = {key: fact for key, fact in self.workloads.items() if fact.holds_quota}
        gone: set[Key] = set()
        for decision in cycle.decisions:
            key = decision.workload
            if isinstance(decision, Admit):
                after = {**held, key: as_admitted(self.workloads[key], decision)}
                for resource, amount in _more(held, after, decision.cluster_queue).items():
                    free = max(0, forest.queue(decision.cluster_queue, resource).available())
                    assert amount <= free, f"{key} takes {amount} of {free}"
            elif isinstance(decision, Preempt) and key not in gone and key in held:
                # As Kueue does, a cycle may admit into the room that its victims will leave; also
                # that of one whom an earlier round of it admitted.
                if self.settings.compatibility is not Compatibility.KUEUE:
                    continue
                gone.add(key)
                after = {name: fact for name, fact in held.items() if name != key}
            else:
                continue
            for name in forest.queues:
                forest.hold(name, _more(held, after, name))
            held = after


def as_admitted(fact: WorkloadFact, decision: Admit) -> WorkloadFact:
    reserved = Condition(type="QuotaReserved", status=True)
    admission = Admission(cluster_queue=decision.cluster_queue, pod_sets=decision.pod_sets)
    return replace(
        fact, admission=admission, conditions={**fact.conditions, "QuotaReserved": reserved}
    )


def _more(before: Held, after: Held, queue: str) -> dict[FlavorResource, int]:
    """Return by how much more a queue is charged, less where it is negative."""
    had, has = (held_together(_held_in(some, queue)) for some in (before, after))
    amounts = {one: has.get(one, 0) - had.get(one, 0) for one in {**had, **has}}
    return {one: amount for one, amount in amounts.items() if amount}


def _held_in(held: Held, queue: str) -> list[WorkloadFact]:
    return [one for one in held.values() if one.admission and one.admission.cluster_queue == queue]


def an_admission_takes_only_what_was_available(life: Life) -> None:
    cluster = Watched.of(life)
    for step in life.steps:
        play(cluster, step)
        cluster.cycle()


LAWS = [
    pytest.param(usage_is_the_sum_of_live_reservations_at_every_node, id="the sum at every node"),
    pytest.param(an_admission_takes_only_what_was_available, id="only what was available"),
]


@AT_BOTH_LENGTHS
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("law", LAWS)
def test_usage(hold: Hold, law: Law, mode: str) -> None:
    hold(law, mode)
