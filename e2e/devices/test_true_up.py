"""Charges follow what claims were given in the end."""

from typing import Any

from e2e.devices.hardware import A100, H100, LABEL, Rack, device_class, gpus
from e2e.devices.shapes import GPU, allocated, device_flavor, make_known, training
from e2e.jobs import running, wait_job, workload_of
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import Controller
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World

DRIVER = "gpu.nvidia.com"


def mixed(space: World, rack: Rack, quota: int) -> None:
    """Make a queue of one flavor whose only node has eight H100 and four A100."""
    others = [{**one, "name": f"old-{one['name']}"} for one in gpus(A100, 4)]
    rack.add("mixed", [{"devices": gpus(H100, 8) + others}])
    name = space.name("mixed")
    space.make(
        device_class(space.name("gpu")), flavor(name, nodeLabels={LABEL: rack.label("mixed")})
    )
    make_known(space, device_flavor(name, space.name("gpu")))
    space.make(
        cluster_queue(space.name("cq"), {name: {"cpu": "100", GPU: str(quota)}}),
        local_queue(space.namespace, "team", space.name("cq")),
    )


def template(space: World, name: str, *ways: tuple[str, str, int]) -> Object:
    """Return a claim template of a user's own: the first of these ways that can be had."""
    found = [
        {
            "name": way,
            "deviceClassName": space.name("gpu"),
            "count": count,
            "selectors": [
                {"cel": {"expression": f"device.attributes['{DRIVER}'].architecture == '{model}'"}}
            ],
        }
        for way, model, count in ways
    ]
    devices = {"requests": [{"name": "gpu", "firstAvailable": found}]}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": space.namespace},
        "spec": {"spec": {"devices": devices}},
    }


def claiming(space: World, name: str, template: str, *, pods: int = 1) -> Object:
    """Return a Job whose pods claim devices by a template of their user's own."""
    spec: dict[str, Any] = {
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": template}]
    }
    asked = Pods(run_s=None, spec=spec)
    return job(space.namespace, name, queue="team", parallelism=pods, pods=asked)


def wait_charged(space: World, devices: int) -> None:
    """Wait until the queue says that so many devices are used."""

    def says(found: Object) -> bool:
        (told,) = found.get("status", {}).get("flavorsUsage") or [{}]
        used = {one["name"]: one["total"] for one in told.get("resources", [])}
        return used.get(GPU) == str(devices)

    space.api.wait_one("ClusterQueue", space.name("cq"), says, what=f"{devices} device(s) charged")


def test_of_several_ways_the_one_that_was_given_is_charged_and_the_rest_released(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    mixed(space, gpus_of, 9)
    ways = ("h100", "Hopper", 9), ("a100", "Ampere", 4)
    space.make(template(space, "either", *ways), claiming(space, "first", "either"))
    wait_job(space, "first", running, "running")
    (claim,) = space.api.items("ResourceClaim", space.namespace)
    assert len(allocated(claim)) == 4
    (request,) = {one["request"] for one in claim["status"]["allocation"]["devices"]["results"]}
    assert request == "gpu/a100"
    assignment = workload_of(space, "first")["status"]["admission"]["podSetAssignments"][0]
    assert assignment["resourceUsage"][GPU] == "9"
    wait_charged(space, 4)
    space.make(training(space, "second", 5))
    wait_job(space, "second", running, "running on what the first did not take")
    wait_charged(space, 9)
    for name in ("first", "second"):
        space.api.delete("Job", name, space.namespace)
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
