from queueing.controller.placement.nodes import Nodes
from queueing.core.facts import Fact, Gone, Kind, NodeUsageFact
from queueing.core.topology.tree import Node as NodeFact
from queueing.kube.reflector import Added, Deleted, Modified
from queueing.translate.inbound.manifests import read
from queueing.translate.wire.nodes import BoundPod, Node

REQUIRED = "kueue.x-k8s.io/podset-required-topology"


def pod(uid: str, cpu: str, *, node: str = "n", phase: str = "Running", **mark: str) -> BoundPod:
    return read(
        BoundPod,
        {
            "metadata": {"name": uid, "uid": uid, "annotations": mark},
            "spec": {
                "nodeName": node,
                "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}],
            },
            "status": {"phase": phase},
        },
    )


def usage(facts: list[Fact]) -> list[tuple[str, dict[str, int]]]:
    found = [one for one in facts if isinstance(one, NodeUsageFact)]
    return [(one.name, {str(name): of for name, of in one.usage.items()}) for one in found]


def test_what_pods_use_of_a_node_is_told_at_once_and_what_they_give_back_later() -> None:
    told: list[Fact] = []
    nodes = Nodes(told.append)
    nodes.on_pod(Added(pod("a", "1")))
    nodes.on_pod(Added(pod("b", "500m")))
    assert usage(told) == [("n", {"cpu": 1000, "pods": 1}), ("n", {"cpu": 1500, "pods": 2})]
    told.clear()
    nodes.on_pod(Deleted("ns/a", "a", None))
    assert told == []
    nodes.tell_freed()
    nodes.tell_freed()
    assert usage(told) == [("n", {"cpu": 500, "pods": 1})]


def test_pods_that_have_ended_or_that_a_topology_placed_use_nothing() -> None:
    told: list[Fact] = []
    nodes = Nodes(told.append)
    nodes.on_pod(Added(pod("a", "1", phase="Succeeded")))
    nodes.on_pod(Added(pod("b", "1", **{REQUIRED: "rack"})))
    nodes.on_pod(Added(pod("c", "1", node="")))
    nodes.tell_freed()
    assert told == []


def test_a_pod_that_ends_is_counted_no_more() -> None:
    told: list[Fact] = []
    nodes = Nodes(told.append)
    nodes.on_pod(Added(pod("a", "1")))
    nodes.on_pod(Modified(pod("a", "1", phase="Failed")))
    nodes.tell_freed()
    assert usage(told)[-1] == ("n", {})


def test_a_node_is_schedulable_if_it_is_ready_and_not_cordoned() -> None:
    told: list[Fact] = []
    nodes = Nodes(told.append)
    ready = [{"type": "Ready", "status": "True"}]
    for name, spec, conditions in (
        ("good", {}, ready),
        ("cordoned", {"unschedulable": True}, ready),
        ("silent", {}, []),
    ):
        status = {"allocatable": {"cpu": "2", "pods": "10"}, "conditions": conditions}
        value = {"metadata": {"name": name}, "spec": spec, "status": status}
        nodes.on_node(Added(read(Node, value)))
    nodes.on_node(Deleted("good", "", None))
    found = {one.name: one.schedulable for one in told if isinstance(one, NodeFact)}
    assert found == {"good": True, "cordoned": False, "silent": False}
    assert told[-1] == Gone(Kind.NODE, "good")
