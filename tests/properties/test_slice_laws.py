"""Laws of elastic jobs: their slices are charged once, whoever grows, shrinks, leaves or ends."""

from collections.abc import Iterable
from dataclasses import replace
from functools import wraps

import pytest
from typing_extensions import override

from queueing.core.decisions import Admit, Cycle, Preempt
from queueing.core.facts import PodSetAssignment, WorkloadFact
from queueing.core.names import FlavorResource, Key
from queueing.reports import queues as reports
from queueing.testing.invariants import check_invariants
from tests.lives.happenings import play
from tests.lives.living import LivingCluster
from tests.lives.random_events import Event, Life, Step
from tests.lives.random_worlds import MODES
from tests.properties.profiles import AT_BOTH_LENGTHS, QUEUEING, Hold, Law, seeded
from tests.properties.test_preemption_laws import judgements, memories
from tests.properties.test_rebuild_laws import (
    nobody_waits_whom_a_new_engine_would_admit,
    the_order_of_arrival_is_irrelevant,
)
from tests.properties.test_rest_laws import all_that_ended_leaves_nothing, comes_to_rest
from tests.properties.test_usage_laws import (
    an_admission_takes_only_what_was_available,
    holders_in,
    is_told,
)

JOBS = ("", "red", "red", "blue")


def sliced(life: Life) -> Life:
    """Let most workloads be slices of a few elastic jobs, some of which become smaller."""
    return replace(life, steps=[_sliced(step, at) for at, step in enumerate(life.steps)])


def _sliced(step: Step, at: int) -> Step:
    if isinstance(step, Event):
        return replace(step, kind="shrink") if step.kind == "reclaim" and at % 2 else step
    job = JOBS[at % len(JOBS)]
    if not job:
        return step
    pod_sets = tuple(replace(one, min_count=None) for one in step.pod_sets)
    # A slice is another in another size, so those of a job have as many pod sets.
    return replace(step, slice_of=f"{job}-{len(pod_sets)}", pod_sets=pod_sets)


def charged(held: Iterable[WorkloadFact]) -> dict[FlavorResource, int]:
    """Count what workloads of one queue hold: of the slices of a job, as much as the largest."""
    total: dict[FlavorResource, int] = {}
    largest: dict[tuple[str, FlavorResource], int] = {}
    for fact in held:
        for resource, amount in _alone(fact).items():
            key = fact.slice_of or fact.uid, resource
            largest[key] = max(largest.get(key, 0), amount)
    for (_, resource), amount in largest.items():
        total[resource] = total.get(resource, 0) + amount
    return {one: amount for one, amount in total.items() if amount}


def _alone(fact: WorkloadFact) -> dict[FlavorResource, int]:
    found: dict[FlavorResource, int] = {}
    assigned = fact.admission.pod_sets if fact.admission is not None else ()
    for one in assigned:
        for resource, amount in one.usage.items():
            key = FlavorResource(one.flavors[resource], resource)
            found[key] = found.get(key, 0) + min(amount, _for_those_left(fact, one, amount))
    return found


def _for_those_left(fact: WorkloadFact, one: PodSetAssignment, amount: int) -> int:
    """Return what the pods are charged that a pod set still has, each for a whole share."""
    spec = {two.name: two for two in fact.pod_sets}.get(one.name)
    if spec is None or not one.count or not (fact.slice_of or one.name in fact.reclaimable):
        return amount
    left = max(spec.count - fact.reclaimable.get(one.name, 0), 0)
    return -(-amount // one.count) * left


def slices_are_charged_once(life: Life) -> None:
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        cluster.answer()
        check_invariants(cluster.engine)
        for queue in cluster.queues():
            view = reports.cluster_queue(cluster.engine.memory, queue.name)
            if view is not None and is_told(cluster) and not _assumed(cluster):
                got = {one: used.total for one, used in view.reservation.items() if used.total}
                assert got == charged(holders_in(cluster, queue.name))


def _assumed(cluster: LivingCluster) -> bool:
    charges = cluster.engine._memory.ledger.charges.values()
    return any(one.decision is not None for one in charges)


class Watched(LivingCluster):
    """Compares the flavors of each slice that is admitted with those of its job's other slices."""

    settled: frozenset[Key] = frozenset()
    """Workloads of which the engine knows all that is stored."""

    @override
    def cycle(self, budget: int | None = None) -> Cycle:
        before = dict(self.workloads)
        found = super().cycle(budget)
        for decision in found.decisions:
            if isinstance(decision, Admit):
                self._compare(decision, before)
            elif isinstance(decision, Preempt):
                before.pop(decision.workload, None)  # it goes: others need not be as it was
        return found

    def _compare(self, admit: Admit, before: dict[Key, WorkloadFact]) -> None:
        mine = before[admit.workload]
        for other in before.values():
            known = other.admission
            same_job = mine.slice_of and other.slice_of == mine.slice_of
            if not same_job or known is None or known.cluster_queue != admit.cluster_queue:
                continue
            if not other.holds_quota or other.is_true("Evicted") or other.key not in self.settled:
                continue
            for one, two in zip(admit.pod_sets, known.pod_sets, strict=False):
                both = one.flavors.keys() & two.flavors.keys()
                assert all(one.flavors[name] == two.flavors[name] for name in both)


def slices_of_a_job_have_the_same_flavors(life: Life) -> None:
    cluster = Watched.of(life)
    for step in life.steps:
        play(cluster, step)
        told = is_told(cluster) and not cluster.engine._memory.ledger.evicting
        cluster.settled = frozenset(cluster.workloads) if told else frozenset()
        cluster.cycle()
        cluster.settled = frozenset()


def no_slice_preempts_another_of_its_job(life: Life) -> None:
    for _, memory in memories(life):
        for judgement in list(judgements(memory)):
            head, charges = judgement.head, memory.ledger.charges
            for one in judgement.preemptions if head.workload.slice_of else ():
                victim = memory.workloads[one.workload]
                evicted = charges[one.workload].holder.evicted
                same_queue = one.cluster_queue == head.queue and not evicted
                assert not same_queue or victim.slice_of != head.workload.slice_of


EVERYWHERE = [
    pytest.param(slices_are_charged_once, id="charged once"),
    pytest.param(an_admission_takes_only_what_was_available, id="only what was available"),
    pytest.param(slices_of_a_job_have_the_same_flavors, id="the same flavors"),
    pytest.param(no_slice_preempts_another_of_its_job, id="nobody preempts itself"),
]
AT_REST = [
    pytest.param(comes_to_rest, id="everything comes to rest"),
    pytest.param(all_that_ended_leaves_nothing, id="what ended leaves nothing"),
    pytest.param(nobody_waits_whom_a_new_engine_would_admit, id="nobody waits at rest"),
    pytest.param(the_order_of_arrival_is_irrelevant, id="the order is irrelevant"),
]


def _hold(hold: Hold, law: Law, mode: str) -> None:
    @wraps(law)
    def of_slices(life: Life) -> None:
        law(sliced(life))

    hold(of_slices, mode)


@AT_BOTH_LENGTHS
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("law", EVERYWHERE)
def test_slices(hold: Hold, law: Law, mode: str) -> None:
    _hold(hold, law, mode)


@pytest.mark.parametrize(
    ("mode", "seed"),
    [("as Kueue", 1080), ("taking turns", 2420715202), ("fair sharing", 1115865038)],
)
def test_lives_in_which_slices_seemed_to_have_two_flavors(mode: str, seed: int) -> None:
    slices_of_a_job_have_the_same_flavors(sliced(seeded(seed, mode)))


@AT_BOTH_LENGTHS
@pytest.mark.parametrize("mode", QUEUEING)
@pytest.mark.parametrize("law", AT_REST)
def test_slices_in_the_end(hold: Hold, law: Law, mode: str) -> None:
    _hold(hold, law, mode)
