"""No capability is larger than a reader is asked to bear: see `sizes`."""

import pytest

from tests.sizes import sizes


@pytest.mark.parametrize(("name", "found", "most"), [one for one in sizes() if one[2] is not None])
def test_no_capability_is_larger_than_its_bar(name: str, found: int, most: int) -> None:
    assert found <= most, f"{found:,} {name}: at most {most:,}"
