"""Pods on several nodes that share memory: each pod set enters a ComputeDomain of its own."""

from collections.abc import Iterator

import pytest

from e2e.api import condition, holds
from e2e.cluster import Cluster
from e2e.devices.hardware import H100, LABEL, Rack, device_class, gpus
from e2e.devices.nvidia import IS_CHANNEL, channel_slice, fill, installed
from e2e.devices.shapes import GPU, device_flavor, make_known, served, training, wait_no_claims
from e2e.jobs import running, stopped, wait_job, wait_workload, workload_of
from e2e.objects import cluster_queue, flavor, local_queue
from e2e.product import Controller
from e2e.wire import Object
from e2e.world import World

POD_CLAIM = "resource.kubernetes.io/pod-claim-name"


@pytest.fixture(scope="session")
def driver(cluster: Cluster) -> Iterator[None]:
    """Have the kind from here to the end of the session: its removal would disturb other tests."""
    with installed(cluster.api()):
        yield


def furnish(space: World, rack: Rack, nodes: int) -> list[str]:
    """Make a queue of nodes whose GPUs are given together with a ComputeDomain."""
    made = rack.add("gb200", [{"devices": gpus(H100, 4)}], nodes)
    name = space.name("gb200")
    space.make(
        device_class(space.name("gpu")),
        flavor(name, nodeLabels={LABEL: rack.label("gb200")}),
    )
    within = served(GPU, space.name("gpu"), computeDomain={"nodes": "Pods"})
    make_known(space, device_flavor(name, "", within))
    space.make(
        cluster_queue(space.name("cq"), {name: {"cpu": "100", GPU: "8"}}),
        local_queue(space.namespace, "team", space.name("cq")),
    )
    return made


def test_where_the_driver_is_not_installed_the_workload_says_so(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    furnish(space, gpus_of, 1)
    space.make(training(space, "train", 4))
    out = wait_workload(
        space, "train", lambda one: not one["spec"].get("active", True), "taken out"
    )
    target = condition(out, "DeactivationTarget")
    told = target or condition(out, "Evicted")
    assert "ComputeDomains (resource.nvidia.com/v1beta1) are not served" in told["message"]
    wait_no_claims(space)
    assert not holds(out, "Finished")


def test_pods_of_a_set_enter_the_domain_that_was_made_for_them(
    space: World, controller: Controller, gpus_of: Rack, driver: None
) -> None:
    nodes = furnish(space, gpus_of, 2)
    space.make(device_class(space.name("channel"), IS_CHANNEL), *map(channel_slice, nodes))
    space.make(training(space, "train", 4, pods=2))
    domain = wait_domain(space)
    assert domain["spec"]["numNodes"] == 2
    assert domain["metadata"]["ownerReferences"][0]["name"] == "train"
    channel = fill(space, domain)["metadata"]["name"]
    wait_job(space, "train", running, "running")
    for pod in space.api.items("Pod", space.namespace):
        (container,) = pod["spec"]["containers"]
        assert {one["name"] for one in container["resources"]["claims"]} == {
            "kq-channel",
            "kq-dra",
        }
    claims = space.api.items("ResourceClaim", space.namespace)
    names = [one["metadata"]["annotations"][POD_CLAIM] for one in claims]
    assert sorted(names) == ["kq-channel", "kq-channel", "kq-dra", "kq-dra"]
    # Somebody deletes it: it is made again at once, for the pods to come; those that run stay.
    pods = {one["metadata"]["uid"] for one in space.api.items("Pod", space.namespace)}
    space.api.delete("ComputeDomain", domain["metadata"]["name"], space.namespace)
    again = space.api.wait_one(
        "ComputeDomain",
        domain["metadata"]["name"],
        lambda one: one["metadata"]["uid"] != domain["metadata"]["uid"],
        namespace=space.namespace,
        what="made again",
    )
    assert again["spec"] == domain["spec"]
    assert {one["metadata"]["uid"] for one in space.api.items("Pod", space.namespace)} == pods
    name = workload_of(space, "train")["metadata"]["name"]
    space.api.patch("Workload", name, {"spec": {"active": False}}, namespace=space.namespace)
    wait_job(space, "train", stopped, "stopped")
    space.api.wait(
        "ComputeDomain", lambda left: not left, namespace=space.namespace, what="none left"
    )
    space.api.delete("ResourceClaimTemplate", channel, space.namespace)
    wait_no_claims(space)


def wait_domain(space: World) -> Object:
    """Wait for the only domain of the test's namespace."""
    (found,) = space.api.wait(
        "ComputeDomain", lambda there: len(there) == 1, namespace=space.namespace, what="a domain"
    )
    return found
