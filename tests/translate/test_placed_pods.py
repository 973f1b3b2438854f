from typing import Any

import pytest

from queueing.core.topology.assignment import Assignment, Domain
from queueing.translate.inbound.manifests import read
from queueing.translate.jobs.placed_pods import PlacedPod, letting_go, ways
from queueing.translate.jobs.pod_sets import JOB_INDEX, topology_request
from queueing.translate.wire.workloads import Workload

HOSTNAME = "kubernetes.io/hostname"
GATE = "kueue.x-k8s.io/topology"
PREFIX = "kueue.x-k8s.io/podset-"
ON_TWO = Assignment((HOSTNAME,), (Domain(("n1",), 2), Domain(("n2",), 1)))


def pod(
    name: str,
    index: int | None = None,
    *,
    gone_to: str = "",
    phase: str = "",
    pod_set: str = "main",
    **labels: str,
) -> PlacedPod:
    told = {"kueue.x-k8s.io/podset": pod_set, **labels}
    if index is not None:
        told[JOB_INDEX] = str(index)
    spec: dict[str, Any] = {"schedulingGates": [{"name": GATE}, {"name": "other"}]}
    if gone_to:
        spec = {"nodeSelector": {HOSTNAME: gone_to}}
    metadata = {"name": name, "namespace": "ns", "labels": told}
    return read(PlacedPod, {"metadata": metadata, "spec": spec, "status": {"phase": phase}})


def workload(*pod_sets: dict[str, Any]) -> Workload:
    numbered = {"topologyRequest": {"podIndexLabel": JOB_INDEX}}
    named = [{"name": "main", "count": 3, **one} for one in pod_sets or (numbered,)]
    return read(Workload, {"metadata": {"name": "w"}, "spec": {"podSets": named}})


def sent(of: Workload, pods: list[PlacedPod], number: int = 0) -> dict[str, str]:
    found = ways(of, of.spec.pod_sets[number], ON_TWO, pods)
    return {one.metadata.name: way[HOSTNAME] for one, way in found}


def test_pods_go_to_domains_in_the_order_of_their_ranks() -> None:
    pods = [pod("c", 0), pod("b", 2), pod("a", 1)]
    assert sent(workload(), pods) == {"a": "n1", "b": "n2", "c": "n1"}


def test_a_pod_that_comes_again_goes_where_the_one_of_its_rank_was() -> None:
    pods = [pod("a", 0, gone_to="n1"), pod("old", 1, gone_to="n1", phase="Failed"), pod("new", 1)]
    assert sent(workload(), pods) == {"new": "n1"}


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param([pod("a"), pod("b"), pod("c")], id="no numbers"),
        pytest.param([pod("a", 0), pod("b", 0), pod("c", 1)], id="a number twice"),
        pytest.param([pod("a", 0), pod("b", 1), pod("c", 7)], id="a number too large"),
    ],
)
def test_pods_without_ranks_go_in_the_order_of_their_names(odd: list[PlacedPod]) -> None:
    assert sent(workload(), odd) == {"a": "n1", "b": "n1", "c": "n2"}


def test_pods_without_ranks_go_where_room_is_left_beside_those_that_went() -> None:
    pods = [pod("x", gone_to="n1"), pod("y", gone_to="n2"), pod("z"), pod("too-many")]
    assert sent(workload(), pods) == {"too-many": "n1"}


def test_groups_of_a_set_follow_each_other() -> None:
    request = {
        "podIndexLabel": JOB_INDEX,
        "subGroupIndexLabel": "job",
        "subGroupCount": 3,
        "required": "rack",
    }
    pods = [pod("a", 0, job="2"), pod("b", 0, job="0"), pod("c", 0, job="1")]
    assert sent(workload({"topologyRequest": request}), pods) == {"b": "n1", "c": "n1", "a": "n2"}


def test_workers_of_a_group_are_numbered_after_their_leader() -> None:
    request = {"podSetGroupName": "g", "required": "rack", "podIndexLabel": JOB_INDEX}
    both = workload(
        {"name": "leader", "count": 1, "topologyRequest": request}, {"topologyRequest": request}
    )
    pods = [pod("c", 3), pod("b", 2), pod("a", 1)]
    assert sent(both, pods, number=1) == {"a": "n1", "b": "n1", "c": "n2"}


def test_workers_of_a_leader_worker_set_are_numbered_after_their_leader() -> None:
    index = "leaderworkerset.sigs.k8s.io/worker-index"
    workers = {"name": "worker", "topologyRequest": {"podIndexLabel": index}}
    both = workload({"name": "leader", "count": 1}, workers)
    ranks = {"c": {index: "1"}, "a": {index: "3"}}
    pods = [pod(name, pod_set="worker", **labels) for name, labels in ranks.items()]  # type: ignore[arg-type]
    assert sent(both, pods, number=1) == {"c": "n1", "a": "n2"}


def test_a_pod_waits_whose_node_failed() -> None:
    status = {"unhealthyNodes": [{"name": "n1"}]}
    of = read(Workload, {"metadata": {"name": "w"}, "spec": {"podSets": [{}]}, "status": status})
    found = ways(of, of.spec.pod_sets[0], ON_TWO, [pod("a"), pod("b"), pod("c")])
    assert [one.metadata.name for one, _ in found] == ["c"]


def test_a_pod_is_let_go_by_its_gate_and_a_node_selector() -> None:
    patch = letting_go(pod("a"), {HOSTNAME: "n1"}).body
    gates, selector = [{"name": "other"}], {HOSTNAME: "n1"}
    assert patch == {"spec": {"schedulingGates": gates, "nodeSelector": selector}}


@pytest.mark.parametrize(
    ("asked", "want"),
    [
        ({"required-topology": "rack"}, {"required": "rack"}),
        ({"preferred-topology": "rack", "required-topology": "b"}, {"required": "b"}),
        ({"unconstrained-topology": "T"}, {"unconstrained": True}),
        ({"unconstrained-topology": "false"}, {"unconstrained": False}),
        ({"unconstrained-topology": "maybe"}, None),
        ({"slice-size": "2"}, None),
        (
            {"slice-required-topology": "rack", "slice-size": "2"},
            {"podSetSliceRequiredTopology": "rack", "podSetSliceSize": 2},
        ),
        (
            {"slice-required-topology-constraints": '[{"topology": "rack", "size": 4}]'},
            {"podsetSliceRequiredTopologyConstraints": [{"topology": "rack", "size": 4}]},
        ),
        ({"slice-required-topology-constraints": "rack"}, None),
        (
            {"required-topology": "rack", "group-name": "g"},
            {"required": "rack", "podSetGroupName": "g"},
        ),
        ({"group-name": "g"}, None),
    ],
)
def test_annotations_of_pods_ask_for_a_topology(
    asked: dict[str, str], want: dict[str, Any] | None
) -> None:
    found = topology_request({f"{PREFIX}{name}": value for name, value in asked.items()})
    assert found == ({} if want is None else {"topologyRequest": want})


def test_how_pods_are_numbered_is_told_also_if_nothing_is_asked_for() -> None:
    index = {"podIndexLabel": JOB_INDEX}
    assert topology_request({}, index) == {"topologyRequest": index}
