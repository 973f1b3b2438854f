"""On a flavor that spreads, pods are dealt to domains in turn; what must be together still is."""

from collections.abc import Sequence

import pytest

from queueing.core.topology.assignment import HOSTNAME, Assignment
from queueing.core.topology.forest import Forest
from queueing.core.topology.placement import place
from queueing.core.topology.requests import PodSetRequest, Profile, in_order
from queueing.core.topology.searching import SearchTerms
from tests.core.topology.builders import FLAVOR, LEVELS, MAIN, S, node, pods, told
from tests.core.topology.random_worlds import requests, world

SPREAD = SearchTerms(profile=Profile(heeds_annotations=True))
PACKED = SearchTerms(profile=Profile())


def spreading(nodes: str = S, levels: Sequence[str] = LEVELS) -> Forest:
    made = Forest()
    made.put_flavor(FLAVOR, "T", tuple(levels))
    made.tree(FLAVOR).spreads = True
    for one in nodes.split():
        assert not made.put_node(node(one, tuple(levels)))
    return made


def placed(asked: PodSetRequest, terms: SearchTerms = SPREAD, nodes: str = S) -> str:
    return told(place(spreading(nodes), {FLAVOR: [asked]}, terms)[MAIN])


@pytest.mark.parametrize(
    ("asked", "want"),
    [
        # blocks a and b have 2 each; in a, racks r1 and r2 have one each, on the larger host
        (pods(4, unconstrained=True), "n1*1 n4*1 n5*2"),
        # r2 has most room of all racks, six; r1 has four, r3 five
        (pods(2, required="rack"), "n3*1 n4*1"),
        # of the blocks a has most room; its racks have three each, r1 only on two hosts
        (pods(6, required="block"), "n1*2 n2*1 n3*1 n4*2"),
        (pods(6, preferred="rack"), "n3*2 n4*4"),
        # slices of two stay on a host: two in a, one in b
        (pods(6, unconstrained=True, slices=[(HOSTNAME, 2)]), "n1*2 n4*2 n5*2"),
        # one slice of three per rack
        (pods(6, unconstrained=True, slices=[("rack", 3)]), "n3*1 n4*2 n5*3"),
    ],
)
def test_pods_are_dealt_in_turn(asked: PodSetRequest, want: str) -> None:
    assert placed(asked) == want


def test_hosts_get_about_as_many_each() -> None:
    nodes = "a/r1/n1:9 a/r1/n2:9 a/r2/n3:9 a/r2/n4:9"
    assert placed(pods(10, required="block"), nodes=nodes) == "n1*3 n2*2 n3*3 n4*2"


def test_where_kueue_decides_pods_are_packed() -> None:
    assert placed(pods(4, unconstrained=True), PACKED) == "n4*4"


def test_what_fits_nowhere_is_told_as_ever() -> None:
    asked = pods(6, required="rack", slices=[(HOSTNAME, 2)])
    assert placed(asked) == placed(asked, PACKED)


@pytest.mark.parametrize("seed", range(150))
def test_it_has_a_place_exactly_where_packing_has_one_and_never_too_much(seed: int) -> None:
    made = world(seed)
    made.forest.tree(FLAVOR).spreads = True
    for _ in range(25):
        made.change()
        asked = requests(made)[0]
        (spread,) = place(made.forest, {FLAVOR: [asked]}, SPREAD).values()
        (packed,) = place(made.forest, {FLAVOR: [asked]}, PACKED).values()
        assert isinstance(spread, Assignment) is isinstance(packed, Assignment)
        if isinstance(spread, Assignment) and isinstance(packed, Assignment):
            assert spread.count == packed.count
            usage = spread.usage(in_order(dict(asked.pod.requests), pods=1))
            assert made.forest.tree(FLAVOR).has_room(usage)
        else:
            assert spread == packed
