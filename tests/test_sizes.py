"""No capability is larger than a reader is asked to bear: see `sizes`."""

import pytest

from tests.sizes import NOT_YET, sizes


@pytest.mark.parametrize(("name", "found", "most"), [one for one in sizes() if one[2] is not None])
def test_no_capability_is_larger_than_its_bar(name: str, found: int, most: int) -> None:
    held = NOT_YET.get(name, most)
    assert found <= held, f"{found:,} {name}: at most {held:,}"
    assert name not in NOT_YET or found > most, f"{name}: the bar is met"
