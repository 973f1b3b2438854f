"""Laws of claims that several workloads use: charged once, whoever comes and goes, in any order."""

from dataclasses import replace
from functools import wraps

import pytest

from queueing.core.decisions import Wait
from queueing.core.devices import DeviceAsk
from queueing.core.entries import Ruling
from queueing.core.facts import Admission, WorkloadFact
from queueing.core.names import QueueName, ResourceName
from queueing.reports import queues as reports
from queueing.testing.invariants import check_invariants
from tests.lives.happenings import play
from tests.lives.living import LivingCluster
from tests.lives.random_events import Event, Life, Step
from tests.properties.plain import held_together
from tests.properties.profiles import AT_BOTH_LENGTHS, QUEUEING, Hold, Law, seeded
from tests.properties.test_contended_laws import contended
from tests.properties.test_preemption_laws import judgements, memories
from tests.properties.test_rebuild_laws import (
    nobody_waits_whom_a_new_engine_would_admit,
    the_order_of_arrival_is_irrelevant,
)
from tests.properties.test_rest_laws import all_that_ended_leaves_nothing, comes_to_rest
from tests.properties.test_usage_laws import an_admission_takes_only_what_was_available, holders_in

CPU = ResourceName("cpu")
CLAIMS = ("", "one", "one", "other")


def sharing(life: Life) -> Life:
    """Let most workloads ask for cores by one of a few claims."""
    steps = [_by_claims(step, at) for at, step in enumerate(life.steps)]
    return replace(life, steps=steps)


def shared(seed: int, mode: str) -> Life:
    """Return the life of a number, with claims that are shared."""
    return sharing(seeded(seed, mode))


def shared_in_deep_cohorts(seed: int, mode: str) -> Life:
    """Return the same in deep cohorts, where most borrow."""
    return sharing(contended(seed, mode))


def _by_claims(step: Step, at: int) -> Step:
    if isinstance(step, Event):
        return step
    pod_sets = []
    for place, one in enumerate(step.pod_sets):
        claim = CLAIMS[(at + place) % len(CLAIMS)]
        if claim and one.min_count is None and CPU in one.requests:
            asked = one.requests[CPU]
            ask = DeviceAsk(resource=CPU, shape=claim, units=asked, claim=claim)
            one = replace(one, devices=(ask,))
        pod_sets.append(one)
    return replace(step, pod_sets=tuple(pod_sets))


def a_claim_is_charged_once(life: Life) -> None:
    """What a queue is charged is what its workloads hold alone, and each claim at its largest."""
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        cluster.answer()
        check_invariants(cluster.engine)
        for queue in cluster.queues():
            view = reports.cluster_queue(cluster.engine.memory, queue.name)
            held = [one for one in cluster.workloads.values() if _holds_in(one, queue.name)]
            if view is not None and not cluster.untold and not _assumed(cluster):
                got = {one: used.total for one, used in view.reservation.items() if used.total}
                assert got == held_together(held)


def _holds_in(fact: WorkloadFact, queue: QueueName) -> bool:
    return fact.holds_quota and fact.admission is not None and fact.admission.cluster_queue == queue


def _assumed(cluster: LivingCluster) -> bool:
    charges = cluster.engine._memory.ledger.charges.values()
    return any(one.decision is not None for one in charges)


def nobody_preempts_one_whose_claim_it_uses(life: Life) -> None:
    """By that nothing would get free, as the claim is held on: by the one who preempts."""
    for _, memory in memories(life):
        for judgement in list(judgements(memory)):
            head, charges = judgement.head, memory.ledger.charges
            claims = head.demand.claims
            for one in judgement.preemptions if claims else ():
                victim = charges[one.workload].holder
                used = {(part.claim, part.resource) for part in victim.parts}
                wanted = {(claim, cell) for claim in claims for cell in judgement.entry.usage}
                same_queue = victim.queue == head.queue and not victim.evicted
                assert not same_queue or used.isdisjoint(wanted), victim.key


def who_adds_nothing_preempts_nobody(life: Life) -> None:
    """Not where quota was cut below what is used, either: whoever takes nothing needs no room."""
    for cluster, memory in memories(life):
        for judgement in list(judgements(memory)):
            if judgement.preemptions:
                assert _adds_something(cluster, judgement), judgement.head.workload.key


def _adds_something(cluster: LivingCluster, judgement: Ruling) -> bool:
    """Say whether those of its queue who stay would hold more if one were let in as it was judged.

    Those who only leave hand their claims to nobody who begins.
    """
    queue, decision = judgement.head.queue, judgement.decision
    assert isinstance(decision, Wait)
    held = [one for one in holders_in(cluster, queue) if not one.is_true("Evicted")]
    fact = judgement.head.workload
    let_in = replace(fact, admission=Admission(cluster_queue=queue, pod_sets=decision.nominated))
    return held_together([*held, let_in]) != held_together(held)


LAWS = [
    pytest.param(a_claim_is_charged_once, id="a claim is charged once"),
    pytest.param(an_admission_takes_only_what_was_available, id="only what was available"),
    pytest.param(nobody_preempts_one_whose_claim_it_uses, id="nobody preempts a partner"),
    pytest.param(who_adds_nothing_preempts_nobody, id="who adds nothing preempts nobody"),
    pytest.param(comes_to_rest, id="everything comes to rest"),
    pytest.param(all_that_ended_leaves_nothing, id="what ended leaves nothing"),
    pytest.param(nobody_waits_whom_a_new_engine_would_admit, id="nobody waits at rest"),
    pytest.param(the_order_of_arrival_is_irrelevant, id="the order is irrelevant"),
]


@AT_BOTH_LENGTHS
@pytest.mark.parametrize("mode", QUEUEING)
@pytest.mark.parametrize("law", LAWS)
def test_workloads_that_share(hold: Hold, law: Law, mode: str) -> None:
    @wraps(law)
    def shared_law(life: Life) -> None:
        law(sharing(life))

    hold(shared_law, mode)


def test_who_shares_a_claim_lacks_only_what_it_adds() -> None:
    """Once it waited for the whole of what it asks."""
    nobody_waits_whom_a_new_engine_would_admit(shared(1434728205, "classical"))


def test_a_preemptor_hears_that_the_queue_of_its_victims_is_inactive() -> None:
    """In this life one went on waiting for a victim that nobody may preempt any more."""
    nobody_waits_whom_a_new_engine_would_admit(shared(701175834, "taking turns"))


def test_who_shared_a_claim_with_one_that_ended_may_be_preempted_alone() -> None:
    """In this life nobody who waits for a victim heard of that."""
    nobody_waits_whom_a_new_engine_would_admit(shared(2914224509, "classical"))


def test_who_shares_a_claim_with_one_just_admitted_is_preempted_by_nobody_alone() -> None:
    """In this life an engine that judged somebody after that admission did so."""
    nobody_waits_whom_a_new_engine_would_admit(shared_in_deep_cohorts(1347365688, "fair sharing"))


@pytest.mark.parametrize("mode", ["classical", "taking turns"])
def test_who_asks_less_of_a_claim_than_it_is_charged_preempts_no_partner(mode: str) -> None:
    """In this life it was judged as if nobody held the claim, and preempted who did."""
    nobody_preempts_one_whose_claim_it_uses(shared(1517970422, mode))


@pytest.mark.parametrize("mode", QUEUEING)
def test_who_adds_nothing_preempts_nobody_where_more_is_used_than_there_is(mode: str) -> None:
    """In these lives one made room for what was used beyond a quota that was cut."""
    for seed in (12, 14):
        who_adds_nothing_preempts_nobody(shared_in_deep_cohorts(seed, mode))


def test_who_shared_a_claim_with_one_that_is_done_may_be_preempted_alone() -> None:
    nobody_waits_whom_a_new_engine_would_admit(shared(3359801799, "classical"))
