"""On random nodes, what is replaced is what was on the failed node, and it fits."""

from dataclasses import replace

import pytest

from queueing.core.topology.assignment import Assignment, Occupancy
from queueing.core.topology.placement import place
from queueing.core.topology.replacement import replace_node
from queueing.core.topology.requests import Requests, in_order
from tests.core.topology.builders import FLAVOR, TERMS, used
from tests.core.topology.random_worlds import requests, world

SEEDS = range(400)


def _usage(found: Assignment, one_pod: Requests) -> Occupancy:
    return used(found.usage(in_order(dict(one_pod), pods=1)))


@pytest.mark.parametrize("seed", SEEDS)
def test_only_pods_of_the_failed_node_move_and_no_node_gets_more_than_it_has(seed: int) -> None:
    made = world(seed)
    forest, tree = made.forest, made.forest.tree(FLAVOR)
    if not tree.hosts:
        return
    (asked, *_) = requests(made)
    asked = replace(asked, topology=replace(asked.topology, group=""))
    before = place(forest, {FLAVOR: [asked]}, TERMS)[asked.name]
    if not isinstance(before, Assignment) or len(before.domains) < 1:
        return
    forest.charge(_usage(before, asked.pod.requests))
    lost = made.random.choice(before.domains).key
    for name in [one.name for one in made.nodes.values() if tree.key_of(one) == lost]:
        forest.drop_node(name)
    held = {key: dict(amounts) for key, amounts in forest.picture()["charged"].items()}
    current = replace(asked, current=before)
    after = replace_node(forest, FLAVOR, [current], lost, TERMS)[asked.name]
    assert forest.picture()["charged"] == held, "a search leaves no trace"
    if not isinstance(after, Assignment):
        return
    stayed = {one.key: one.count for one in before.domains if one.key != lost}
    now = {one.key: one.count for one in after.domains}
    gone = before.count - sum(stayed.values())
    placed = gone - gone % (asked.topology.slices[0].size if asked.topology.slices else 1)
    assert all(now.get(key, 0) >= count for key, count in stayed.items()), "others stay"
    assert lost not in now
    assert placed <= after.count - sum(stayed.values()) <= gone
    moved = {key: count - stayed.get(key, 0) for key, count in now.items()}
    for key, count in moved.items():
        for resource, amount in in_order(dict(asked.pod.requests), pods=1):
            free = tree.free[resource][tree.domains.leaf_of[key]]
            assert not count or amount * count <= free, f"{key} has {free} {resource}"
    required = asked.topology.required
    if required and len(now) > 1 and stayed:
        level = tree.levels.index(required)
        domains = {tree.domains.above(tree.domains.leaf_of[one], level) for one in now}
        if not asked.topology.slices:
            assert len(domains) == 1, "they share the required domain"
