"""Laws of usage: it is what workloads hold, and never more than the tree allowed."""

import pytest
from typing_extensions import override

from queueing.core.decisions import Admit, Cycle, Preempt
from queueing.core.names import CohortName, Key, QueueName
from queueing.core.settings import Compatibility
from queueing.core.usage import assigned_usage, held_usage
from queueing.testing.happenings import play
from queueing.testing.living import LivingCluster
from queueing.testing.random_events import Life
from queueing.testing.random_worlds import MODES
from tests.properties.plain import Forest
from tests.properties.profiles import Law, hold, hold_at_length


def forest_of(cluster: LivingCluster) -> Forest:
    """Return what is stored, as a tree in which every queue holds what its workloads hold."""
    forest = Forest(cluster.facts())
    for fact in cluster.workloads.values():
        if fact.holds_quota and fact.admission is not None:
            forest.hold(fact.admission.cluster_queue, held_usage(fact))
    return forest


def is_told(cluster: LivingCluster) -> bool:
    """Say whether the engine knows all that is stored."""
    return not cluster.untold and not cluster.unanswered


def assert_usage_is_the_sum(cluster: LivingCluster) -> None:
    forest, engine = forest_of(cluster), cluster.engine
    cohorts = {*forest.cohorts, *(one.cohort for one in forest.queues.values())} - {None}
    rings = {one for one in cohorts if one is not None and forest.in_a_ring(one)}
    for resource in forest.resources():
        for name in forest.queues:
            view, node = engine.cluster_queue(QueueName(name)), forest.queue(name, resource)
            assert view is not None
            shown = view.reservation.get(resource)
            got = (0, 0) if shown is None else (shown.total, shown.borrowed)
            more = max(0, node.held - node.subtree())
            borrowed = 0 if forest.queues[name].cohort is None else more
            assert got == (node.held, borrowed), (name, resource)
        for cohort in cohorts - rings:
            whole = engine.cohort(CohortName(str(cohort)))
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
        cluster.engine.check()
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
        admitted = {
            key: (fact.admission.cluster_queue, held_usage(fact))
            for key, fact in self.workloads.items()
            if fact.holds_quota and fact.admission is not None
        }
        gone: set[Key] = set()
        for decision in cycle.decisions:
            if isinstance(decision, Admit):
                usage = assigned_usage(decision.pod_sets)
                for resource, amount in usage.items():
                    free = max(0, forest.queue(decision.cluster_queue, resource).available())
                    assert amount <= free, f"{decision.workload} takes {amount} of {free}"
                forest.hold(decision.cluster_queue, usage)
                admitted[decision.workload] = decision.cluster_queue, usage
            elif isinstance(decision, Preempt) and decision.workload not in gone:
                # As Kueue does, a cycle may admit into the room that its victims will leave; also
                # that of one whom an earlier round of it admitted.
                held = admitted.get(decision.workload)
                if held is not None and self.settings.compatibility is Compatibility.KUEUE:
                    gone.add(decision.workload)
                    forest.hold(*held, -1)


def an_admission_takes_only_what_was_available(life: Life) -> None:
    cluster = Watched.of(life)
    for step in life.steps:
        play(cluster, step)
        cluster.cycle()


LAWS = [
    pytest.param(usage_is_the_sum_of_live_reservations_at_every_node, id="the sum at every node"),
    pytest.param(an_admission_takes_only_what_was_available, id="only what was available"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("law", LAWS)
def test_usage(law: Law, mode: str) -> None:
    hold(law, mode)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("law", LAWS)
def test_usage_at_length(law: Law, mode: str) -> None:
    hold_at_length(law, mode)
