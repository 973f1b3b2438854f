"""What holds for all fast tests."""

import gc

import pytest
from hypothesis import HealthCheck, settings

# Nearly all that is made until the last test is collected stays to the end.
gc.disable()

# How long an example takes says how busy the machine is. Fast tests try the same ones each time;
# `make properties` looks for others.
for name, derandomize in (("the same", True), ("others", False)):
    settings.register_profile(
        name,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize=derandomize,
    )
settings.load_profile("the same")


def pytest_collection_finish() -> None:
    """Keep the tests themselves, which stay to the end, from being walked at each collection.

    And collect seldom: most of what a test leaves is gone without. What little garbage there is by
    now is kept as well, for to look for it takes a second of each process.
    """
    gc.enable()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite what files want by what came")
