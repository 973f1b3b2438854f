"""The worked examples of the reference, with the numbers that it gives them."""

import pytest

from queueing.core.names import PodSetName
from queueing.core.topology.assignment import HOSTNAME, Assignment, Domain
from queueing.core.topology.placement import place
from queueing.core.topology.replacement import replace_node
from queueing.core.topology.requests import PodSetRequest, Profile
from queueing.core.topology.searching import SearchTerms
from tests.core.topology.builders import FLAVOR, MAIN, TERMS, S, forest, hosts, pods, told, used

HOST_SLICES, RACK_SLICES = [(HOSTNAME, 2)], [("rack", 4)]
LAYERS = [("rack", 4), (HOSTNAME, 2)]
ONE_RACK = "a/r1/n1:3 a/r1/n2:1 a/r1/n3:2"
EXAMPLES = [
    pytest.param(1, S, pods(4, required="rack"), "n1*3 n2*1", id="smallest rack that holds all"),
    pytest.param(2, S, pods(5, required="rack"), "n5*5", id="5 beats 6"),
    pytest.param(
        3,
        S,
        pods(7, required="rack"),
        'topology "T" allows to fit only 6 out of 7 pod(s)',
        id="largest rack; nothing is excluded",
    ),
    pytest.param(4, S, pods(7, required="block"), "n1*3 n4*4", id="hosts of both racks together"),
    pytest.param(
        5,
        "a/r1/n1:2 a/r1/n2:2 a/r2/n3:3 a/r3/n4:1",
        pods(6, required="block"),
        "n1*2 n2*1 n3*3",
        id="the last of several is the best fit",
    ),
    pytest.param(
        6,
        "a/r1/n9:2 a/r2/n3:2 b/r1/n1:2",
        pods(2, required=HOSTNAME),
        "n9*2",
        id="ties go by the whole path",
    ),
    pytest.param(7, S, pods(8, preferred="rack"), "n1*3 n2*1 n4*4", id="preferred climbs"),
    pytest.param(
        8, S, pods(13, preferred="rack"), "n1*3 n2*1 n4*4 n5*5", id="several blocks at the top"
    ),
    pytest.param(
        9,
        "a/r1/n1:4 b/r2/n2:3 c/r3/n3:2 d/r4/n4:1",
        pods(6, preferred="rack"),
        "n1*4 n3*2",
        id="the last block is the best fit",
    ),
    pytest.param(
        10,
        S,
        pods(20, preferred="rack"),
        'topology "T" allows to fit only 15 out of 20 pod(s)',
        id="all blocks are summed",
    ),
    pytest.param(11, S, pods(2, unconstrained=True), "n3*2", id="least free host that holds all"),
    pytest.param(
        12, S, pods(7, unconstrained=True), "n1*3 n2*1 n3*2 n4*1", id="from the fullest host up"
    ),
    pytest.param(
        14,
        S,
        pods(16, implied=True),
        'topology "T" allows to fit only 15 out of 16 pod(s)',
        id="implied is unconstrained",
    ),
    pytest.param(
        16,
        "a/r1/n1:0.5/0 a/r1/n2:4/0 a/r1/n3:4!gpu:NoSchedule",
        pods(2, required=HOSTNAME),
        'topology "T" doesn\'t allow to fit any of 2 pod(s). Total nodes: 3; excluded:'
        ' resource "cpu": 1, resource "pods": 1, taint "gpu:NoSchedule": 1',
        id="each node is excluded once",
    ),
    pytest.param(
        17,
        "a/r1/n1:5 a/r1/n2:4 a/r2/n3:3 a/r2/n4:2",
        pods(8, required="block", slices=HOST_SLICES),
        "n1*4 n2*4",
        id="of equal slices fewer pods first",
    ),
    pytest.param(
        18,
        ONE_RACK,
        pods(4, required="block", slices=RACK_SLICES),
        "n1*1 n2*1 n3*2",
        id="ascending below the slice level",
    ),
    pytest.param(
        19, ONE_RACK, pods(4, required="block"), "n1*3 n2*1", id="descending without slices"
    ),
    pytest.param(
        20,
        "a/r1/n1:3 a/r2/n2:3 b/r3/n3:4",
        pods(6, required="block", slices=[("rack", 2)]),
        'topology "T" allows to fit only 2 out of 3 slice(s)',
        id="fragments make no slice",
    ),
    pytest.param(
        21,
        "a/r1/n1:8 b/r2/n2:2 b/r2/n3:2 b/r3/n4:2",
        pods(4, slices=HOST_SLICES),
        "n2*2 n3*2",
        id="slices alone begin at the top",
    ),
    pytest.param(
        22,
        "a/r1/n1:3 a/r1/n2:3",
        pods(5, required="block", slices=HOST_SLICES),
        "n1*2 n2*2",
        id="a pod beyond the last slice has no domain",
    ),
    pytest.param(
        23,
        "a/r1/n1:3 a/r1/n2:3 a/r1/n3:2 a/r2/n4:2 a/r2/n5:3",
        pods(8, required="block", slices=LAYERS),
        "n1*2 n3*2 n4*2 n5*2",
        id="inner slices floor what a rack holds",
    ),
    pytest.param(
        24,
        "a/r1/n1:3 a/r1/n2:1 a/r1/n3:1 a/r2/n4:4",
        pods(8, required="block", slices=LAYERS),
        'topology "T" doesn\'t allow to fit; 1/2 slice(s) fit on level rack;'
        " 3/4 slice(s) fit on level kubernetes.io/hostname",
        id="each layer is told of",
    ),
]


@pytest.mark.parametrize(("number", "nodes", "request_", "want"), EXAMPLES)
def test_example(number: int, nodes: str, request_: PodSetRequest, want: str) -> None:
    assert told(place(forest(nodes), {FLAVOR: [request_]}, TERMS)[MAIN]) == want


def test_example_13_without_the_mixed_profile_everything_is_best_fit() -> None:
    terms = SearchTerms(profile=Profile(mixed=False))
    found = place(forest(), {FLAVOR: [pods(7, unconstrained=True)]}, terms)
    assert told(found[MAIN]) == "n3*2 n5*5"


def test_example_15_without_hosts_the_capacity_of_a_rack_is_a_sum() -> None:
    world = forest("a/r1:1.5 a/r1:1.5 a/r2:2", ("block", "rack"))
    found = place(world, {FLAVOR: [pods(3, required="rack")]}, TERMS)[MAIN]
    assert found == Assignment(("block", "rack"), (Domain(("a", "r1"), 3),))


@pytest.mark.parametrize(
    ("nodes", "workers", "want"),
    [
        pytest.param(
            "a/r1/n1:2 a/r1/n2:2 a/r2/n3:3 a/r2/n4:2",
            3,
            ("n1*1 n2*2", "n1*1"),
            id="25: the tighter rack",
        ),
        pytest.param(
            "a/r1/n1:2 a/r1/n2:2 a/r2/n3:3",
            4,
            ('topology "T" allows to fit only 4 out of 4 pod(s)',) * 2,
            id="26: counted without the leader",
        ),
    ],
)
def test_leader_and_workers(nodes: str, workers: int, want: tuple[str, str]) -> None:
    group = [
        pods(1, required="rack", group="g", name="leader"),
        pods(workers, required="rack", group="g", name="workers"),
    ]
    found = place(forest(nodes), {FLAVOR: group}, TERMS)
    names = PodSetName("workers"), PodSetName("leader")
    assert tuple(told(found[one]) for one in names) == want


def test_example_27_a_later_pod_set_sees_what_an_earlier_one_took() -> None:
    world = forest("a/r1/n1:3 a/r1/n2:1 b/r2/n3:2")
    both = [pods(3, required="rack", name=name) for name in ("one", "two")]
    found = place(world, {FLAVOR: both}, TERMS)
    assert told(found[PodSetName("one")]) == "n1*3"
    assert told(found[PodSetName("two")]) == (
        'topology "T" allows to fit only 2 out of 3 pod(s).'
        ' Total nodes: 3; excluded: resource "cpu": 1'
    )


@pytest.mark.parametrize(
    ("first", "want"),
    [
        pytest.param(
            2,
            'topology "T" allows to fit only 1 out of 2 pod(s). Total nodes: 3;'
            ' excluded: resource "cpu": 1, topologyDomain: 1',
            id="confined to its rack",
        ),
        pytest.param(3, "n1*3 n3*1", id="merged"),
    ],
)
def test_example_28_a_failed_node_is_replaced_within_the_required_domain(
    first: int, want: str
) -> None:
    world = forest(f"a/r1/n1:{first} a/r1/n3:1 a/r2/n4:8")
    lost = pods(4, required="rack", current="n1*2 n2*2")
    world.charge(used(hosts("n1*2 n2*2").usage(lost.pod.requests)))
    assert told(replace_node(world, FLAVOR, [lost], "n2", TERMS)[MAIN]) == want


@pytest.mark.parametrize(
    ("balanced", "want"),
    [pytest.param(True, "n2*3 n3*3", id="on"), pytest.param(False, "n1*4 n2*2", id="off")],
)
def test_example_29_balanced_placement(balanced: bool, want: str) -> None:
    world = forest("a/r1/n1:4 a/r1/n2:3 a/r1/n3:3 a/r2/n4:2")
    terms = SearchTerms(profile=Profile(balanced=balanced))
    found = place(world, {FLAVOR: [pods(6, preferred="rack")]}, terms)
    assert told(found[MAIN]) == want
