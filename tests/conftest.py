"""What holds for all fast tests."""

import gc

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says how busy the machine is.
settings.register_profile(
    "on a busy machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("on a busy machine")


def pytest_collection_finish() -> None:
    """Keep the tests themselves, which stay to the end, from being walked at each collection."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite what files want by what came")
