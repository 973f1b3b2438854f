import gc
from collections.abc import Iterator

import pytest

from queueing.controller.process.garbage_collection import THRESHOLDS, postponed


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """Leave the collector of the test process as it was."""
    before = gc.get_threshold()
    yield
    gc.freeze()
    gc.set_threshold(*before)
    gc.enable()


def test_nothing_is_collected_while_listing_and_what_stays_is_never_walked_again() -> None:
    with postponed():
        assert not gc.isenabled()
        kept = [[number] for number in range(1_000)]
    assert gc.isenabled()
    assert gc.get_threshold() == THRESHOLDS
    assert not any(one is kept for one in gc.get_objects()), "what the collector walks"


def test_a_term_that_could_not_list_leaves_the_collector_running() -> None:
    with pytest.raises(OSError, match="away"), postponed():
        raise OSError("away")
    assert gc.isenabled()


def test_a_later_term_collects_what_an_earlier_one_left() -> None:
    class Knot:
        alive = 0

        def __init__(self) -> None:
            self.itself = self
            Knot.alive += 1

        def __del__(self) -> None:
            Knot.alive -= 1

    with postponed():
        left = Knot()
    del left
    with postponed():
        pass
    assert Knot.alive == 0
