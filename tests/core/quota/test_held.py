"""Two columns of usage: what is held now follows the formulas of usage, and nothing else does."""

from hypothesis import given
from hypothesis import strategies as st

from queueing.core.flavor_quotas import Quota
from queueing.core.names import FlavorName, FlavorResource, QueueName, ResourceName
from queueing.core.quota.node import QuotaNode
from queueing.core.quota.tree import QuotaTree
from queueing.testing.builders import cluster_queue, cohort, quota
from queueing.testing.trees import check, picture

CPU = FlavorResource(FlavorName("default"), ResourceName("cpu"))
QUEUES = tuple(map(QueueName, ("a", "b", "d")))
COHORTS = ("top", "left")
PARENTS = {"top": None, "left": "top", "a": "left", "b": "left", "d": "top"}

LIMITS = st.none() | st.integers(0, 6)
QUOTAS = st.builds(
    lambda nominal, borrowing, lending: quota(nominal, borrowing=borrowing, lending=lending),
    st.integers(0, 9),
    LIMITS,
    LIMITS,
)
CHARGES = st.lists(st.tuples(st.sampled_from(QUEUES), st.integers(0, 7)), max_size=8)
Quotas = dict[str, Quota]
Charges = list[tuple[QueueName, int]]
WORLDS = st.fixed_dictionaries(dict.fromkeys((*COHORTS, *QUEUES), QUOTAS))


def put(tree: QuotaTree, quotas: Quotas) -> None:
    """Set the quotas of a root cohort without limits, of a cohort in it, and of three queues."""
    for name in COHORTS:
        own = quotas[name] if PARENTS[name] else quota(quotas[name].nominal)
        tree.put_cohort(cohort(name, PARENTS[name], quotas={"default": {"cpu": own}}))
    for name in QUEUES:
        tree.put_queue(
            cluster_queue(name, {"default": {"cpu": quotas[name]}}, cohort=PARENTS[name])
        )


def nodes(tree: QuotaTree) -> list[QuotaNode]:
    found = [tree.queue(name) for name in QUEUES]
    return [*found, found[0].root, *(one.parent for one in found if one.parent is not None)]


@given(before=WORLDS, after=WORLDS, charges=CHARGES, promises=CHARGES)
def test_held_is_the_usage_of_a_tree_that_is_charged_the_same_way(
    before: Quotas, after: Quotas, charges: Charges, promises: Charges
) -> None:
    tree, plain = QuotaTree(), QuotaTree()
    put(tree, before)
    put(plain, before)
    for queue, amount in charges:
        tree.hold(queue, {CPU: amount})
        plain.add_usage(queue, {CPU: amount})
    for queue, amount in promises:
        tree.add_usage(queue, {CPU: amount})
    for queue, amount in charges[::2]:
        tree.hold(queue, {CPU: amount}, -1)
        plain.remove_usage(queue, {CPU: amount})
    put(tree, after)
    put(plain, after)
    for mine, theirs in zip(nodes(tree), nodes(plain), strict=True):
        assert mine.cell(CPU).held == theirs.cell(CPU).usage
        assert mine.cell(CPU).available_now() == theirs.cell(CPU).available()
    check(tree)


@given(quotas=WORLDS, charges=CHARGES, promises=CHARGES)
def test_an_attempt_at_usage_leaves_what_is_held_as_it_is(
    quotas: Quotas, charges: Charges, promises: Charges
) -> None:
    tree = QuotaTree()
    put(tree, quotas)
    for queue, amount in charges:
        tree.hold(queue, {CPU: amount})
        tree.add_usage(queue, {CPU: amount})
    before, free = picture(tree), [one.cell(CPU).available() for one in nodes(tree)]
    with tree.attempt():
        for queue, amount in promises:
            tree.add_usage(queue, {CPU: amount})
        assert [one.cell(CPU).available_now() for one in nodes(tree)] == free
    assert picture(tree) == before
