import pytest

from bench.checkpoint_savings import MANNERS, live


def test_asking_loses_less_than_a_tenth_of_what_stopping_at_once_loses() -> None:
    plain, _, asked = (live(manner, 1.0, seed=1) for manner in MANNERS)
    assert asked.useful == pytest.approx(plain.useful)
    assert plain.preemptions > 10
    assert asked.lost < plain.lost / 10
