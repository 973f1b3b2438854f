"""A DeviceFlavor that comes after the work: what runs keeps its devices, the next start has claims.

No pod runs with neither: what no device plugin serves stays pending until it starts again.
"""

from e2e.devices.hardware import H100, LABEL, Rack, device_class, gpus
from e2e.devices.shapes import GPU, allocated, claims_of, device_flavor, make_known, training
from e2e.jobs import running, stopped, wait_job, workload_of
from e2e.objects import cluster_queue, flavor, local_queue
from e2e.product import Controller
from e2e.world import World

DEVICES = 4


def test_work_that_runs_by_a_device_plugin_gets_claims_when_it_starts_again(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    name, place = space.name("h100"), {"namespace": space.namespace}
    (node,) = gpus_of.add("h100", [{"devices": gpus(H100, DEVICES)}])
    plugin = {"capacity": {GPU: str(DEVICES)}, "allocatable": {GPU: str(DEVICES)}}
    space.api.patch("Node", node, {"status": plugin}, subresource="status")
    space.make(
        device_class(space.name("gpu")),
        flavor(name, nodeLabels={LABEL: gpus_of.label("h100")}),
        cluster_queue(space.name("cq"), {name: {"cpu": "10", GPU: str(DEVICES)}}),
        local_queue(space.namespace, "team", space.name("cq")),
    )
    space.make(training(space, "train", DEVICES))
    wait_job(space, "train", running, "running by the device plugin")
    (pod,) = space.api.items("Pod", space.namespace)
    assert pod["spec"]["containers"][0]["resources"]["requests"][GPU] == str(DEVICES)

    make_known(space, device_flavor(name, space.name("gpu")))
    (same,) = space.api.items("Pod", space.namespace)
    assert same["metadata"]["uid"] == pod["metadata"]["uid"]
    assert running(space.api.get("Job", "train", space.namespace))
    assert not claims_of(space, "train")

    workload = workload_of(space, "train")["metadata"]["name"]
    space.api.patch("Workload", workload, {"spec": {"active": False}}, **place)
    wait_job(space, "train", stopped, "stopped")
    space.api.patch("Workload", workload, {"spec": {"active": True}}, **place)
    wait_job(space, "train", running, "running by its claim")
    (claim,) = claims_of(space, "train")
    assert len(allocated(claim)) == DEVICES
