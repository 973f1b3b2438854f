"""Assignments of a plan are written as Workloads store them and read back, and drawn for people."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from queueing.cli.main import cli
from queueing.cli.plan_places import PlanPlaces
from queueing.cli.plan_tables import difference
from queueing.cli.topology.drawing import DRAWN
from queueing.core.settings import Compatibility
from queueing.sim.documents import parse
from queueing.sim.intake import read_world
from queueing.sim.plan import until_stable
from queueing.sim.report import as_json

KUEUE = "kueue.x-k8s.io/v1beta2"
HOST = "kubernetes.io/hostname"
OBJECTS: Sequence[dict[str, Any]] = (
    {
        "apiVersion": KUEUE,
        "kind": "ResourceFlavor",
        "metadata": {"name": "gpu"},
        "spec": {"nodeLabels": {"pool": "gpu"}, "topologyName": "dc"},
    },
    {
        "apiVersion": KUEUE,
        "kind": "ClusterQueue",
        "metadata": {"name": "a"},
        "spec": {
            "namespaceSelector": {},
            "resourceGroups": [
                {
                    "coveredResources": ["cpu"],
                    "flavors": [
                        {"name": "gpu", "resources": [{"name": "cpu", "nominalQuota": 20}]}
                    ],
                }
            ],
        },
    },
    {
        "apiVersion": KUEUE,
        "kind": "LocalQueue",
        "metadata": {"name": "a", "namespace": "team"},
        "spec": {"clusterQueue": "a"},
    },
)


def topology(*levels: str) -> dict[str, Any]:
    spec = {"levels": [{"nodeLabel": one} for one in levels]}
    return {"apiVersion": KUEUE, "kind": "Topology", "metadata": {"name": "dc"}, "spec": spec}


def node(place: str, cpu: int) -> dict[str, Any]:
    rack, name = place.split("/")
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"pool": "gpu", "rack": rack, HOST: name}},
        "status": {
            "allocatable": {"cpu": cpu, "pods": 110},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def workload(name: str, count: int, level: str) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": 1}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    pods = {"name": "main", "count": count, "template": template}
    pods["topologyRequest"] = {"preferred": level}
    return {
        "apiVersion": KUEUE,
        "kind": "Workload",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"queueName": "a", "podSets": [pods]},
    }


def decisions(*documents: dict[str, Any]) -> list[dict[str, Any]]:
    text = yaml.safe_dump_all([*OBJECTS, *documents])
    ran = CliRunner().invoke(cli, ["plan", "-f", "-", "-o", "json"], input=text)
    assert ran.exit_code == 0, ran.output
    found: list[dict[str, Any]] = json.loads(ran.stdout)["rounds"][0]["decisions"]
    return found


def assigned(decision: dict[str, Any]) -> Any:
    return decision["podSetAssignments"][0]["topologyAssignment"]


def test_hosts_are_told_by_what_their_names_share() -> None:
    levels, nodes = topology("rack", HOST), (node("r1/n1-x", 2), node("r1/n2-x", 1))
    (admitted,) = decisions(levels, *nodes, workload("w", 3, "rack"))
    assert assigned(admitted) == {
        "levels": [HOST],
        "slices": [
            {
                "domainCount": 2,
                "valuesPerLevel": [
                    {"individual": {"prefix": "n", "suffix": "-x", "roots": ["1", "2"]}}
                ],
                "podCounts": {"individual": [2, 1]},
            }
        ],
    }


def test_racks_are_told_with_all_levels_where_hosts_are_none() -> None:
    levels, nodes = topology("pool", "rack"), (node("r1/n1", 2), node("r1/n2", 1))
    (admitted,) = decisions(levels, *nodes, workload("w", 3, "rack"))
    assert assigned(admitted) == {
        "levels": ["pool", "rack"],
        "slices": [
            {
                "domainCount": 1,
                "valuesPerLevel": [{"universal": "gpu"}, {"universal": "r1"}],
                "podCounts": {"universal": 3},
            }
        ],
    }


@pytest.mark.parametrize("levels", [("rack", HOST), ("pool", "rack")])
def test_what_was_planned_holds_its_places_when_it_is_given_back(levels: tuple[str, ...]) -> None:
    cluster = (topology(*levels), node("r1/n1", 2), node("r1/n2", 1), node("r2/n3", 2))
    first = workload("first", 3, "rack")
    (admitted,) = decisions(*cluster, first)
    held = {"clusterQueue": "a", "podSetAssignments": admitted["podSetAssignments"]}
    since = {"reason": "r", "message": "", "lastTransitionTime": "2025-12-31T00:00:00Z"}
    conditions = [{"type": one, "status": "True", **since} for one in ("QuotaReserved", "Admitted")]
    ran = first | {"status": {"admission": held, "conditions": conditions}}
    (second,) = decisions(*cluster, ran, workload("second", 2, "rack"))
    told = json.dumps(assigned(second))
    assert ("n3" in told) or ("r2" in told), told
    (third,) = decisions(*cluster, ran, workload("third", 3, "rack"))
    assert third["action"] == "Wait"


def drawn(*documents: dict[str, Any]) -> list[str]:
    """Return the trees of a plan, one line after the other."""
    text = yaml.safe_dump_all([*OBJECTS, *documents])
    ran = CliRunner().invoke(cli, ["plan", "-f", "-"], input=text)
    assert ran.exit_code == 0, ran.output
    return [line for part in ran.stdout.split("\n\n")[1:-2] for line in part.splitlines()]


def test_pods_on_hosts_are_drawn_below_the_domains_of_these() -> None:
    levels, nodes = topology("example.com/pool", "rack", HOST), (node("r1/n1", 2), node("r2/n2", 1))
    for one in nodes:
        one["metadata"]["labels"]["example.com/pool"] = "gpu"
    assert drawn(levels, *nodes, workload("w", 3, "rack")) == [
        "team/w, main x3 by pool, rack, hostname",
        "└── gpu  3 pods",
        "    ├── r1  2 pods",
        "    │   └── n1  2 pods",
        "    └── r2  1 pod",
        "        └── n2  1 pod",
    ]


def test_pods_in_racks_are_drawn_where_hosts_are_no_level() -> None:
    levels, nodes = topology("pool", "rack"), (node("r1/n1", 2), node("r1/n2", 1))
    assert drawn(levels, *nodes, workload("w", 3, "rack")) == [
        "team/w, main x3 by pool, rack",
        "└── gpu  3 pods",
        "    └── r1  3 pods",
    ]


def test_of_many_domains_the_first_are_drawn_and_the_rest_is_counted() -> None:
    nodes = [node("r1/most", 2), *(node(f"r1/n{at}", 1) for at in range(DRAWN + 1))]
    lines = drawn(topology("rack", HOST), *nodes, workload("w", DRAWN + 3, "rack"))
    assert lines[1:3] == [f"└── r1  {DRAWN + 3} pods", "    ├── most  2 pods"]
    assert len(lines) == 2 + DRAWN + 1
    assert lines[-1] == "    └── 2 more  2 pods"


def test_only_who_is_admitted_by_a_change_is_drawn_of_it() -> None:
    cluster = (*OBJECTS, topology("rack", HOST), workload("w", 3, "rack"), node("r1/n1", 2))
    worlds = [
        read_world(
            parse(yaml.safe_dump_all(each), file="f.yaml"),
            now=1_767_225_700.0,
            compatibility=Compatibility.QUEUEING,
        )
        for each in (cluster, (*cluster, node("r2/n2", 1)))
    ]
    plans = [until_stable(one.facts, settings=one.settings, now=1.0) for one in worlds]
    told = difference(*map(as_json, plans), places=PlanPlaces(worlds[-1].facts))
    assert told.split("\n\n")[1].splitlines()[0] == "team/w, main x3 by rack, hostname"


def test_who_is_placed_nowhere_is_not_drawn() -> None:
    elsewhere = workload("w", 20, "rack")
    assert drawn(topology("rack", HOST), node("r1/n1", 2), elsewhere) == []
