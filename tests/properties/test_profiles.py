"""How a life that breaks a law is told of."""

import pytest

from tests.properties.profiles import named_if_endless


def for_ever() -> None:
    while True:
        pass


def test_a_life_that_never_ends_is_named() -> None:
    with (
        pytest.raises(pytest.fail.Exception, match="life 7 of classical took more than"),
        named_if_endless("7 of classical", most_s=0.01),
    ):
        for_ever()


def test_a_life_that_ends_is_left_alone_from_then_on() -> None:
    with named_if_endless("7 of classical", most_s=0.01):
        pass
    assert sum(range(2_000_000))
