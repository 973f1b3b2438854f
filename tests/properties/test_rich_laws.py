"""The laws once more, in lives with credits, budgets, minimum runtimes and devices."""

from dataclasses import replace
from functools import partial
from itertools import product

import pytest
from typing_extensions import override

from queueing.core.credits.facts import CreditAccountFact, CreditPolicyFact
from queueing.core.decisions import Admit, Cycle, Reason, Wait
from queueing.core.facts import ClusterQueueFact
from tests.lives.happenings import lived, play
from tests.lives.living import LivingCluster
from tests.lives.random_events import Life
from tests.lives.random_riches import some_riches
from tests.lives.random_worlds import MODES, by_seed
from tests.properties.plain import held_together, quotas_of
from tests.properties.profiles import QUEUEING, Law, look_until, others_each_time, try_lives
from tests.properties.test_contended_laws import CASES
from tests.properties.test_promise_laws import nobody_is_evicted_twice_for_the_same_head
from tests.properties.test_rebuild_laws import (
    a_budget_changes_the_pace_only,
    nobody_waits_whom_a_new_engine_would_admit,
)
from tests.properties.test_shared_claim_laws import sharing
from tests.properties.test_usage_laws import as_admitted, is_told

FEW = CASES[1::9]
MANY = 6


def rich(seed: int, mode: str) -> Life:
    """Return the life of a number."""
    return some_riches(by_seed(seed), modes=[mode])


@pytest.mark.parametrize(("law", "mode"), FEW)
def test_laws_hold_where_time_and_the_past_count(law: Law, mode: str) -> None:
    try_lives(law, partial(rich, mode=mode), mode, [1])


BROKEN_ONCE = [
    pytest.param(
        nobody_is_evicted_twice_for_the_same_head,
        "fair sharing",
        1983258115,
        id="bent anew, shares give others the right",
    ),
    pytest.param(
        a_budget_changes_the_pace_only,
        "as Kueue",
        77000015,
        id="who runs beyond one budget takes nothing from another that does not block",
    ),
    *(
        pytest.param(nobody_waits_whom_a_new_engine_would_admit, mode, seed, id=words)
        for mode, seed, words in (
            ("taking turns", 1496368167, "who may not borrow in one flavor has quota in another"),
            ("classical", 2971717794, "and is sent there by others who take the first"),
            ("fair sharing", 3905287414, "an edit unbent weights"),
            ("taking turns", 1273024219, "beyond a budget nobody counts as bound"),
            ("taking turns", 24, "two who search by turns let a cycle end"),
            ("taking turns", 974662578, "balances bend weights in every second"),
            ("fair sharing", 5205, "so they do between three queues"),
            ("taking turns", 5184, "a minimum runtime was over before somebody came"),
            ("classical", 1410096811, "a victim that left had been released at its eviction"),
            ("classical", 7028, "a head that blocks its queue waits for another that did"),
        )
    ),
]
"""Lives in which a law once did not hold."""


@pytest.mark.parametrize(("law", "mode", "seed"), BROKEN_ONCE)
def test_lives_with_a_past_that_broke_a_law_once(law: Law, mode: str, seed: int) -> None:
    law(rich(seed, mode))


@pytest.mark.slow
@pytest.mark.parametrize(("law", "mode"), CASES)
def test_laws_hold_where_time_and_the_past_count_at_length(law: Law, mode: str) -> None:
    try_lives(law, partial(rich, mode=mode), mode, others_each_time(MANY))


class Restrained(LivingCluster):
    """A cluster that adds up, with every admission, what those hold who may not borrow."""

    @override
    def write(self, cycle: Cycle) -> None:
        if is_told(self):
            for queue in self.queues():
                self._add_up(queue, [one for one in cycle.decisions if isinstance(one, Admit)])
        super().write(cycle)

    def _add_up(self, queue: ClusterQueueFact, admitted: list[Admit]) -> None:
        memory = self.engine._memory
        rule = memory.credits.allowance and memory.credits.allowance.restraints.get(queue.name)
        charges = memory.ledger.charges.values()
        bound = [
            one.holder.key
            for one in charges
            if rule and one.holder.queue == queue.name and rule.concerns(one.holder.priority)
        ]
        new = {one.workload: one for one in admitted}
        before = [self.workloads[key] for key in bound if key not in new]
        let_in = [as_admitted(self.workloads[key], new[key]) for key in bound if key in new]
        held, after = held_together(before), held_together([*before, *let_in])
        nominal = quotas_of(queue.groups)
        for resource, amount in after.items():
            more = amount > held.get(resource, 0)
            most = nominal[resource].nominal if resource in nominal else 0
            assert not more or amount <= most, (queue.name, resource)


def who_may_not_borrow_stays_within_nominal_quota(life: Life) -> None:
    """By no admission do they hold more together than is nominal in their queue.

    What a claim counts as that several use is theirs as soon as one of them uses it: alone, when
    the others have ended.
    """
    cluster = Restrained.of(life)
    for step in life.steps:
        play(cluster, step)
        cluster.answer()
        cluster.cycle()


def restrained(seed: int, mode: str) -> Life:
    """Return a life in which some may not borrow, and claims are shared."""
    life = sharing(rich(seed, mode))
    terms = (
        replace(one, non_borrowing_min_priority=2) if isinstance(one, CreditPolicyFact) else one
        for one in life.terms
    )
    return replace(life, terms=tuple(terms))


@pytest.mark.parametrize("mode", QUEUEING)
def test_who_may_not_borrow_stays_within_nominal_quota(mode: str) -> None:
    who_may_not_borrow_stays_within_nominal_quota(restrained(1, mode))


@pytest.mark.slow
@pytest.mark.parametrize("mode", QUEUEING)
def test_who_may_not_borrow_stays_within_nominal_quota_at_length(mode: str) -> None:
    law, life_of = who_may_not_borrow_stays_within_nominal_quota, partial(restrained, mode=mode)
    try_lives(law, life_of, mode, others_each_time(MANY))


class Listening(LivingCluster):
    """A cluster that notes why others wait, and whose balances are not zero."""

    @override
    def write(self, cycle: Cycle) -> None:
        for one in cycle.decisions:
            if isinstance(one, Wait):
                self.seen[str(one.reason)] += 1
                self.seen["has no devices"] += "devices" in one.message
        super().write(cycle)
        accounts = (one for one in self.accounts if isinstance(one, CreditAccountFact))
        children = (child for one in accounts for child in one.children)
        self.seen["owes or is owed"] += any(child.balance for child in children)


def test_rich_lives_reach_what_time_and_the_past_decide() -> None:
    reasons = (Reason.BUDGET_EXHAUSTED, Reason.MAY_NOT_BORROW, Reason.WAITING_FOR_PREEMPTED)
    wanted = {**{str(one): 1 for one in reasons}, "has no devices": 1, "owes or is owed": 31}
    lives = (rich(seed, mode) for seed, mode in product(range(4), MODES))
    look_until(wanted, (lived(Listening, one).seen for one in lives))
