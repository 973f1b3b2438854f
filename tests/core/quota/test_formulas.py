"""The numbers of the quota tree: lending, borrowing, availability, heights."""

import pytest

from queueing.core.facts import ClusterQueueFact, CohortFact
from queueing.core.names import CohortName, FlavorName, FlavorResource, QueueName, ResourceName
from queueing.core.quota.node import QuotaNode
from queueing.core.quota.tree import QuotaTree
from queueing.testing.builders import cluster_queue, cohort, quota

CPU = FlavorResource(FlavorName("default"), ResourceName("cpu"))


def tree_of(*facts: ClusterQueueFact | CohortFact) -> QuotaTree:
    tree = QuotaTree()
    for fact in facts:
        if isinstance(fact, ClusterQueueFact):
            tree.put_queue(fact)
        else:
            tree.put_cohort(fact)
    return tree


def queue(name: str, nominal: int, cohort: str | None = None, **limits: int) -> ClusterQueueFact:
    return cluster_queue(name, {"default": {"cpu": quota(nominal, **limits)}}, cohort=cohort)


def use(tree: QuotaTree, **usage: int) -> None:
    for name, amount in usage.items():
        tree.add_usage(QueueName(name), {CPU: amount})


def node(tree: QuotaTree, name: str) -> QuotaNode:
    return tree.queue(QueueName(name))


def root(tree: QuotaTree, name: str) -> QuotaNode:
    found = tree.cohort(CohortName(name))
    assert found is not None
    return found


def test_a_lone_queue_has_its_nominal_quota() -> None:
    tree = tree_of(queue("a", 10))
    use(tree, a=4)
    assert (node(tree, "a").available(CPU), node(tree, "a").cell(CPU).potential()) == (6, 10)


def test_a_queue_borrows_what_the_others_leave() -> None:
    tree = tree_of(queue("a", 10, "c"), queue("b", 5, "c"))
    use(tree, a=12, b=1)
    assert node(tree, "a").available(CPU) == 2
    assert node(tree, "b").available(CPU) == 2
    assert node(tree, "a").borrows([CPU])


@pytest.mark.parametrize(
    ("limits", "used", "available", "potential"),
    [
        pytest.param({}, 0, 20, 20, id="no limit: all of the cohort"),
        pytest.param({"borrowing": 3}, 0, 13, 13, id="a borrowing limit binds"),
        pytest.param({"borrowing": 3}, 11, 2, 13, id="what is borrowed counts against the limit"),
        pytest.param({"borrowing": 0}, 0, 10, 10, id="no borrowing at all"),
        pytest.param({"lending": 4}, 0, 20, 20, id="the lender itself loses nothing"),
        pytest.param(
            {"borrowing": 3, "lending": 4}, 7, 6, 13, id="local first, then up to the limit"
        ),
    ],
)
def test_limits_of_the_borrower(
    limits: dict[str, int], used: int, available: int, potential: int
) -> None:
    tree = tree_of(queue("a", 10, "c", **limits), queue("b", 10, "c"))
    use(tree, a=used)
    assert node(tree, "a").available(CPU) == available
    assert node(tree, "a").cell(CPU).potential() == potential


def test_only_up_to_the_lending_limit_is_lent() -> None:
    tree = tree_of(queue("a", 10, "c", lending=4), queue("b", 10, "c"))
    assert node(tree, "b").cell(CPU).potential() == 14
    use(tree, a=8)
    assert root(tree, "c").cell(CPU).usage == 2
    assert node(tree, "b").available(CPU) == 12


def test_a_cohort_may_lend_more_than_its_own_nominal() -> None:
    tree = tree_of(
        cohort("mid", "top", quotas={"default": {"cpu": quota(2, lending=9)}}),
        queue("a", 10, "mid"),
        queue("b", 0, "top"),
    )
    assert root(tree, "mid").cell(CPU).quota == 12
    assert node(tree, "b").cell(CPU).potential() == 9
    assert node(tree, "a").available(CPU) == 12


def test_a_quota_cut_leaves_the_cohort_negative_and_the_queue_at_zero() -> None:
    tree = tree_of(queue("a", 10, "c"))
    use(tree, a=8)
    tree.put_queue(queue("a", 5, "c"))
    assert root(tree, "c").available(CPU) == -3
    assert node(tree, "a").available(CPU) == 0


def test_borrowing_climbs_only_as_high_as_it_must() -> None:
    tree = tree_of(
        cohort("left", "top"),
        cohort("right", "top"),
        queue("a", 4, "left"),
        queue("b", 4, "left"),
        queue("c", 4, "right"),
    )
    fits = node(tree, "a").cell(CPU).height_of_fit
    assert [fits(4), fits(8), fits(12), fits(13)] == [
        (0, True),
        (1, True),
        (2, False),
        (2, False),
    ]


def test_a_lone_queue_never_borrows() -> None:
    tree = tree_of(queue("a", 4))
    assert node(tree, "a").cell(CPU).height_of_fit(99) == (0, False)


def test_a_resource_without_quota_has_none() -> None:
    tree = tree_of(queue("a", 4, "c"))
    gpu = FlavorResource(FlavorName("default"), ResourceName("gpu"))
    assert node(tree, "a").available(gpu) == 0
    assert node(tree, "a").borrowing_with(gpu, 1)
    assert list(node(tree, "a").resources()) == [CPU]


def test_a_path_starts_at_the_root() -> None:
    tree = tree_of(cohort("mid", "top"), queue("a", 1, "mid"))
    assert node(tree, "a").path() == "/top/mid/a"
