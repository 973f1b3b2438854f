"""What balances do to weights, what amounts cost."""

from fractions import Fraction

import pytest

from queueing.core.credits.bend import exponent, factor
from queueing.core.credits.decay import Decay
from queueing.core.credits.facts import MICRO, PART
from queueing.core.credits.prices import Prices
from queueing.core.names import FlavorName, ResourceName

HOUR = 3600
FAST, SLOW = FlavorName("fast"), FlavorName("slow")
GPU, CPU = ResourceName("nvidia.com/gpu"), ResourceName("cpu")


def bent(hours_of_entitlement: float, *, bound: int = 4) -> Fraction:
    balance = int(hours_of_entitlement * HOUR * 8 * MICRO) * PART
    return factor(exponent(balance, entitlement=8 * MICRO, horizon_s=6 * HOUR, bound=bound))


@pytest.mark.parametrize(
    ("hours", "weight"),
    [
        pytest.param(0, 1, id="nothing"),
        pytest.param(6, 2, id="one horizon doubles"),
        pytest.param(-6, Fraction(1, 2), id="a debt halves"),
        pytest.param(240, 16, id="the bound"),
        pytest.param(-240, Fraction(1, 16), id="the bound of debt"),
    ],
)
def test_a_balance_bends_the_weight(hours: float, weight: Fraction) -> None:
    assert bent(hours) == weight


def test_a_surplus_and_a_debt_of_one_size_cancel_out() -> None:
    assert bent(2.5) * bent(-2.5) == 1


def test_whoever_is_entitled_to_nothing_is_not_bent() -> None:
    assert exponent(PART * MICRO, entitlement=0, horizon_s=60, bound=4) == 0


@pytest.mark.parametrize(
    ("add_up", "cost"),
    [pytest.param(False, 4 * MICRO, id="dominant"), pytest.param(True, 5 * MICRO, id="sum")],
)
def test_the_resources_of_a_flavor_are_billed_together(add_up: bool, cost: int) -> None:
    prices = Prices({(None, GPU): MICRO, (None, CPU): MICRO // 100}, add_up=add_up)
    assert prices.bill(FAST, {GPU: 4, CPU: 100_000}) == cost


def test_a_flavor_may_have_its_own_price() -> None:
    prices = Prices({(None, GPU): MICRO, (SLOW, GPU): MICRO // 2})
    assert (prices.bill(FAST, {GPU: 2}), prices.bill(SLOW, {GPU: 2})) == (2 * MICRO, MICRO)


def test_what_has_no_price_costs_nothing() -> None:
    assert Prices({(None, GPU): MICRO}).bill(FAST, {CPU: 5000}) == 0


@pytest.mark.parametrize("half_life", [60, 1024, 1_209_600])
def test_the_steps_of_a_half_life_leave_half(half_life: int) -> None:
    decay = Decay(half_life)
    left = (decay.kept / 2**32) ** (half_life / decay.step_s)
    assert left == pytest.approx(0.5, rel=1e-5)
