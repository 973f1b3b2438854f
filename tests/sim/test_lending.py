from dataclasses import replace
from fractions import Fraction

from queueing.core.facts import ClusterQueueFact, CohortFact
from queueing.core.flavor_quotas import FlavorQuotas, Quota, ResourceGroup
from queueing.core.names import CohortName, FlavorName, FlavorResource, QueueName, ResourceName
from queueing.sim.lending import QuotaBalance, balance

CPU = FlavorResource(FlavorName("default"), ResourceName("cpu"))


def group(nominal: int, lending: int | None = None) -> tuple[ResourceGroup, ...]:
    quota = Quota(nominal=nominal, lending_limit=lending)
    flavors = FlavorQuotas(flavor=CPU.flavor, quotas=((CPU.resource, quota),))
    return (ResourceGroup(covered=(CPU.resource,), flavors=(flavors,)),)


def queue(
    name: str, nominal: int, cohort: str | None = "pool", lending: int | None = None
) -> ClusterQueueFact:
    parent = CohortName(cohort) if cohort else None
    return ClusterQueueFact(name=QueueName(name), cohort=parent, groups=group(nominal, lending))


def use(**amounts: int) -> dict[str, dict[FlavorResource, int]]:
    return {name: {CPU: amount} for name, amount in amounts.items()}


def test_the_one_lender_has_lent_what_was_borrowed() -> None:
    ledger = balance([queue("a", 4), queue("b", 10)], [], usage=use(a=6, b=1))
    assert ledger.queues["a"][CPU] == QuotaBalance(nominal=4, used=6, borrowed=2, lent=0)
    assert ledger.queues["b"][CPU] == QuotaBalance(nominal=10, used=1, borrowed=0, lent=2)
    assert ledger.cohorts["pool"][CPU] == QuotaBalance(nominal=14, used=7, borrowed=0, lent=0)


def test_lenders_are_charged_in_proportion_to_what_they_have_left() -> None:
    ledger = balance([queue("a", 0), queue("b", 2), queue("c", 4)], [], usage=use(a=4))
    assert ledger.queues["b"][CPU].lent == 1
    assert ledger.queues["c"][CPU].lent == 3


def test_what_a_lending_limit_keeps_is_never_lent() -> None:
    ledger = balance([queue("a", 0), queue("b", 8, lending=2), queue("c", 2)], [], usage=use(a=4))
    assert ledger.queues["b"][CPU].lent == 2
    assert ledger.queues["c"][CPU].lent == 2


def test_a_cohort_covers_its_own_members_before_it_borrows() -> None:
    cohorts = [
        CohortFact(name=CohortName("left"), parent=CohortName("org")),
        CohortFact(name=CohortName("right"), parent=CohortName("org")),
    ]
    queues = [queue("a", 4, "left"), queue("sibling", 2, "left"), queue("far", 9, "right")]
    ledger = balance(queues, cohorts, usage=use(a=9))
    assert ledger.queues["sibling"][CPU].lent == 2
    assert ledger.cohorts["left"][CPU].borrowed == 3
    assert ledger.queues["far"][CPU].lent == 3


def test_quota_of_the_cohort_itself_bears_its_part() -> None:
    pool = CohortFact(name=CohortName("pool"), groups=group(6))
    ledger = balance([queue("a", 0), queue("b", 6)], [pool], usage=use(a=6))
    assert ledger.queues["b"][CPU].lent == 3


def test_a_queue_without_a_cohort_neither_borrows_nor_lends() -> None:
    ledger = balance([queue("a", 4, None)], [], usage=use(a=6))
    assert ledger.queues["a"][CPU] == QuotaBalance(nominal=4, used=6, borrowed=0, lent=0)
    assert ledger.cohorts == {}


def test_cohorts_that_are_only_named_and_those_without_members_are_listed() -> None:
    lonely = CohortFact(name=CohortName("lonely"), groups=group(3))
    ledger = balance([queue("a", 1)], [lonely], usage={})
    assert ledger.cohorts["lonely"][CPU].nominal == 3
    assert ledger.cohorts["pool"][CPU].nominal == 1


def test_shares_are_told_as_statuses_show_them_with_fair_sharing() -> None:
    """2.10: 1 of 3 borrowed is 333.3 thousandths, rounded up, and divided by the weight."""
    queues = [queue("a", 1), replace(queue("b", 0), fair_weight=Fraction(2))]
    ledger = balance([*queues, queue("c", 2)], [], usage=use(a=2, b=1))
    assert ledger.queue_shares == {"a": 334, "b": 167, "c": 0}
    assert ledger.cohort_shares == {"pool": 0}
