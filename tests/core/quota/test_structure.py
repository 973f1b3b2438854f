"""Queues and cohorts come, change, move and go; the sums follow."""

from queueing.core.facts import ClusterQueueFact
from queueing.core.names import CohortName, FlavorName, FlavorResource, QueueName, ResourceName
from queueing.core.quota.tree import QuotaTree
from queueing.testing.builders import cluster_queue, cohort
from queueing.testing.trees import check

CPU = FlavorResource(FlavorName("default"), ResourceName("cpu"))


def queue(name: str, nominal: int, parent: str | None = None) -> ClusterQueueFact:
    return cluster_queue(name, {"default": {"cpu": nominal}}, cohort=parent)


def test_a_cohort_exists_by_being_named_and_goes_with_the_last_name() -> None:
    tree = QuotaTree()
    tree.put_queue(queue("a", 3, "implicit"))
    assert tree.cohort(CohortName("implicit")) is not None
    tree.drop_queue(QueueName("a"))
    assert tree.cohort(CohortName("implicit")) is None


def test_a_dropped_cohort_object_leaves_its_members_together() -> None:
    tree = QuotaTree()
    tree.put_cohort(cohort("c", "top", quotas={"default": {"cpu": 5}}))
    tree.put_queue(queue("a", 3, "c"))
    tree.drop_cohort(CohortName("c"))
    found = tree.cohort(CohortName("c"))
    assert found is not None
    assert (found.cell(CPU).quota, found.parent) == (3, None)
    assert tree.cohort(CohortName("top")) is None


def test_a_moved_queue_takes_its_quota_and_usage_along() -> None:
    tree = QuotaTree()
    for fact in (queue("a", 3, "left"), queue("b", 3, "left"), queue("c", 3, "right")):
        tree.put_queue(fact)
    tree.add_usage(QueueName("a"), {CPU: 5})
    tree.put_queue(queue("a", 3, "right"))
    left, right = tree.cohort(CohortName("left")), tree.cohort(CohortName("right"))
    assert left is not None
    assert right is not None
    assert (left.cell(CPU).quota, left.cell(CPU).usage) == (3, 0)
    assert (right.cell(CPU).quota, right.cell(CPU).usage) == (6, 5)
    check(tree)


def test_a_cycle_disables_all_that_hangs_on_it_until_it_is_broken() -> None:
    tree = QuotaTree()
    tree.put_cohort(cohort("x", "y"))
    tree.put_cohort(cohort("y", "z"))
    tree.put_queue(queue("a", 3, "x"))
    tree.put_queue(queue("b", 3, "z"))
    tree.put_queue(queue("other", 3, "elsewhere"))
    names = ("a", "b", "other")
    tree.put_cohort(cohort("z", "x"))
    assert [tree.in_cycle(tree.queue(QueueName(one))) for one in names] == [True, True, False]
    check(tree)
    tree.put_cohort(cohort("z"))
    assert [tree.in_cycle(tree.queue(QueueName(one))) for one in names] == [False] * 3
    assert tree.queue(QueueName("a")).path() == "/z/y/x/a"
    check(tree)


def test_a_cohort_that_names_itself_is_a_cycle() -> None:
    tree = QuotaTree()
    tree.put_cohort(cohort("x", "x"))
    tree.put_queue(queue("a", 3, "x"))
    assert tree.in_cycle(tree.queue(QueueName("a")))
    check(tree)


def test_heights_follow_the_deepest_leaf() -> None:
    tree = QuotaTree()
    tree.put_queue(queue("a", 3, "mid"))
    tree.put_queue(queue("b", 3, "top"))
    top = tree.cohort(CohortName("top"))
    assert top is not None
    tree.put_cohort(cohort("mid", "top"))
    assert top.height == 2
    tree.put_cohort(cohort("mid"))
    assert top.height == 1
    tree.drop_queue(QueueName("b"))
    assert tree.cohort(CohortName("top")) is None


def test_a_quota_change_is_seen_in_the_generation_of_its_own_tree_only() -> None:
    tree = QuotaTree()
    tree.put_queue(queue("a", 3, "x"))
    tree.put_queue(queue("b", 3, "y"))
    a, b = tree.queue(QueueName("a")).root, tree.queue(QueueName("b")).root
    before = (a.generation, b.generation)
    tree.put_queue(queue("a", 4, "x"))
    assert a.generation != before[0]
    assert b.generation == before[1]
    tree.add_usage(QueueName("b"), {CPU: 1})
    assert b.generation == before[1]
