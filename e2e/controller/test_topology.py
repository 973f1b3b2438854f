"""Gangs land on one rack in the order of their ranks, on the real control plane."""

from collections.abc import Iterator

import pytest

from e2e.api import condition, holds
from e2e.jobs import wait_job, wait_workload
from e2e.nodes import make_nodes
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue, workload_priority
from e2e.product import Controller
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World

KUEUE = "kueue.x-k8s.io/v1beta2"
REQUIRED = "kueue.x-k8s.io/podset-required-topology"
INDEX = "batch.kubernetes.io/job-completion-index"
RACKS = ("r1", "r2")


@pytest.fixture
def racks(space: World) -> Iterator[dict[str, str]]:
    """Make two racks of two nodes for two pods each; give the rack of each node."""
    found: dict[str, str] = {}
    pool = {"topology.test/pool": space.name("pool")}
    for rack in RACKS:
        labels = {**pool, "topology.test/rack": rack}
        group = space.name(rack)
        for name in make_nodes(space.api, 2, group=group, resources={"cpu": "2"}, labels=labels):
            found[name] = rack
    levels = [{"nodeLabel": one} for one in ("topology.test/rack", "kubernetes.io/hostname")]
    topology = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Topology",
        "metadata": {"name": space.name("dc")},
    }
    space.make(
        {**topology, "spec": {"levels": levels}},
        flavor(space.name("racks"), nodeLabels=pool, topologyName=space.name("dc")),
        cluster_queue(
            space.name("cq"),
            {space.name("racks"): {"cpu": "100"}},
            preemption={"withinClusterQueue": "LowerPriority"},
        ),
        local_queue(space.namespace, "team", space.name("cq")),
        workload_priority(space.name("high"), 1000),
    )
    space.wait_for_queue("team")
    yield found
    for name in found:
        space.api.delete("Node", name)


def gang(space: World, name: str, pods: int, *, run_s: float | None = None, **more: str) -> Object:
    """Return an Indexed Job whose pods must all be in one rack."""
    asked = Pods(run_s=run_s, annotations={REQUIRED: "topology.test/rack"})
    made = job(space.namespace, name, queue="team", parallelism=pods, pods=asked, labels=more)
    made["spec"]["completionMode"] = "Indexed"
    return made


def wait_on_nodes(space: World, name: str, count: int) -> dict[int, str]:
    """Wait until all pods of a Job are on nodes; return the node of each rank."""
    pods = space.api.wait(
        "Pod",
        lambda found: sum(bool(one["spec"].get("nodeName")) for one in found) == count,
        namespace=space.namespace,
        labels=f"job-name={name}",
        what=f"{count} pods of {name} on nodes",
    )
    return {int(one["metadata"]["labels"][INDEX]): one["spec"]["nodeName"] for one in pods}


def test_a_gang_is_on_one_rack_by_rank_and_a_larger_one_says_what_is_missing(
    space: World, controller: Controller, racks: dict[str, str]
) -> None:
    space.api.create(gang(space, "first", 4))
    first = wait_on_nodes(space, "first", 4)
    assert len({racks[node] for node in first.values()}) == 1
    nodes = [first[rank] for rank in range(4)]
    assert nodes == sorted(nodes)
    assert len(set(nodes[:2])) == len(set(nodes[2:])) == 1

    space.api.create(gang(space, "second", 3))
    second = wait_on_nodes(space, "second", 3)
    assert {racks[node] for node in second.values()}.isdisjoint(racks[one] for one in nodes)

    space.api.create(gang(space, "large", 5))
    waiting = wait_workload(
        space,
        "large",
        lambda one: "topology" in condition(one, "QuotaReserved").get("message", ""),
        "a reason that tells of the topology",
    )
    assert "out of 5 pod(s)" in condition(waiting, "QuotaReserved")["message"]

    space.api.create(gang(space, "urgent", 4, run_s=1, **priority(space)))
    urgent = wait_on_nodes(space, "urgent", 4)
    assert len({racks[node] for node in urgent.values()}) == 1
    wait_job(space, "urgent", lambda one: holds(one, "Complete"), "complete")

    for name in ("first", "second", "large"):
        space.api.delete("Job", name, namespace=space.namespace)
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def priority(space: World) -> dict[str, str]:
    return {"kueue.x-k8s.io/priority-class": space.name("high")}
