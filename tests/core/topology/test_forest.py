"""What is free follows nodes, other pods and usage, in any order and without traces."""

import itertools
from random import Random

import pytest

from queueing.core.names import FlavorName, ResourceName
from queueing.core.selectors import Requirement, Taint, Toleration
from queueing.core.topology.assignment import HOSTNAME, Assignment
from queueing.core.topology.forest import Forest
from queueing.core.topology.placement import place
from queueing.core.topology.requests import Placeable, PodSetRequest, Profile, Term, in_order
from queueing.core.topology.searching import SearchTerms
from queueing.core.topology.tree import DEAD_MAX, LOG_MAX, Node, Tree
from tests.core.topology.builders import (
    CPU,
    FLAVOR,
    LEVELS,
    MAIN,
    PODS,
    TERMS,
    S,
    forest,
    node,
    pods,
    told,
    used,
)
from tests.core.topology.random_worlds import PROFILES, World, answer, requests, world


def ask(of: Forest, count: int, flavor: FlavorName = FLAVOR, **wanted: object) -> str:
    asked = pods(count, **wanted)  # type: ignore[arg-type]
    return told(place(of, {flavor: [asked]}, TERMS)[MAIN])


def picture(made: World) -> dict[tuple[str, ...], dict[str, tuple[int, int]]]:
    """Return what is free in each leaf, by path and resource, without what is zero."""
    tree = made.forest.tree(FLAVOR)
    return {
        tree.domains.path[leaf]: {
            resource: (tree.room[resource][leaf], tree.free[resource][leaf])
            for resource in sorted(tree.room)
            if tree.room[resource][leaf] or tree.free[resource][leaf]
        }
        for leaf in sorted(tree.domains.leaves, key=tree.domains.path.__getitem__)
    }


def rebuilt(made: World) -> World:
    """Return a world that is told the same in another order."""
    fresh = World(made.random, made.levels, made.beside)
    for usage in made.charged:
        fresh.charge(usage)
    for name, amounts in made.others.items():
        fresh.forest.set_others(name, amounts)
    for name in sorted(made.nodes, reverse=True):
        fresh.forest.put_node(made.nodes[name])
    for name, free in made.devices.items():
        fresh.set_devices(name, free)
    return fresh


@pytest.mark.parametrize("seed", range(60))
def test_a_forest_kept_along_equals_one_that_is_rebuilt(seed: int) -> None:
    made = world(seed)
    terms = SearchTerms(profile=PROFILES[seed % len(PROFILES)])
    for _ in range(30):
        made.change()
        fresh = rebuilt(made)
        assert picture(made) == picture(fresh)
        asked = requests(made)
        assert answer(made, asked, terms) == answer(fresh, asked, terms)


@pytest.mark.parametrize("seed", range(40))
def test_an_attempt_leaves_no_trace(seed: int) -> None:
    made, terms = world(seed), SearchTerms(profile=PROFILES[seed % len(PROFILES)])
    for _ in range(10):
        made.change()
        before, asked = picture(made), requests(made)
        first = answer(made, asked, terms)
        with made.forest.attempt():
            for usage in made.charged:
                made.charge(usage, -1)
            answer(made, asked, terms)
            with made.forest.attempt():
                made.charge({"n1": {CPU: 10**6}, "gone": {CPU: 1}})
                answer(made, asked, terms)
        assert picture(made) == before
        assert answer(made, asked, terms) == first


@pytest.mark.parametrize("seed", range(40))
def test_no_leaf_gets_more_than_is_free_there(seed: int) -> None:
    made, terms = world(seed), SearchTerms(profile=PROFILES[seed % len(PROFILES)])
    tree = made.forest.tree(FLAVOR)
    for _ in range(20):
        made.change()
        asked = requests(made)
        found = place(made.forest, {FLAVOR: asked}, terms)
        before = {resource: list(column) for resource, column in tree.free.items()}
        for one in asked:
            answered = found.get(one.name)
            if isinstance(answered, Assignment):
                is_leader = one.topology.group and one is min(reversed(asked), key=size)
                whole = one.count - one.count % slice_size(one.topology.slices)
                assert answered.count == (one.count if is_leader else whole)
                made.charge(answered.usage(in_order(dict(one.pod.requests), pods=1)))
        over = [
            (resource, leaf)
            for resource, column in tree.free.items()
            for leaf, amount in enumerate(column)
            if amount < 0 and amount < before[resource][leaf]
        ]
        assert over == []
        made.forest = rebuilt(made).forest
        tree = made.forest.tree(FLAVOR)


def size(one: PodSetRequest) -> int:
    return one.count


def slice_size(layers: tuple[object, ...]) -> int:
    return int(getattr(layers[0], "size", 1)) if layers else 1


@pytest.mark.parametrize("seed", range(150))
def test_a_place_is_found_exactly_if_there_is_one(seed: int) -> None:
    """Of pods alone: required is one domain of its level, anything else the whole cluster."""
    made, terms = world(seed), SearchTerms(profile=PROFILES[seed % len(PROFILES)])
    for _ in range(10):
        made.change()
        levels, random = made.levels, made.random
        level, mode, count = random.choice(levels), random.choice("rpu"), random.randrange(1, 12)
        asked = pods(
            count,
            required=level if mode == "r" else None,
            preferred=level if mode == "p" else None,
            unconstrained=True if mode == "u" else None,
        )
        depth = levels.index(level) + 1 if mode == "r" else 0
        room: dict[tuple[str, ...], int] = {}
        tree = made.forest.tree(FLAVOR)
        for leaf in tree.domains.leaves:
            if made.levels[-1] == HOSTNAME and any(
                taint.effect == "NoSchedule" for taint in tree.node_of(leaf).taints
            ):
                continue
            path = tree.domains.path[leaf]
            fitting = max(0, min(tree.free[CPU][leaf] // 1000, tree.free[PODS][leaf]))
            room[path[:depth]] = room.get(path[:depth], 0) + fitting
        found = place(made.forest, {FLAVOR: [asked]}, terms)[MAIN]
        assert isinstance(found, Assignment) == any(one >= count for one in room.values())


def test_a_flavor_sees_only_nodes_with_its_labels_and_all_levels() -> None:
    made = Forest()
    made.put_flavor(FLAVOR, "T", LEVELS, node_labels={"type": "gpu"})
    whole = node("a/r1/n1:4")
    labels = {**whole.labels, "type": "gpu"}
    cases = {
        "n1": (whole.labels, True, "without the label type=gpu of the flavor"),
        "n2": (
            {key: value for key, value in labels.items() if key != "rack"},
            True,
            "without the label rack of the topology",
        ),
        "n3": (labels, False, "not ready, or cordoned"),
        "n4": (labels, True, ""),
    }
    for name, (mine, schedulable, why) in cases.items():
        one = Node(name=name, labels=mine, capacity=whole.capacity, schedulable=schedulable)
        assert made.put_node(one) == ({FLAVOR: why} if why else {})
    assert ask(made, 4, required="rack") == "n1*4"
    assert "only 4 out of 5" in ask(made, 5, required="rack")


def test_a_node_that_comes_back_brings_what_is_used_and_held_there() -> None:
    made = forest("a/r1/n1:4")
    made.charge(used({"n1": {CPU: 1000, PODS: 1}}))
    made.set_others("n1", {CPU: 2000, PODS: 1})
    made.drop_node("n1")
    assert "no topology domains at level" in ask(made, 1, required="rack")
    made.put_node(node("b/r2/n1:4"))
    assert ask(made, 1, required="rack") == "n1*1"
    assert "only 1 out of 2" in ask(made, 2, required="rack")


def test_others_on_a_node_that_is_not_there_yet_count_when_it_is() -> None:
    made = forest("a/r1/n1:1")
    made.set_others("n2", {CPU: 3000})
    made.put_node(node("a/r1/n2:4"))
    assert "only 2 out of 3" in ask(made, 3, required="rack")


def test_nodes_that_share_a_hostname_are_one_leaf_at_the_place_of_the_first_by_name() -> None:
    first = node("a/r1/host:1", name="node-1")
    second = node("b/r2/host:2", name="node-2")
    for order in itertools.permutations([first, second]):
        made = Forest()
        made.put_flavor(FLAVOR, "T", LEVELS)
        for one in order:
            made.put_node(one)
        assert ask(made, 3, required="rack") == "host*3"
        made.drop_node("node-1")
        tree = made.tree(FLAVOR)
        assert [tree.domains.path[one] for one in tree.domains.leaves] == [("b", "r2", "host")]
        assert "only 2 out of 3" in ask(made, 3, required="rack")


@pytest.mark.parametrize(("overlap", "want"), [(True, "only 1 out of 2"), (False, "n1*2")])
def test_flavors_over_the_same_hosts_see_each_others_usage_if_they_overlap(
    overlap: bool, want: str
) -> None:
    made, other = Forest(overlap=overlap), FlavorName("other")
    made.put_flavor(FLAVOR, "T", LEVELS)
    made.put_node(node("a/r1/n1:3"))
    made.charge(used({"n1": {CPU: 2000, PODS: 2}}))
    made.put_flavor(other, "T", (HOSTNAME,))
    assert want in ask(made, 2, flavor=other, required=HOSTNAME)
    made.charge(used({"n1": {CPU: 2000, PODS: 2}}), -1)
    assert ask(made, 2, flavor=other, required=HOSTNAME) == "n1*2"


@pytest.mark.parametrize(
    ("key", "hosts", "want"),
    [
        pytest.param("n1", True, "default same", id="a host that two flavors share"),
        pytest.param("n9", True, "", id="a host that is gone"),
        pytest.param("a,r1", False, "", id="a rack of another flavor"),
    ],
)
def test_what_uses_a_leaf_is_told_to_flavors_that_have_it(key: str, hosts: bool, want: str) -> None:
    made = forest("a/r1/n1:3")
    made.put_flavor(FlavorName("same"), "T", (HOSTNAME,))
    made.put_flavor(FlavorName("none"), "T", (HOSTNAME,), node_labels={"pool": "none"})
    made.put_flavor(FlavorName("racks"), "T", LEVELS[:2])
    assert made.flavors_at(used({key: {CPU: 1000}}, hosts=hosts)) == set(want.split())


def test_a_node_has_a_leaf_in_the_tree_of_each_flavor_that_selects_it() -> None:
    made = forest("a/r1/n1:3")
    made.put_flavor(FlavorName("none"), "T", (HOSTNAME,), node_labels={"pool": "none"})
    made.put_flavor(FlavorName("racks"), "T", LEVELS[:2])
    assert made.leaves_of("n1") == {"n1", "a,r1"}
    made.drop_node("n1")
    assert made.leaves_of("n1") == set()


def test_pod_sets_in_two_flavors_see_each_other_where_these_overlap() -> None:
    made, other = forest("a/r1/n1:3"), FlavorName("other")
    made.put_flavor(other, "T", LEVELS)
    wanted = {FLAVOR: [pods(2, required="rack")], other: [pods(2, required="rack", name="two")]}
    found = place(made, wanted, TERMS)
    assert [told(one)[:20] for one in found.values()] == ["n1*2", 'topology "T" allows ']


def test_a_flavor_that_changes_keeps_what_its_workloads_use() -> None:
    made = forest("a/r1/n1:3")
    made.charge(used({"n1": {CPU: 2000, PODS: 2}}))
    made.put_flavor(FLAVOR, "T", ("rack", HOSTNAME))
    assert "only 1 out of 2" in ask(made, 2, required="rack")


def test_simulating_an_empty_cluster_ignores_workloads_and_nothing_else() -> None:
    made = forest("a/r1/n1:3")
    made.charge(used({"n1": {CPU: 2000, PODS: 2}}))
    made.set_others("n1", {CPU: 1000, PODS: 1})
    terms = SearchTerms(profile=Profile(), empty=True)
    both = [pods(2, required="rack"), pods(1, required="rack", name="two")]
    found = place(made, {FLAVOR: both}, terms)
    assert [told(one)[:7] for one in found.values()] == ["n1*2", "topolog"]


def test_taints_selectors_and_affinity_close_hosts_in_this_order() -> None:
    made = forest("a/r1/n1:1!gpu=yes:NoExecute a/r1/n2:1 a/r1/n3:1 a/r1/n4:1!x:PreferNoSchedule")
    on_n4 = Requirement(key="metadata.name", operator="In", values=("n4", "n1"))
    pod = Placeable(
        requests=in_order({CPU: 1000}),
        node_selector=((HOSTNAME, "n4"),),
        affinity=(Term(fields=(on_n4,)), Term()),
    )
    assert ask(made, 1, required="rack", pod=pod) == "n4*1"
    assert ask(made, 2, required="rack", pod=pod) == (
        'topology "T" allows to fit only 1 out of 2 pod(s). Total nodes: 4;'
        ' excluded: nodeSelector: 2, taint "gpu=yes:NoExecute": 1'
    )
    without = Placeable(requests=pod.requests, affinity=pod.affinity)
    assert "excluded: affinity: 2, taint" in ask(made, 3, required="rack", pod=without)


@pytest.mark.parametrize(
    ("taken", "scarce"),
    [
        pytest.param({CPU: 4_000, PODS: 103}, "pods", id="3 pods too many, and no cpu"),
        pytest.param({CPU: 7_000, PODS: 101}, "cpu", id="3 cpu too many, and one pod"),
        pytest.param({CPU: 4_500, PODS: 100}, "cpu", id="half a pod too many is none"),
    ],
)
def test_of_an_overdrawn_host_the_resource_is_told_that_most_pods_are_short_of(
    taken: dict[ResourceName, int], scarce: str
) -> None:
    world = forest("a/r1/n1:4")
    world.charge(used({"n1": taken}))
    excluded = f'Total nodes: 1; excluded: resource "{scarce}": 1'
    assert told(place(world, {FLAVOR: [pods(1, required="rack")]}, TERMS)[MAIN]).endswith(excluded)


def test_tolerations_of_the_flavor_count() -> None:
    made = forest("a/r1/n1:1!gpu:NoSchedule")
    assert 'excluded: taint "gpu:NoSchedule": 1' in ask(made, 1, required="rack")
    made.put_flavor(FLAVOR, "T", LEVELS, tolerations=(Toleration(key="gpu", operator="Exists"),))
    assert ask(made, 1, required="rack") == "n1*1"


def test_a_node_whose_taints_change_is_looked_at_again() -> None:
    made = forest("a/r1/n1:1")
    assert ask(made, 1, required="rack") == "n1*1"
    made.put_node(node("a/r1/n1:1!gpu:NoSchedule"))
    assert 'excluded: taint "gpu:NoSchedule": 1' in ask(made, 1, required="rack")
    made.put_node(node("a/r1/n1:1"))
    assert ask(made, 1, required="rack") == "n1*1"


def test_hosts_of_a_topology_without_hosts_are_not_asked_for_taints() -> None:
    made = Forest()
    made.put_flavor(FLAVOR, "T", ("block", "rack"))
    tainted = node("a/r1:2", ("block", "rack"), "node-1")
    taints = (Taint(key="gpu", effect="NoSchedule"),)
    made.put_node(
        Node(name="node-1", labels=tainted.labels, capacity=tainted.capacity, taints=taints)
    )
    assert ask(made, 2, required="rack") == "a,r1*2"


def test_a_decision_still_fits_if_every_leaf_has_what_it_takes() -> None:
    tree = forest("a/r1/n1:2 a/r1/n2:2").tree(FLAVOR)
    assert tree.has_room({"n1": {CPU: 2000}, "n2": {CPU: 1000}})
    assert not tree.has_room({"n1": {CPU: 2001}})
    assert not tree.has_room({"gone": {CPU: 1}})
    assert not tree.has_room({"n1": {}})


def test_domains_without_nodes_are_forgotten_at_last() -> None:
    made = forest("z/rz/last:3")
    for at in range(3 * DEAD_MAX):
        made.put_node(node(f"a/r{at}/n{at}:1"))
        made.drop_node(f"n{at}")
        if at % 500 == 0:
            assert "only 3 out of 4" in ask(made, 4, required="rack")
    assert len(made.tree(FLAVOR).domains) < 2 * DEAD_MAX
    assert ask(made, 3, required="rack") == "last*3"


def test_counts_that_are_too_old_to_catch_up_are_counted_again() -> None:
    made = forest(S)
    tree = made.tree(FLAVOR)
    assert ask(made, 5, required="rack") == "n5*5"
    made.charge(used({"n5": {CPU: 1000, PODS: 1}}))
    for _ in range(LOG_MAX):
        tree.changes.add(1)
    assert ask(made, 5, required="rack") == "n3*1 n4*4"


def test_ties_do_not_depend_on_the_order_in_which_nodes_arrive() -> None:
    names = [
        f"{block}/{rack}/{block}{rack}{host}:2" for block in "ab" for rack in "rs" for host in "12"
    ]
    answers = set()
    for seed in range(20):
        Random(seed).shuffle(names)
        made = forest(" ".join(names))
        answers.add((ask(made, 3, required="rack"), ask(made, 3, unconstrained=True)))
    assert answers == {("ar1*2 ar2*1", "ar1*2 ar2*1")}


def test_a_tree_alone_can_be_used_as_well() -> None:
    tree = Tree("T", LEVELS)
    assert tree.put_node(node("a/r1/n1:2")) == ""
    tree.charge({"n1": {CPU: 500}})
    assert tree.free[CPU][tree.domains.leaf_of["n1"]] == 1500
