"""No capability is larger than a reader is asked to bear: see `sizes`."""

import pytest

from tests.sizes import sizes


@pytest.mark.parametrize(("name", "found", "most"), list(sizes()))
def test_no_capability_is_larger_than_its_bar(name: str, found: int, most: int) -> None:
    assert found <= most, f"{found:,} {name}: at most {most:,}"
