"""Gangs go to the rack whose nodes have the devices, on the real control plane."""

import pytest

from e2e.api import condition, holds
from e2e.controller.test_topology import KUEUE, REQUIRED, hosts
from e2e.devices.hardware import H100, LABEL, Rack, device_class, gpus
from e2e.devices.shapes import (
    BY_CLASS,
    GPU,
    allocated,
    claims_of,
    serve_two_ways,
    wait_no_claims,
)
from e2e.jobs import running, wait_job, wait_workload
from e2e.nodes import FAKE
from e2e.objects import Pods, flavor, job
from e2e.product import Controller
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World

RACK = "topology.test/rack"
EACH = 2
"""Devices of each pod."""


@pytest.fixture
def racks(space: World, gpus_of: Rack) -> dict[str, list[str]]:
    """Make a rack of two nodes with 2 devices each, and one of two nodes with 4; give the nodes."""
    found = {
        rack: gpus_of.add("h100", [{"devices": gpus(H100, devices)}], 2, group=rack)
        for rack, devices in (("few", 2), ("many", 4))
    }
    for rack, nodes in found.items():
        for node in nodes:
            space.api.patch("Node", node, {"metadata": {"labels": {RACK: rack}}})
    name = space.name("h100")
    levels = [{"nodeLabel": one} for one in (RACK, "kubernetes.io/hostname")]
    space.make(
        device_class(space.name("gpu")),
        {
            "apiVersion": KUEUE,
            "kind": "Topology",
            "metadata": {"name": space.name("dc")},
            "spec": {"levels": levels},
        },
        flavor(name, nodeLabels={LABEL: gpus_of.label("h100")}, topologyName=space.name("dc")),
    )
    serve_two_ways(space, name)
    space.wait_for_queue("team")
    return found


def gang(space: World, name: str, pods: int, resource: str = GPU) -> Object:
    asked = Pods(requests={resource: str(EACH)}, run_s=None, annotations={REQUIRED: RACK})
    return job(space.namespace, name, queue="team", parallelism=pods, pods=asked)


def holder(space: World, node: str) -> tuple[Object, Object]:
    """Return a claim for one device, and a pod of nobody's queue that uses it on a node."""
    exactly = {"deviceClassName": space.name("gpu")}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "other", "namespace": space.namespace},
        "spec": {"devices": {"requests": [{"name": "one", "exactly": exactly}]}},
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "other", "namespace": space.namespace},
        "spec": {
            "nodeSelector": {"kubernetes.io/hostname": node, FAKE: "fake"},
            "containers": [{"name": "main", "image": "none"}],
            "resourceClaims": [{"name": "gpu", "resourceClaimName": "other"}],
        },
    }
    return claim, pod


def test_a_gang_goes_to_the_rack_that_has_its_devices_or_says_what_is_missing(
    space: World, controller: Controller, racks: dict[str, list[str]]
) -> None:
    space.make(gang(space, "first", 4))
    wait_job(space, "first", running, "running")
    first = wait_workload(space, "first", lambda one: holds(one, "Admitted"), "admitted")
    assert hosts(first) == dict.fromkeys(racks["many"], 2)
    given = [device for one in claims_of(space, "first") for device in allocated(one)]
    assert {node for node, _ in given} == set(racks["many"])
    assert len(given) == len(set(given)) == 4 * EACH

    space.make(*holder(space, racks["few"][0]))
    space.api.wait_one(
        "ResourceClaim",
        "other",
        lambda one: bool(allocated(one)),
        namespace=space.namespace,
        what="a claim of nobody's queue that is allocated",
    )
    # Changes of claims are gathered for a moment before they count.
    between = Pods(requests={"cpu": "1"}, run_s=1)
    space.make(job(space.namespace, "between", queue="team", parallelism=1, pods=between))
    wait_job(space, "between", lambda one: holds(one, "Complete"), "complete")
    space.make(gang(space, "second", 2))
    wanted = f'allows to fit only 1 out of 2 pod(s). Total nodes: 4; excluded: resource "{GPU}": 3'
    wait_workload(
        space,
        "second",
        lambda one: wanted in condition(one, "QuotaReserved").get("message", ""),
        "a reason that counts devices",
    )
    space.api.delete("Pod", "other", namespace=space.namespace)
    space.api.delete("ResourceClaim", "other", namespace=space.namespace)
    second = wait_workload(space, "second", lambda one: holds(one, "Admitted"), "admitted")
    assert hosts(second) == dict.fromkeys(racks["few"], 1)
    wait_job(space, "second", running, "running")

    space.make(gang(space, "large", 5))
    wait_workload(
        space,
        "large",
        lambda one: "fit any of 5 pod(s)" in condition(one, "QuotaReserved").get("message", ""),
        "a reason that tells that no device is free",
    )
    for name in ("first", "second", "large"):
        space.api.delete("Job", name, namespace=space.namespace)
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
    wait_no_claims(space)


def test_devices_that_the_scheduler_gives_to_placed_pods_count_once(
    space: World, controller: Controller, racks: dict[str, list[str]]
) -> None:
    for name, pods in (("first", 3), ("second", 2), ("third", 1)):
        space.make(gang(space, name, pods, BY_CLASS))
        wait_job(space, name, running, "running")
    third = wait_workload(space, "third", lambda one: holds(one, "Admitted"), "admitted")
    assert set(hosts(third)) < set(racks["many"])
    space.make(gang(space, "other", 1))
    wait_workload(
        space,
        "other",
        lambda one: f'"{GPU}": 4' in condition(one, "QuotaReserved").get("message", ""),
        "a reason that tells that all devices are held by another resource",
    )
    for name in ("first", "second", "third"):
        space.api.delete("Job", name, namespace=space.namespace)
    wait_job(space, "other", running, "running")
    space.api.delete("Job", "other", namespace=space.namespace)
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
    wait_no_claims(space)
