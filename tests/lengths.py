"""What is tried a few times with the fast tests, and many times by `make properties`."""

import pytest


def lengths(argument: str, few: object, many: object) -> pytest.MarkDecorator:
    """Run a test with one value of an argument fast, and with another at length."""
    return pytest.mark.parametrize(
        argument,
        [
            pytest.param(few, id="few"),
            pytest.param(many, id="many", marks=pytest.mark.slow),
        ],
    )
