"""Gangs land on one rack in the order of their ranks, on the real control plane."""

from collections import Counter
from collections.abc import Iterator

import pytest

from e2e.api import condition, holds
from e2e.checkpoints.training import TERMS
from e2e.checkpoints.training import answer as answer_request
from e2e.jobs import running, wait_job, wait_workload, workload_of
from e2e.nodes import make_node, make_nodes
from e2e.objects import (
    Pods,
    checkpoint_policy,
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload_priority,
)
from e2e.product import Controller
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World

KUEUE = "kueue.x-k8s.io/v1beta2"
REQUIRED = "kueue.x-k8s.io/podset-required-topology"
PREFERRED = "kueue.x-k8s.io/podset-preferred-topology"
INDEX = "batch.kubernetes.io/job-completion-index"
RACKS = ("r1", "r2")


def pool_of(space: World) -> dict[str, str]:
    """Return the label of the nodes of a test."""
    return {"topology.test/pool": space.name("pool")}


@pytest.fixture
def racks(space: World) -> Iterator[dict[str, str]]:
    """Make two racks of two nodes for two pods each; give the rack of each node."""
    found: dict[str, str] = {}
    pool = pool_of(space)
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
        if space.api.find("Node", name) is not None:
            space.api.delete("Node", name)


def gang(space: World, name: str, pods: int, *, run_s: float | None = None, **more: str) -> Object:
    """Return an Indexed Job whose pods must all be in one rack."""
    asked = Pods(run_s=run_s, annotations={REQUIRED: "topology.test/rack"})
    made = job(space.namespace, name, queue="team", parallelism=pods, pods=asked, labels=more)
    made["spec"] |= {"completionMode": "Indexed", "backoffLimit": 20}
    return made


def hosts(workload: Object) -> dict[str, int]:
    """Return how many pods of a Workload each host was given."""
    found: dict[str, int] = {}
    for one in workload["status"]["admission"]["podSetAssignments"]:
        for part in one.get("topologyAssignment", {}).get("slices", ()):
            values, counts = part["valuesPerLevel"][0], part["podCounts"]
            prefix, suffix = (
                values.get("individual", {}).get(end, "") for end in ("prefix", "suffix")
            )
            roots = values.get("individual", {}).get("roots", [values.get("universal", "")])
            each = counts.get("individual") or [counts["universal"]] * len(roots)
            found |= {f"{prefix}{root}{suffix}": n for root, n in zip(roots, each, strict=True)}
    return found


def pods_on_nodes(space: World, name: str, count: int) -> list[Object]:
    """Wait until so many pods of a Job are on nodes; return its pods."""
    return space.api.wait(
        "Pod",
        lambda found: sum(bool(one["spec"].get("nodeName")) for one in found) == count,
        namespace=space.namespace,
        labels=f"job-name={name}",
        what=f"{count} pods of {name} on nodes",
    )


def wait_on_nodes(space: World, name: str, count: int) -> dict[int, str]:
    """Wait until all pods of a Job are on nodes; return the node of each rank."""
    pods = pods_on_nodes(space, name, count)
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


def test_pods_of_a_failed_node_get_another_one_and_a_gang_without_one_moves(
    space: World, controller: Controller, racks: dict[str, str]
) -> None:
    space.api.create(gang(space, "small", 2))
    before = set(wait_on_nodes(space, "small", 2).values())
    assert len(before) == 1
    lost = before.pop()
    (other,) = (one for one in racks if racks[one] == racks[lost] and one != lost)
    space.api.delete("Node", lost)
    moved = wait_workload(space, "small", lambda one: hosts(one) == {other: 2}, "placed anew")
    assert holds(moved, "Admitted")
    assert "unhealthyNodes" not in moved["status"]
    assert "schedulingStats" not in moved["status"]
    remove_pods(space, "small", on=lost)
    space.api.wait(
        "Pod",
        lambda found: [one["spec"].get("nodeName") for one in found] == [other, other],
        namespace=space.namespace,
        labels="job-name=small",
        what="both pods on the other node",
    )
    wait_job(space, "small", running, "running on the other node")

    space.make(save_by(space, "3"))
    large_gang = gang(space, "large", 4)
    large_gang["metadata"]["annotations"] = {"queueing.dev/checkpoint-policy": "save"}
    space.make(large_gang)
    large = wait_on_nodes(space, "large", 4)
    assert {racks[one] for one in large.values()} == {rack for rack in RACKS if rack != racks[lost]}
    broken = large[0]
    taint = {"key": "broken", "effect": "NoExecute"}
    space.api.patch("Node", broken, {"spec": {"taints": [taint]}})
    answer_request(space, "Saved")
    waiting = wait_workload(
        space, "large", lambda one: condition(one, "Requeued").get("status") == "True", "requeued"
    )
    counted = waiting["status"]["schedulingStats"]["evictions"]
    assert [one["reason"] for one in counted] == ["NodeFailures"]
    told = condition(waiting, "Evicted")["message"]
    wanted = "Workload was evicted as there was no replacement for unhealthy node(s): "
    assert told in (f"{wanted}{broken}", f"Previously: {wanted}{broken}")
    (saved,) = space.api.items("Checkpoint", space.namespace)
    assert saved["spec"]["reason"] == "NodeFailures"
    assert saved["status"]["outcome"] == "Saved"
    space.api.patch("Node", broken, {"spec": {"taints": None}})
    wait_job(space, "large", running, "running again")
    assert set(wait_on_nodes(space, "large", 4).values()) == set(large.values())

    for name in ("small", "large"):
        space.api.delete("Job", name, namespace=space.namespace)
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def test_a_gang_gets_one_nearer_domain_across_racks_and_pods_without_nodes_are_told(
    space: World, controller: Controller, racks: dict[str, str]
) -> None:
    firsts = [min(node for node in racks if racks[node] == rack) for rack in RACKS]
    for node in firsts:
        space.api.patch("Node", node, {"metadata": {"labels": {"topology.test/link": "d1"}}})
    nearer = {"metadata": {"annotations": {"queueing.dev/nearer-topologies": space.name("link")}}}
    space.api.patch("ResourceFlavor", space.name("racks"), nearer)
    levels = [{"nodeLabel": one} for one in ("topology.test/link", "kubernetes.io/hostname")]
    plain = flavor(space.name("plain"), nodeLabels=pool_of(space))
    plain["metadata"]["annotations"] = {"queueing.dev/nodes": "Fixed"}
    space.make(
        {
            "apiVersion": KUEUE,
            "kind": "Topology",
            "metadata": {"name": space.name("link")},
            "spec": {"levels": levels},
        },
        plain,
        cluster_queue(space.name("any"), {space.name("plain"): {"cpu": "100"}}),
        local_queue(space.namespace, "any", space.name("any")),
    )
    space.wait_for_queue("any")
    near = gang(space, "near", 4)
    near["spec"]["template"]["metadata"]["annotations"] = {PREFERRED: "topology.test/rack"}
    space.api.create(near)
    assert set(wait_on_nodes(space, "near", 4).values()) == set(firsts)

    huge = Pods(requests={"cpu": "3"})
    space.api.create(job(space.namespace, "huge", queue="any", parallelism=1, pods=huge))
    wait_workload(space, "huge", lambda one: holds(one, "Admitted"), "admitted all the same")
    space.api.wait(
        "Event",
        lambda found: any(
            one["reason"] == "NodesLackRoom"
            and "can hold none of 1 pod(s) of pod set main" in one["message"]
            for one in found
        ),
        namespace=space.namespace,
        what="the warning that no node holds the pod",
    )
    for name in ("near", "huge"):
        space.api.delete("Job", name, namespace=space.namespace)
    wait_nothing_held(space.api, space.namespace, [space.name("cq"), space.name("any")])


def test_a_small_job_saves_and_goes_elsewhere_so_that_a_gang_gets_its_rack(
    space: World, controller: Controller, racks: dict[str, str]
) -> None:
    space.make(save_by(space, "0", movable=True))
    for name, pods in (("first", 3), ("second", 2), ("small", 1)):
        made = gang(space, name, pods)
        if name == "small":
            made["metadata"]["annotations"] = {"queueing.dev/checkpoint-policy": "save"}
        space.make(made)
        wait_on_nodes(space, name, pods)
    wait_job(space, "small", running, "running")
    left = racks[wait_on_nodes(space, "small", 1)[0]]
    space.api.delete("Job", "first", namespace=space.namespace)
    wait_gone(space, "first")

    space.make(gang(space, "large", 4))
    evicted = wait_workload(space, "small", lambda one: holds(one, "Evicted"), "evicted")
    assert condition(evicted, "Evicted")["reason"] == "Preempted"
    assert condition(evicted, "Preempted")["reason"] == "Moved"
    wait_workload(
        space,
        "large",
        lambda one: "Pending the move of 1" in condition(one, "QuotaReserved").get("message", ""),
        "told why it waits",
    )
    answer_request(space, "Saved")
    large = wait_on_nodes(space, "large", 4)
    assert {racks[node] for node in large.values()} == {left}
    wait_job(space, "small", running, "running again")
    assert racks[wait_on_nodes(space, "small", 1)[0]] != left
    (saved,) = space.api.items("Checkpoint", space.namespace)
    assert saved["status"]["outcome"] == "Saved"

    for name in ("second", "small", "large"):
        space.api.delete("Job", name, namespace=space.namespace)
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def wait_gone(space: World, name: str) -> None:
    """Wait until all pods of a Job have ended."""
    space.api.wait(
        "Pod",
        lambda found: not found,
        namespace=space.namespace,
        labels=f"job-name={name}",
        what=f"no pods of {name}",
    )


def save_by(space: World, rank: str, *, movable: bool = False) -> Object:
    """Make gangs save before they stop: the pod of a rank answers for all."""
    leader = {"matchLabels": {INDEX: rank}}
    terms = {**TERMS, "answerFrom": "Leader", "leader": leader, "movable": movable}
    return checkpoint_policy(space.namespace, "save", terms)


def remove_pods(space: World, name: str, *, on: str) -> None:
    """Remove the pods of a Job from a node that is gone, as the garbage collector of pods would."""
    for pod in space.api.items("Pod", namespace=space.namespace, labels=f"job-name={name}"):
        if pod["spec"].get("nodeName") == on:
            space.api.delete("Pod", pod["metadata"]["name"], namespace=space.namespace, grace_s=0)


def test_pods_are_placed_when_a_check_has_made_their_nodes(
    space: World, controller: Controller, racks: dict[str, str]
) -> None:
    pool, check = {"topology.test/pool": space.name("made")}, make_provisioning_check(space)
    queue = cluster_queue(space.name("later"), {space.name("made"): {"cpu": "100"}})
    queue["spec"]["admissionChecksStrategy"] = {"admissionChecks": [{"name": check}]}
    queue["spec"]["preemption"] = {"withinClusterQueue": "LowerPriority"}
    space.make(
        flavor(space.name("made"), nodeLabels=pool, topologyName=space.name("dc")),
        queue,
        local_queue(space.namespace, "patient", space.name("later")),
    )
    space.wait_for_queue("patient")
    asked = gang(space, "asks", 2)
    asked["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "patient"
    space.api.create(asked)
    reserved = wait_workload(space, "asks", lambda one: holds(one, "QuotaReserved"), "reserved")
    (held,) = reserved["status"]["admission"]["podSetAssignments"]
    assert held["delayedTopologyRequest"] == "Pending"
    assert "topologyAssignment" not in held

    updates = [{"name": "main", "nodeSelector": {"topology.test/made": "yes"}}]
    answer(space, "asks", check, updates)
    space.api.wait(
        "Event",
        lambda found: any(
            one["reason"] == "SecondPassFailed"
            and one["message"].startswith("couldn't assign flavors to pod set main: no topology")
            for one in found
        ),
        namespace=space.namespace,
        what="the event that there is no place yet",
    )
    labels = {**pool, "topology.test/rack": "r9", "topology.test/made": "yes"}
    made = space.name("made-node")
    make_node(space.api, made, group=made, resources={"cpu": "2"}, labels=labels)
    racks[made] = "r9"
    assert set(wait_on_nodes(space, "asks", 2).values()) == {made}
    found = workload_of(space, "asks")
    assert holds(found, "Admitted")
    (held,) = found["status"]["admission"]["podSetAssignments"]
    assert held["delayedTopologyRequest"] == "Ready"

    # Both nodes' worth of quota is there, and only one node: the urgent gang makes the first go.
    urgent = gang(space, "urgent", 2)
    labels = {"kueue.x-k8s.io/queue-name": "patient", **priority(space)}
    urgent["metadata"]["labels"] |= labels
    space.api.create(urgent)
    answer(space, "urgent", check, updates)
    assert set(wait_on_nodes(space, "urgent", 2).values()) == {made}
    told = space.api.items("Event", namespace=space.namespace)
    assert any(
        one["reason"] == "Preempted" and one["involvedObject"]["name"].startswith("job-asks")
        for one in told
    )
    for name in ("asks", "urgent"):
        space.api.delete("Job", name, namespace=space.namespace)
    wait_nothing_held(space.api, space.namespace, [space.name("later")])


def test_a_job_that_grows_keeps_its_pods_in_place_and_gets_places_for_the_others(
    space: World, controller: Controller, racks: dict[str, str]
) -> None:
    asked = Pods(run_s=None, annotations={"kueue.x-k8s.io/podset-unconstrained-topology": "true"})
    grows = job(space.namespace, "grows", queue="team", parallelism=3, pods=asked)
    grows["metadata"]["annotations"] = {"kueue.x-k8s.io/elastic-job": "true"}
    del grows["spec"]["completions"]
    space.api.create(grows)
    before = nodes_of(space, "grows", 3)
    change = {"spec": {"parallelism": 6}}
    space.api.patch("Job", "grows", change, namespace=space.namespace)
    after = nodes_of(space, "grows", 6)
    assert before.items() <= after.items()
    (stands,) = (
        one
        for one in space.api.items("Workload", namespace=space.namespace)
        if not holds(one, "Finished")
    )
    assert hosts(stands) == Counter(after.values())
    space.api.delete("Job", "grows", namespace=space.namespace)
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def nodes_of(space: World, name: str, count: int) -> dict[str, str]:
    """Wait until so many pods of a Job are on nodes; return the node of each."""
    pods = pods_on_nodes(space, name, count)
    return {one["metadata"]["name"]: one["spec"]["nodeName"] for one in pods}


def make_provisioning_check(space: World) -> str:
    """Make an AdmissionCheck whose controller, which makes nodes, is the test; return its name."""
    name = space.name("nodes")
    spec = {"controllerName": "kueue.x-k8s.io/provisioning-request"}
    space.make(
        {"apiVersion": KUEUE, "kind": "AdmissionCheck", "metadata": {"name": name}, "spec": spec}
    )
    now = space.api.get("AdmissionCheck", name)["metadata"]["creationTimestamp"]
    active = {"type": "Active", "status": "True", "reason": "Active", "message": ""}
    status = {"status": {"conditions": [{**active, "lastTransitionTime": now}]}}
    space.api.patch("AdmissionCheck", name, status, subresource="status")
    return name


def answer(space: World, job_name: str, check: str, updates: list[Object]) -> None:
    """Say that a check is Ready, and what it adds to the pods."""
    found = wait_workload(
        space, job_name, lambda one: bool(one.get("status", {}).get("admissionChecks")), "asked"
    )
    ready = {"name": check, "state": "Ready", "message": "made", "podSetUpdates": updates}
    ready["lastTransitionTime"] = found["status"]["admissionChecks"][0]["lastTransitionTime"]
    name = found["metadata"]["name"]
    status = {"status": {"admissionChecks": [ready]}}
    space.api.patch("Workload", name, status, namespace=space.namespace, subresource="status")
