"""A shelf finds the first who is covered, as one who looks at everybody would."""

from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st

from queueing.core.names import FlavorName, FlavorResource, ResourceName
from queueing.core.ordering import QueueKey
from queueing.state.queues.shelf import SIZE, Shelf, Slot

steps = st.lists(
    st.tuples(st.sampled_from(("add", "discard", "find")), st.integers(0, 400), st.integers(0, 9)),
    max_size=400,
)


SLOT = Slot(None, FlavorResource(FlavorName("default"), ResourceName("cpu")), None)


def place(number: int) -> QueueKey:
    return 0.0, 1, 0, float(number), ""


@tries(max_examples=60, deadline=None, derandomize=True)
@given(steps)
def test_the_first_who_is_covered_is_found_whoever_came_and_went(
    history: list[tuple[str, int, int]],
) -> None:
    shelf: Shelf[int] = Shelf(SLOT)
    there: dict[int, int] = {}
    for what, number, asked in history:
        if what == "add" and number not in there:
            shelf.add(place(number), asked, number)
            there[number] = asked
        elif what == "discard":
            shelf.discard(place(number))
            there.pop(number, None)
        found = shelf.first(asked)
        want = min((one for one, amount in there.items() if amount <= asked), default=None)
        assert (None if found is None else found[1]) == want
    assert len(shelf) == len(there)


def test_many_blocks_are_split_and_given_up_again() -> None:
    shelf: Shelf[int] = Shelf(SLOT)
    many = 40 * SIZE
    for number in range(many):
        shelf.add(place(number * 7 % many), many - number, number)
    assert len(shelf) == many
    assert shelf.first(0) is None
    assert shelf.first(1) == (place((many - 1) * 7 % many), many - 1)
    for number in range(many):
        shelf.discard(place(number))
    assert not shelf
    assert shelf.first(many) is None
