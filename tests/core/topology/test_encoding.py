"""The compressed form of assignments is the one that Kueue stores, and is read back as it was."""

import json
from random import Random

import pytest

from queueing.core.topology.assignment import HOSTNAME, Assignment, Domain
from queueing.core.topology.encoding import decode, encode
from tests.core.topology.builders import hosts


def slices(assignment: Assignment) -> list[object]:
    found = encode(assignment)["slices"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(
            "n1*1 n2*1",
            [
                {
                    "domainCount": 2,
                    "valuesPerLevel": [{"individual": {"prefix": "n", "roots": ["1", "2"]}}],
                    "podCounts": {"universal": 1},
                }
            ],
            id="a common beginning, equal counts",
        ),
        pytest.param(
            "pool-a-1*2 pool-a-2*2 pool-b-7*1",
            [
                {
                    "domainCount": 3,
                    "valuesPerLevel": [
                        {"individual": {"prefix": "pool-", "roots": ["a-1", "a-2", "b-7"]}}
                    ],
                    "podCounts": {"individual": [2, 2, 1]},
                }
            ],
            id="one slice is shorter than two",
        ),
        pytest.param(
            "x1x*1 x1x1x*1",
            [
                {
                    "domainCount": 2,
                    "valuesPerLevel": [{"individual": {"suffix": "x1x", "roots": ["", "x1"]}}],
                    "podCounts": {"universal": 1},
                }
            ],
            id="the end wins where both overlap",
        ),
        pytest.param(
            "n1*3",
            [
                {
                    "domainCount": 1,
                    "valuesPerLevel": [{"universal": "n1"}],
                    "podCounts": {"universal": 3},
                }
            ],
            id="a single domain is universal",
        ),
    ],
)
def test_slices_are_written_as_kueue_writes_them(text: str, want: list[object]) -> None:
    assert slices(hosts(text)) == want


def test_no_domains_are_no_slices() -> None:
    assert encode(Assignment((HOSTNAME,), ())) == {"levels": [HOSTNAME], "slices": []}


def test_hosts_of_several_pools_become_a_slice_each_where_that_is_shorter() -> None:
    pools = [f"cluster-pool-{letter}-node" for letter in "abc"]
    assignment = Assignment(
        (HOSTNAME,), tuple(Domain((f"{pool}-{at}",), 1) for pool in pools for at in range(30))
    )
    found = slices(assignment)
    assert len(found) == 3
    assert len(encode(assignment, by_prefix=False)["slices"]) == 1
    assert decode(encode(assignment)) == assignment


def test_values_of_other_levels_are_not_put_into_slices_by_name() -> None:
    racks = tuple(Domain(("a", f"row-{at % 2}-{at}"), 1) for at in range(40))
    assert len(slices(Assignment(("block", "rack"), racks))) == 1


@pytest.mark.parametrize("seed", range(60))
def test_what_was_written_is_read_back(seed: int) -> None:
    random = Random(seed)
    levels = random.choice([(HOSTNAME,), ("block", "rack"), ("block", HOSTNAME)])
    parts = ["a", "b-", "-", "pool-", "x1", "node-0"]
    domains = tuple(
        Domain(tuple("".join(random.choices(parts, k=3)) for _ in levels), random.randrange(1, 4))
        for _ in range(random.randrange(30))
    )
    assignment = Assignment(levels, domains)
    found = encode(assignment)
    assert decode(json.loads(json.dumps(found))) == assignment
    whole = encode(assignment, by_prefix=False)
    assert len(json.dumps(found)) <= len(json.dumps(whole))
    assert sum(one["domainCount"] for one in found["slices"]) == len(domains)
