"""A row finds the first who is covered, as one who looks at everybody would."""

import pytest
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st

from queueing.core.names import QueueName
from queueing.core.ordering import QueueKey
from queueing.core.usage import demand_of
from queueing.state.queues.peers import Peers
from queueing.state.queues.pending import Row
from queueing.testing.builders import workload

steps = st.lists(
    st.tuples(st.sampled_from(("add", "discard", "find")), st.integers(0, 40), st.integers(0, 9)),
    max_size=400,
)
JOB = workload("job")
GROUPS = [Peers(QueueName("main"), number, demand_of(JOB), None, 0, {}) for number in range(41)]


def place(number: int) -> QueueKey:
    return True, 0, float(number), ""


@tries(max_examples=100, deadline=None, derandomize=True)
@given(steps)
def test_the_first_who_is_covered_is_found_whoever_came_and_went(
    history: list[tuple[str, int, int]],
) -> None:
    row = Row()
    there: dict[int, int] = {}
    for what, number, asked in history:
        if what == "add" and number not in there:
            row.add(place(number), GROUPS[number], asked)
            there[number] = asked
        elif what == "discard" and number in there:
            row.discard(place(number), GROUPS[number])
            del there[number]
        want = min((one for one, amount in there.items() if amount <= asked), default=None)
        found = row.first(asked) if there else None
        assert found == (None if want is None else (place(want), GROUPS[want]))
    assert [one for _, one in row.entries] == [GROUPS[number] for number in sorted(there)]


@pytest.mark.parametrize(("goes", "stays", "waits_for"), [(1, 2, 5), (2, 1, 3)])
def test_of_two_at_one_place_the_right_one_goes(goes: int, stays: int, waits_for: int) -> None:
    row = Row()
    row.add(place(1), GROUPS[1], 3)
    row.add(place(1), GROUPS[2], 5)
    row.discard(place(1), GROUPS[goes])
    assert row.entries == [(place(1), GROUPS[stays])]
    assert row.first(waits_for) == (place(1), GROUPS[stays])
    assert row.first(waits_for - 1) is None
