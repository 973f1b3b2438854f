"""A queue's quota between namespaces: parts by weight, in credits."""

from collections.abc import Mapping
from fractions import Fraction

import pytest

from queueing.core.credits.facts import MICRO, Member
from queueing.core.credits.market import Position
from queueing.core.credits.post import NamespaceRow, Post, weights_of
from queueing.core.credits.prices import Prices
from queueing.core.names import FlavorName, FlavorResource, Key, ResourceName

GPU, CPU = ResourceName("nvidia.com/gpu"), ResourceName("cpu")
A100 = FlavorName("a100")
PRICES: Mapping[tuple[FlavorName | None, ResourceName], int] = {
    (None, GPU): MICRO,
    (None, CPU): MICRO // 10,
}
QUOTA = {FlavorResource(A100, GPU): 8, FlavorResource(A100, CPU): 40_000}


def post(weight: int, whole: int, flavor: FlavorName = A100, *, add_up: bool = False) -> Post:
    """What a namespace with a part of the queue has of one flavor."""
    made = Post(Member("Namespace", "a"), flavor, Prices(PRICES, add_up=add_up))
    for resource in (GPU, CPU):
        amount = QUOTA.get(FlavorResource(flavor, resource), 0)
        NamespaceRow(made, FlavorResource(flavor, resource), amount * weight, whole)
    return made


def used(made: Post, amounts: Mapping[ResourceName, int]) -> Position:
    for row, resource in zip(made.rows, (GPU, CPU), strict=True):
        row.usage = amounts.get(resource, 0)
    return made.position()


def test_another_local_queue_gives_a_namespace_no_more_weight() -> None:
    doors = [("a/one", Fraction(2)), ("a/two", Fraction(1)), ("b/one", Fraction(1, 2))]
    assert weights_of((Key(name), weight) for name, weight in doors) == {
        "a": 2_000_000,
        "b": 500_000,
    }


def test_a_part_of_devices_is_not_rounded_to_a_device() -> None:
    assert post(1, 3).entitlement == 8 * MICRO // 3


@pytest.mark.parametrize(
    ("amounts", "idle", "borrowed"),
    [
        pytest.param({}, 4 * MICRO, 0, id="nothing"),
        pytest.param({GPU: 4}, 2 * MICRO, 0, id="its part of the devices leaves its cores"),
        pytest.param({GPU: 6, CPU: 20_000}, 0, 2 * MICRO, id="more than its part"),
        pytest.param({GPU: 1, CPU: 30_000}, 3 * MICRO, MICRO, id="cores beyond, devices idle"),
    ],
)
def test_what_is_left_of_a_part_is_idle_and_what_is_beyond_is_borrowed(
    amounts: dict[ResourceName, int], idle: int, borrowed: int
) -> None:
    assert used(post(1, 2), amounts) == (idle, borrowed, borrowed)


def test_resources_may_be_billed_together() -> None:
    both = post(1, 2, add_up=True)
    assert both.entitlement == 6 * MICRO
    assert used(both, {GPU: 6, CPU: 10_000}) == (MICRO, 2 * MICRO, 2 * MICRO)


def test_whoever_has_no_local_queue_left_is_entitled_to_nothing_and_borrows_all() -> None:
    nothing = post(0, 0)
    assert nothing.entitlement == 0
    assert used(nothing, {GPU: 3}) == (0, 3 * MICRO, 3 * MICRO)


def test_a_flavor_without_quota_is_borrowed_from_outside() -> None:
    other = post(1, 2, FlavorName("spot"))
    assert other.entitlement == 0
    assert used(other, {GPU: 2}) == (0, 2 * MICRO, 2 * MICRO)
