"""How a share is measured."""

from fractions import Fraction

import pytest

from queueing.core.fair_sharing.shares import MAX_SHARE, Shares, weighted_share
from queueing.core.names import CohortName, FlavorName, FlavorResource, QueueName, ResourceName
from queueing.testing.arena import Arena
from queueing.testing.builders import cluster_queue, cohort, quota
from queueing.testing.trees import check

CPU = FlavorResource(FlavorName("one"), ResourceName("cpu"))
CPU_TOO = FlavorResource(FlavorName("two"), ResourceName("cpu"))
GPU = FlavorResource(FlavorName("one"), ResourceName("gpu"))


def arena(weight: Fraction = Fraction(1), lending: int | None = None) -> Arena:
    """Queue a has 2 cpu of each flavor and 2 gpu, its lender 8 of each: 20 cpu, 10 gpu in all."""
    return Arena(
        cluster_queue(
            "a",
            {"one": {"cpu": 2, "gpu": 2}, "two": {"cpu": 2, "gpu": 0}},
            cohort="c",
            fair_weight=weight,
        ),
        cluster_queue(
            "lender",
            {
                "one": {"cpu": quota(8, lending=lending), "gpu": quota(8)},
                "two": {"cpu": quota(8), "gpu": quota(0)},
            },
            cohort="c",
        ),
    )


@pytest.mark.parametrize(
    ("usage", "want"),
    [
        pytest.param({CPU: 2, GPU: 2}, 0, id="use within nominal costs nothing"),
        pytest.param({CPU: 4}, 100, id="two of twenty borrowed"),
        pytest.param({CPU: 4, CPU_TOO: 5}, 250, id="flavors of a resource add up"),
        pytest.param({CPU: 4, GPU: 5}, 300, id="the dominant resource counts"),
    ],
)
def test_the_share_of_a_queue(usage: dict[FlavorResource, int], want: int) -> None:
    world = arena()
    world.tree.add_usage(QueueName("a"), usage)
    assert weighted_share(world.tree.queue(QueueName("a"))) == want


def test_usage_counts_only_where_the_subtree_has_a_quota_entry() -> None:
    world = Arena(
        cluster_queue("t", {"one": {"cpu": 0}}, cohort="below"),
        cohort("below", "c"),
        cluster_queue("lender", {"one": {"cpu": 4}, "two": {"cpu": 4}}, cohort="c"),
    )
    queue, above = world.tree.queue(QueueName("t")), world.tree.cohort(CohortName("below"))
    assert above is not None
    world.tree.add_usage(QueueName("t"), {CPU: 2, CPU_TOO: 3})
    assert (weighted_share(queue), weighted_share(above)) == (250, 250)
    world.tree.put_cohort(cohort("below", "c", quotas={"two": {"cpu": 0}}))
    assert (weighted_share(queue), weighted_share(above)) == (250, 625)
    world.tree.drop_cohort(CohortName("below"))
    world.tree.put_queue(cluster_queue("t", {"two": {"cpu": 0}}, cohort="c"))
    assert weighted_share(queue) == 375
    check(world.tree)


@pytest.mark.parametrize(
    ("weight", "want"),
    [
        pytest.param(Fraction(2), 50, id="twice the weight, half the share"),
        pytest.param(Fraction(3), 34, id="rounded up"),
        pytest.param(Fraction(0), MAX_SHARE, id="weight zero and borrowing"),
    ],
)
def test_weights(weight: Fraction, want: int) -> None:
    world = arena(weight)
    world.tree.add_usage(QueueName("a"), {CPU: 4})
    assert weighted_share(world.tree.queue(QueueName("a"))) == want


def test_shares_equal_on_paper_differ_in_their_last_digit_as_in_kueue() -> None:
    """Three of nine at weight 3 and one of nine at weight 1."""
    world = Arena(
        cluster_queue("a", {"one": {"cpu": 0}}, cohort="c", fair_weight=Fraction(3)),
        cluster_queue("b", {"one": {"cpu": 0}}, cohort="c"),
        cluster_queue("lender", {"one": {"cpu": 9}}, cohort="c"),
    )
    a, b = world.tree.queue(QueueName("a")), world.tree.queue(QueueName("b"))
    shares = Shares()
    assert shares.of(a, {CPU: 3}) == (0, 3 * 1000.0 / 9 / 3)
    assert shares.of(b, {CPU: 1}) == (0, 1000.0 / 9)
    assert shares.of(a, {CPU: 3}) < shares.of(b, {CPU: 1})


def test_weight_zero_without_borrowing_is_no_share() -> None:
    world = arena(Fraction(0))
    world.tree.add_usage(QueueName("a"), {CPU: 2})
    assert weighted_share(world.tree.queue(QueueName("a"))) == 0


def test_only_what_could_be_lent_counts() -> None:
    world = arena(lending=0)
    world.tree.add_usage(QueueName("a"), {CPU_TOO: 5})
    assert weighted_share(world.tree.queue(QueueName("a"))) == 250


def test_roots_and_lone_queues_have_no_share() -> None:
    world = Arena(cluster_queue("a", {"one": {"cpu": 1}}))
    world.tree.add_usage(QueueName("a"), {CPU: 5})
    assert weighted_share(world.tree.queue(QueueName("a"))) == 0


def test_a_cohort_has_a_share_in_its_parent() -> None:
    world = Arena(
        cohort("mid", "top"),
        cluster_queue("a", {"one": {"cpu": 2}}, cohort="mid"),
        cluster_queue("b", {"one": {"cpu": 8}}, cohort="top"),
    )
    world.tree.add_usage(QueueName("a"), {CPU: 5})
    mid = world.tree.cohort(CohortName("mid"))
    assert mid is not None
    assert weighted_share(mid) == 300


def test_flavors_that_only_the_root_has_could_be_lent_too() -> None:
    world = Arena(
        cohort("mid", "top"),
        cluster_queue("a", {"one": {"cpu": 2}}, cohort="mid"),
        cluster_queue("b", {"one": {"cpu": 8}, "two": {"cpu": 10}}, cohort="top"),
    )
    world.tree.add_usage(QueueName("a"), {CPU: 5})
    assert weighted_share(world.tree.queue(QueueName("a"))) == 150


def test_a_share_does_not_depend_on_what_was_asked_before() -> None:
    world = Arena(
        cohort("mid", "top"),
        cluster_queue("a", {"one": {"cpu": 2}}, cohort="mid"),
        cluster_queue("b", {"one": {"cpu": 8}}, cohort="top"),
    )
    world.tree.add_usage(QueueName("a"), {CPU: 5})
    node = world.tree.queue(QueueName("a"))
    before = weighted_share(node)
    node.cell(CPU_TOO)
    assert weighted_share(node) == before == 300
