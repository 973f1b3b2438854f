"""Pods of a failed node get another one; what that must be together with stays where it is."""

from collections.abc import Sequence

import pytest

from queueing.core.names import PodSetName
from queueing.core.topology.assignment import HOSTNAME
from queueing.core.topology.replacement import replace_node
from queueing.core.topology.requests import PodSetRequest, in_order
from tests.core.topology.builders import FLAVOR, MAIN, TERMS, forest, hosts, pods, told, used

RACK_SLICES = [("rack", 4)]
LAYERS = [("rack", 4), (HOSTNAME, 2)]


def replaced(nodes: str, *pod_sets: PodSetRequest, node: str = "lost") -> list[str]:
    """Return what becomes of pod sets, whose usage is charged, when a node fails."""
    world = forest(nodes)
    for one in pod_sets:
        if one.current is not None:
            usage = one.current.usage(in_order(dict(one.pod.requests), pods=1))
            world.charge(used(usage))
    found = replace_node(world, FLAVOR, pod_sets, node, TERMS)
    return [told(found[one.name]) if one.name in found else "" for one in pod_sets]


@pytest.mark.parametrize(
    ("nodes", "wanted", "want"),
    [
        pytest.param(
            "a/r1/n1:2 b/r2/n2:2",
            pods(4, preferred="rack", current="n1*2 lost*2"),
            "n1*2 n2*2",
            id="preferred pods may land anywhere",
        ),
        pytest.param(
            "a/r1/n1:9 a/r1/n2:2 b/r2/n3:2",
            pods(4, unconstrained=True, current="n1*2 lost*2"),
            "n1*2 n2*2",
            id="unconstrained pods go to the fullest host",
        ),
        pytest.param(
            "a/r1/n1:2 b/r2/n2:4",
            pods(4, required="rack", current="lost*4"),
            "n2*4",
            id="nothing is kept, so that nothing confines them",
        ),
        pytest.param(
            "a/r1/n1:4 b/r2/n2:4",
            pods(4, required="block", slices=RACK_SLICES, current="n1*2 lost*2"),
            "n1*4",
            id="part of a slice goes where the slice is",
        ),
        pytest.param(
            "a/r1/n1:4 a/r1/n4:2 a/r2/n2:8",
            pods(8, required="block", slices=RACK_SLICES, current="n1*4 lost*4"),
            "n1*4 n2*4",
            id="whole slices may go to another rack of the block",
        ),
        pytest.param(
            "a/r1/n1:3 a/r1/n3:1 a/r1/n4:3 b/r2/n2:8",
            pods(4, required="block", slices=LAYERS, current="n1*2 lost*2"),
            "n1*2 n4*2",
            id="the inner layer holds, where it divides what was lost",
        ),
        pytest.param(
            "a/r1/n1:9",
            pods(4, slices=RACK_SLICES, current="n1*2 lost*2"),
            "topology level not specified",
            id="slices alone, none of which the pods make, leave no level",
        ),
        pytest.param(
            "a/r1/n1:9",
            pods(5, required="block", slices=RACK_SLICES, current="n1*4 lost*1"),
            "cannot find replacement assignment for unhealthy node: lost",
            id="pods that complete no slice find none",
        ),
        pytest.param(
            "a/r1/n1:9 a/r1/lost:4",
            pods(4, required="rack", current="n1*2 lost*2"),
            "n1*4",
            id="the node is open still, and fits best",
        ),
        pytest.param(
            "a/r1/lost:9",
            pods(2, required="rack", current="lost*2"),
            'topology "T" doesn\'t allow to fit any of 2 pod(s). Total nodes: 1; excluded:'
            ' resource "pods": 1',
            id="there is no other node than the one that failed",
        ),
        pytest.param(
            "a/r1/n1:9",
            pods(4, required="rack", current="gone*1 n1*1 lost*2"),
            "Cannot replace the node, because the existing topologyAssignment is invalid,"
            " as it contains the stale domain gone",
            id="another host is gone as well",
        ),
        pytest.param(
            "a/r1/n1:4 b/r2/n2:4!gpu:NoSchedule b/r2/n3:4",
            pods(4, required="rack", current="n1*2 lost*3"),
            'topology "T" allows to fit only 2 out of 3 pod(s). Total nodes: 3; excluded:'
            ' taint "gpu:NoSchedule": 1, topologyDomain: 1',
            id="closed hosts are told of before those of other domains",
        ),
        pytest.param(
            "a/r1/n1:4",
            pods(2, required="rack", current="n1*2"),
            "n1*2",
            id="nothing was on the node",
        ),
        pytest.param("a/r1/n1:4", pods(2, required="rack"), "", id="nothing is placed yet"),
    ],
)
def test_lost_pods(nodes: str, wanted: PodSetRequest, want: str) -> None:
    assert replaced(nodes, wanted) == [want]


@pytest.mark.parametrize(
    ("nodes", "want"),
    [
        pytest.param("a/r1/n1:1 a/r1/n2:2", ["n1*1", "n2*1"], id="room for both"),
        pytest.param(
            "a/r1/n1:1",
            [
                "n1*1",
                (
                    'topology "T" doesn\'t allow to fit any of 1 pod(s). Total nodes: 1;'
                    ' excluded: resource "cpu": 1'
                ),
            ],
            id="the first takes the only place",
        ),
    ],
)
def test_a_later_pod_set_sees_where_an_earlier_one_goes(nodes: str, want: Sequence[str]) -> None:
    both = [pods(1, preferred="rack", name=name, current="lost*1") for name in ("one", "two")]
    assert replaced(nodes, *both) == want


def test_a_group_is_placed_one_by_one_and_the_forest_stays_as_it_was() -> None:
    world = forest("a/r1/n1:3")
    group = [
        pods(1, required="rack", group="g", name="leader", current="lost*1"),
        pods(2, required="rack", group="g", current="n1*1 lost*1"),
    ]
    world.charge(used(hosts("n1*1").usage(group[1].pod.requests)))
    found = replace_node(world, FLAVOR, group, "lost", TERMS)
    assert [told(found[name]) for name in (PodSetName("leader"), MAIN)] == ["n1*1", "n1*2"]
    assert world.tree(FLAVOR).has_room({"n1": dict(in_order({group[0].pod.requests[0][0]: 2000}))})
