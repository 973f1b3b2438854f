"""Flavors, queues and Jobs of the tests about devices, and what they look at."""

from collections.abc import Mapping
from typing import Any

from e2e.api import Api, holds
from e2e.devices.hardware import LABEL, PCIE_ROOT, Model, Rack, device_class, gpus
from e2e.jobs import workload_of
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.wire import Object
from e2e.world import World

GPU = "nvidia.com/gpu"
BY_CLASS = "example.com/gpu-by-class"
"""The same devices, by claims that the scheduler makes."""
UID = "queueing.dev/workload-uid"


def device_flavor(name: str, class_name: str, *resources: Object) -> Object:
    """Return a DeviceFlavor for the ResourceFlavor of the same name."""
    return {
        "apiVersion": "queueing.dev/v1alpha1",
        "kind": "DeviceFlavor",
        "metadata": {"name": name},
        "spec": {
            "resourceFlavor": name,
            "resources": list(resources) or [served(GPU, class_name)],
        },
    }


def served(resource: str, class_name: str, *selectors: str, **more: Any) -> Object:
    """Return how one resource is served: by a class, injected into pods."""
    request: Object = {"deviceClassName": class_name}
    if selectors:
        request["selectors"] = [{"cel": {"expression": one}} for one in selectors]
    traits = {"samePCIeRoot": {"matchAttribute": PCIE_ROOT}}
    return {"name": resource, "strategy": "Inject", "request": request, "traits": traits, **more}


def serve_two_ways(space: World, flavor_name: str) -> None:
    """Make a queue whose pods get GPUs by a claim of ours, or by their class as `BY_CLASS`."""
    request = {"deviceClassName": space.name("gpu")}
    by_class = {"name": BY_CLASS, "strategy": "Class", "request": request}
    make_known(space, device_flavor(flavor_name, "", served(GPU, space.name("gpu")), by_class))
    quota = {"cpu": "100", GPU: "100", BY_CLASS: "100"}
    space.make(
        cluster_queue(space.name("cq"), {flavor_name: quota}),
        local_queue(space.namespace, "team", space.name("cq")),
    )


def make_known(space: World, made: Object) -> None:
    """Make a DeviceFlavor and wait until it counts: who is admitted before knows nothing of it."""
    space.make(made)
    wait_known(space, made["metadata"]["name"])


def wait_known(space: World, name: str) -> None:
    """Wait until a DeviceFlavor counts."""
    space.api.wait_one(
        "DeviceFlavor",
        name,
        lambda one: holds(one, "Active"),
        what="an active DeviceFlavor",
    )


def furnish(space: World, rack: Rack, models: Mapping[str, tuple[Model, int]]) -> None:
    """Make a queue of the models in this order, each with one node and quota for its devices."""
    space.make(device_class(space.name("gpu")))
    quotas = {}
    for model, (kind, count) in models.items():
        rack.add(model, [{"devices": gpus(kind, count)}])
        name = space.name(model)
        quotas[name] = {"cpu": "100", GPU: str(count)}
        space.make(flavor(name, nodeLabels={LABEL: rack.label(model)}))
        make_known(space, device_flavor(name, space.name("gpu")))
    space.make(
        cluster_queue(
            space.name("cq"),
            quotas,
            preemption={"withinClusterQueue": "LowerPriority"},
        ),
        local_queue(space.namespace, "team", space.name("cq")),
    )


def training(space: World, name: str, devices: int, *, pods: int = 1, **more: Any) -> Object:
    """Return a Job whose pods each ask for devices by the resource's own name."""
    template = {"run_s": None, **more.pop("template", {})}
    asked = Pods(requests={GPU: str(devices)}, **template)
    return job(space.namespace, name, queue="team", parallelism=pods, pods=asked, **more)


def templates_of(space: World, name: str) -> list[Object]:
    """Return the claim templates of a Job's Workload."""
    return _labelled(space.api, "ResourceClaimTemplate", space, name)


def claims_of(space: World, name: str) -> list[Object]:
    """Return the claims of a Job's Workload."""
    return _labelled(space.api, "ResourceClaim", space, name)


def _labelled(api: Api, kind: str, space: World, name: str) -> list[Object]:
    uid = workload_of(space, name)["metadata"]["uid"]
    return api.items(kind, space.namespace, labels=f"{UID}={uid}")


def allocated(claim: Object) -> list[tuple[str, str]]:
    """Return pool and name of the devices that a claim was given."""
    allocation = claim.get("status", {}).get("allocation") or {}
    results = (allocation.get("devices") or {}).get("results") or []
    return [(one["pool"], one["device"]) for one in results]


def wait_no_claims(space: World) -> None:
    """Wait until no template and no claim is left in the test's namespace."""
    for kind in ("ResourceClaimTemplate", "ResourceClaim"):
        space.api.wait(
            kind, lambda left: not left, namespace=space.namespace, what=f"no {kind} left"
        )
