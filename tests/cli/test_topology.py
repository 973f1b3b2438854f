"""`queueing topology`: what fits where, who sits there, and whom it costs to make room."""

import asyncio
import json
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from queueing.cli.local.cluster import ServerLocation, local_cluster
from queueing.cli.main import cli
from queueing.sim.documents import Document, parse
from queueing.sim.yaml_text import read
from tests.scenarios.short_form import expand

WORLD = """\
flavors:
  gpu: {nodeLabels: {pool: gpu}, topologyName: dc}
nodes:
  n1: {in: a/r1, cpu: 4}
  n2: {in: a/r1, cpu: 4}
  n3: {in: a/r2, cpu: 4}
  n4: {in: a/r2, cpu: 4}
  n5: {in: b/r3, cpu: 4}
queues:
  q: {cpu: {gpu: 100}}
running:
  low: {cpu: 1, count: 5, priority: 1, on: {n1: 3, n3: 2}}
  high: {cpu: 1, count: 4, priority: 9, on: {n4: 4}}
  young: {cpu: 1, count: 2, priority: 1, on: {n2: 2}}
"""
OTHER = """\
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: cubes}
spec: {levels: [{nodeLabel: cube}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: tpu}
spec: {nodeLabels: {pool: tpu}, topologyName: cubes}
"""
LINKS = "[{nodeLabel: link}, {nodeLabel: kubernetes.io/hostname}]"


@pytest.fixture
def world(tmp_path: Path) -> Path:
    value, node = next(read(WORLD, file="world"))
    page = Document(file="world", value=value, node=node)
    path = tmp_path / "world.yaml"
    path.write_text(yaml.dump_all([dict(one.value) for one in expand(page, ())]))
    return path


def ask(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["topology", *arguments])


def told(*arguments: str) -> Any:
    result = ask(*arguments, "-o", "json")
    assert result.exit_code == 0, result.output
    (flavor,) = json.loads(result.stdout)["flavors"]
    return flavor


def leaves(spaces: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in spaces:
        found |= leaves(one["domains"]) if one["domains"] else {one["name"]: one}
    return found


def test_each_topology_of_a_flavor_is_shown_and_a_level_names_its_own(
    world: Path, tmp_path: Path
) -> None:
    """The links lie across racks: l1 is n1 and n3, which hold five of eight."""
    objects = list(yaml.safe_load_all(world.read_text()))
    for one in objects:
        if one["kind"] == "ResourceFlavor":
            one["metadata"]["annotations"] = {"queueing.dev/nearer-topologies": "links, dc"}
        if one["metadata"]["name"] in {"n1", "n3"}:
            one["metadata"]["labels"]["link"] = "l1"
    objects += yaml.safe_load_all(
        OTHER.replace("cubes", "links").replace("[{nodeLabel: cube}]", LINKS)
    )
    path = tmp_path / "linked.yaml"
    path.write_text(yaml.dump_all(one for one in objects if one))
    found = json.loads(ask("-f", str(path), "--flavor", "gpu", "-o", "json").stdout)["flavors"]
    assert [one["topology"] for one in found] == ["dc", "links"]
    link = told("-f", str(path), "--flavor", "gpu", "--count", "4", "--level", "link")
    assert [(one["name"], one["fits"]) for one in link["domains"]] == [("l1", 3)]
    (opening,) = link["openings"]["openings"]
    assert (opening["domain"], [one["workload"] for one in opening["stopped"]]) == (
        "l1",
        ["team/low"],
    )


def test_each_level_says_what_fits_in_all_and_in_the_best_domain(world: Path) -> None:
    levels = told("-f", str(world))["levels"]
    facts = {one["name"]: (one["domains"], one["fits"], one["most"], one["best"]) for one in levels}
    assert facts == {
        "block": (2, 9, 5, "a"),
        "rack": (3, 9, 4, "b/r3"),
        "kubernetes.io/hostname": (5, 9, 4, "b/r3/n5"),
    }


def test_fragmentation_is_what_fits_outside_the_best_domain(world: Path) -> None:
    levels = told("-f", str(world))["levels"]
    assert [one["fragmentation"] for one in levels] == [0.444, 0.556, 0.556]


def test_nodes_say_who_sits_there(world: Path) -> None:
    seats = leaves(told("-f", str(world))["domains"])["n3"]["seats"]
    assert [(one["workload"], one["pods"], one["priority"]) for one in seats] == [
        ("team/low", 2, 1)
    ]


def test_larger_pods_fit_where_their_whole_request_is_free(world: Path) -> None:
    layout = told("-f", str(world), "--pod", "cpu=2")
    assert {name: one["fits"] for name, one in leaves(layout["domains"]).items()} == {
        "n1": 0,
        "n2": 1,
        "n3": 1,
        "n4": 0,
        "n5": 2,
    }


def opened(world: Path, *arguments: str) -> list[tuple[str, list[str], int]]:
    found = told("-f", str(world), *arguments)["openings"]["openings"]
    return [
        (one["domain"], [who["workload"] for who in one["stopped"]], one["fits"]) for one in found
    ]


def test_where_pods_fit_nobody_has_to_go(world: Path) -> None:
    assert opened(world, "--count", "4", "--level", "rack")[0] == ("b/r3", [], 4)


def test_the_cheapest_stop_is_told_first(world: Path) -> None:
    """`low` alone would not open r2, and beside `high` it need not go; r3 is too small."""
    assert opened(world, "--count", "5", "--level", "rack") == [
        ("a/r1", ["team/young"], 5),
        ("a/r2", ["team/high"], 6),
    ]


def test_who_is_leaving_still_has_its_place_and_costs_nothing(world: Path) -> None:
    """Six cores of r1 are free when `low`, which has three of its own there, has left."""
    found = list(yaml.safe_load_all(world.read_text()))
    (low,) = (one for one in found if one["metadata"]["name"] == "low")
    evicted = {"reason": "Preempted", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    low["status"]["conditions"].append({"type": "Evicted", "status": "True", **evicted})
    world.write_text(yaml.dump_all(found))
    arguments = ("--count", "5", "--level", "rack")
    assert opened(world, *arguments) == [
        ("a/r1", ["team/low"], 6),
        ("a/r2", ["team/high"], 6),
    ]
    result = ask("-f", str(world), *arguments)
    assert "a/r1: stop team/low (leaving); then 6 fit" in result.stdout


def test_who_could_go_on_elsewhere_instead_is_told(world: Path) -> None:
    found = list(yaml.safe_load_all(world.read_text()))
    (queue,) = (one for one in found if one["kind"] == "ClusterQueue")
    queue["metadata"]["annotations"] = {"queueing.dev/checkpoint-policy": "team/save"}
    found.append(
        {
            "apiVersion": "queueing.dev/v1alpha1",
            "kind": "CheckpointPolicy",
            "metadata": {"name": "save", "namespace": "team"},
            "spec": {"driver": "Annotation", "movable": True},
        }
    )
    world.write_text(yaml.dump_all(found))
    result = ask("-f", str(world), "--count", "5", "--level", "rack")
    assert "a/r1: stop team/young (priority 1, 2 pods, movable); then 5 fit" in result.stdout


def test_workloads_of_a_high_priority_may_be_left_out(world: Path) -> None:
    told = opened(world, "--count", "5", "--level", "rack", "--below", "9")
    assert told == [("a/r1", ["team/young"], 5)]


def test_a_level_that_only_one_topology_has_means_the_flavors_of_that_topology(
    world: Path,
) -> None:
    with world.open("a") as file:
        file.write(OTHER)
    assert opened(world, "--count", "5", "--level", "rack")[0][0] == "a/r1"
    result = ask("-f", str(world), "--count", "5", "--level", "rack", "--flavor", "tpu")
    assert result.exit_code == 2
    assert "the topology of flavor tpu has no level rack; it has cube" in result.output


def test_what_no_domain_could_ever_hold_is_said(world: Path) -> None:
    result = ask("-f", str(world), "--count", "9", "--level", "rack")
    assert "9 pods in one rack: no domain has room, whoever is stopped." in result.stdout


def test_to_try_who_must_go_leaves_no_trace(world: Path) -> None:
    before, after = told("-f", str(world)), told("-f", str(world), "--count", "5")
    del after["openings"]
    assert before == after


def test_the_tree_names_racks_nodes_and_workloads(world: Path) -> None:
    lines = ask("-f", str(world)).stdout.splitlines()
    assert "│   ├── n1  1 fit, free 1 of 4 cpu  team/low (3)" in lines


def test_the_picture_is_well_formed_and_names_everybody(world: Path) -> None:
    picture = ET.fromstring(ask("-f", str(world), "-o", "svg").stdout)
    texts = {one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert {"r1: 3 fit", "n5", "team/low", "team/high", "team/young"} <= texts


def test_nodes_that_are_set_aside_are_told_of(world: Path) -> None:
    with world.open("a") as file:
        file.write("---\n" + yaml.dump(node("n6", {"pool": "gpu", "block": "b"})))
    assert told("-f", str(world))["setAside"] == {"n6": "without the label rack of the topology"}


def node(name: str, labels: Mapping[str, str]) -> dict[str, Any]:
    status = {
        "allocatable": {"cpu": "4", "pods": "10"},
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--flavor", "nope"), "there is no ResourceFlavor nope with a topology; those that have"),
        (("--count", "1", "--level", "row"), "has no level row; it has block, rack"),
        (("--level", "rack"), "give it, too"),
        (("--pod", "cpu"), "write a resource and an amount above zero"),
        (("--pod", "cpu=much"), "'cpu=much'"),
        (("--pod", "cpu=0"), "write a resource and an amount above zero"),
    ],
)
def test_what_cannot_be_asked_is_said(world: Path, arguments: tuple[str, ...], said: str) -> None:
    result = ask("-f", str(world), *arguments)
    assert result.exit_code == 2
    assert said in result.output


def test_without_topologies_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    path.write_text("kind: ResourceFlavor\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {name: a}")
    assert ask("-f", str(path)).stdout.startswith("No flavor has a topology")


async def test_of_a_cluster_pods_of_others_take_their_room(world: Path, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    other = """\
---
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: v1
kind: Pod
metadata: {name: agent, namespace: default, annotations: {queueing.dev/simulate-seconds: "600"}}
spec:
  nodeName: n5
  containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}]
"""
    objects = parse(world.read_text() + other, file="objects")
    async with asyncio.timeout(60), local_cluster(ServerLocation(), objects) as server:
        kubeconfig.write_text(server.kubeconfig())
        found = await asyncio.to_thread(told, "--kubeconfig", str(kubeconfig))
    assert leaves(found["domains"])["n5"]["fits"] == 1
