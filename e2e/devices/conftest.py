"""Racks of the tests: nodes with devices that go with them."""

from collections.abc import Iterator

import pytest

from e2e.devices.hardware import Rack, rack
from e2e.world import World


@pytest.fixture
def gpus_of(space: World) -> Iterator[Rack]:
    """Lend a place for nodes with devices."""
    with rack(space.api, space.prefix) as made:
        yield made
