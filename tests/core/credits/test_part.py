"""A queue's quota between namespaces: parts by weight, in credits."""

from collections.abc import Mapping
from fractions import Fraction

import pytest

from queueing.core.credits.facts import MICRO
from queueing.core.credits.part import NONE, Part, Split, weights_of
from queueing.core.credits.prices import Prices
from queueing.core.names import FlavorName, FlavorResource, Key, ResourceName

GPU, CPU = ResourceName("nvidia.com/gpu"), ResourceName("cpu")
A100 = FlavorName("a100")
PRICES: Mapping[tuple[FlavorName | None, ResourceName], int] = {
    (None, GPU): MICRO,
    (None, CPU): MICRO // 10,
}
QUOTA = {FlavorResource(A100, GPU): 8, FlavorResource(A100, CPU): 40_000}


def split(*, add_up: bool = False) -> Split:
    return Split(QUOTA, Prices(PRICES, add_up=add_up))


def test_another_local_queue_gives_a_namespace_no_more_weight() -> None:
    doors = [("a/one", Fraction(2)), ("a/two", Fraction(1)), ("b/one", Fraction(1, 2))]
    assert weights_of((Key(name), weight) for name, weight in doors) == {
        "a": 2_000_000,
        "b": 500_000,
    }


def test_a_part_of_devices_is_not_rounded_to_a_device() -> None:
    third = split().entitlement(Part(1, 3))
    assert third == 8 * MICRO // 3


@pytest.mark.parametrize(
    ("used", "idle", "borrowed"),
    [
        pytest.param({}, 4 * MICRO, 0, id="nothing"),
        pytest.param({GPU: 4}, 2 * MICRO, 0, id="its part of the devices leaves its cores"),
        pytest.param({GPU: 6, CPU: 20_000}, 0, 2 * MICRO, id="more than its part"),
        pytest.param({GPU: 1, CPU: 30_000}, 3 * MICRO, MICRO, id="cores beyond, devices idle"),
    ],
)
def test_what_is_left_of_a_part_is_idle_and_what_is_beyond_is_borrowed(
    used: dict[ResourceName, int], idle: int, borrowed: int
) -> None:
    assert split().position(A100, used, Part(1, 2)) == (idle, borrowed)


def test_resources_may_be_billed_together() -> None:
    both = split(add_up=True)
    assert both.entitlement(Part(1, 2)) == 6 * MICRO
    assert both.position(A100, {GPU: 6, CPU: 10_000}, Part(1, 2)) == (MICRO, 2 * MICRO)


def test_whoever_has_no_local_queue_left_is_entitled_to_nothing_and_borrows_all() -> None:
    assert split().entitlement(NONE) == 0
    assert split().position(A100, {GPU: 3}, NONE) == (0, 3 * MICRO)


def test_a_flavor_without_quota_is_borrowed_from_outside() -> None:
    other = FlavorName("spot")
    assert split().position(other, {GPU: 2}, Part(1, 2)) == (0, 2 * MICRO)
    assert split().flavors == [A100]
