"""What is asked is refused, in the words of Kueue, before anything is searched."""

import pytest

from queueing.core.topology.assignment import HOSTNAME
from queueing.core.topology.forest import Forest
from queueing.core.topology.placement import place, unplaced
from queueing.core.topology.requests import Placeable, PodSetRequest, in_order
from tests.core.topology.builders import CPU, FLAVOR, LEVELS, MAIN, TERMS, forest, node, pods, told

UNREADABLE = Placeable(
    requests=in_order({CPU: 1}), unreadable_selector="selector", unreadable_affinity="affinity"
)


@pytest.mark.parametrize(
    ("wanted", "want"),
    [
        pytest.param(
            pods(2, required="rack", slices=[("rack", 0)]),
            "slice topology requested, but slice size not provided",
            id="a slice without a size",
        ),
        pytest.param(pods(2), "topology level not specified", id="nothing is asked"),
        pytest.param(
            pods(2, unconstrained=False), "topology level not specified", id="not unconstrained"
        ),
        pytest.param(
            pods(2, preferred="row"), "no requested topology level: row", id="no such level"
        ),
        pytest.param(
            pods(2, required="rack", slices=[("row", 2)]),
            "no requested topology level for slices: row",
            id="no such level for slices",
        ),
        pytest.param(
            pods(2, required="rack", slices=[("block", 2)]),
            "podset slice topology block is above the podset topology rack",
            id="slices wider than what is required",
        ),
        pytest.param(
            pods(2, unconstrained=True, slices=[("row", 2)]),
            "no requested topology level for slices: row",
            id="slices of unconstrained pods",
        ),
        pytest.param(
            pods(4, required="block", slices=[("rack", 4), ("row", 2)]),
            "no requested topology level for additional slice layer: row",
            id="no such level for a layer",
        ),
        pytest.param(
            pods(4, required="block", slices=[("rack", 4), ("rack", 2)]),
            "additional slice layer topology rack must be at a lower level than rack",
            id="a layer that is not lower",
        ),
        pytest.param(
            pods(4, required="block", slices=[("rack", 4), (HOSTNAME, 3)]),
            "additional slice layer size 3 must evenly divide parent layer size 4",
            id="a layer that does not divide",
        ),
        pytest.param(pods(2, required="rack", pod=UNREADABLE), "selector", id="a bad selector"),
    ],
)
def test_refused(wanted: PodSetRequest, want: str) -> None:
    found = place(forest(), {FLAVOR: [wanted]}, TERMS)
    assert told(found[MAIN]) == told(unplaced(found)) == want


def test_a_bad_selector_does_not_matter_without_hosts_but_bad_affinity_does() -> None:
    world = forest("a/r1:9", ("block", "rack"))
    asked = pods(2, required="rack", pod=UNREADABLE)
    assert told(place(world, {FLAVOR: [asked]}, TERMS)[MAIN]) == "affinity"


def test_slices_alone_are_searched_from_the_top_also_if_pods_are_unconstrained() -> None:
    world = forest("a/r1/n1:4 b/r2/n2:2 b/r2/n3:2")
    for unconstrained in (None, True):
        asked = pods(4, unconstrained=unconstrained, slices=[(HOSTNAME, 2)])
        assert told(place(world, {FLAVOR: [asked]}, TERMS)[MAIN]) == "n1*4"


def test_without_nodes_no_level_has_domains() -> None:
    empty = Forest()
    empty.put_flavor(FLAVOR, "T", LEVELS)
    found = place(empty, {FLAVOR: [pods(1, required="rack")]}, TERMS)
    assert told(found[MAIN]) == "no topology domains at level: rack"
    empty.put_node(node("a/r1/n1:1"))
    assert unplaced(place(empty, {FLAVOR: [pods(1, required="rack")]}, TERMS)) is None


def test_fewer_pods_than_a_slice_has_need_no_domain() -> None:
    for mode in ({"required": "rack"}, {"preferred": "rack"}, {}):
        asked = pods(1, slices=[(HOSTNAME, 2)], **mode)  # type: ignore[arg-type]
        assert told(place(forest("a/r1/n1:1"), {FLAVOR: [asked]}, TERMS)[MAIN]) == ""


def test_pods_that_request_nothing_are_counted_by_the_places_for_pods() -> None:
    asked = pods(3, required="rack", pod=Placeable(requests=()))
    assert told(place(forest("a/r1/n1:0/2"), {FLAVOR: [asked]}, TERMS)[MAIN]) == (
        'topology "T" allows to fit only 2 out of 3 pod(s)'
    )
