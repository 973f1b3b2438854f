"""A pool of devices counts only while all slices of its newest generation are there."""

from e2e.api import condition
from e2e.devices.hardware import H100, LABEL, Rack, device_class, gpus
from e2e.devices.shapes import GPU, device_flavor, make_known, training
from e2e.jobs import running, wait_job, wait_workload, workload_of
from e2e.objects import cluster_queue, flavor, local_queue
from e2e.product import Controller
from e2e.wire import Object
from e2e.world import World


def bump(space: World, name: str) -> None:
    """Publish a slice as of the pool's next generation, as its driver would."""
    found = space.api.find("ResourceSlice", name)
    assert found is not None
    pool = {**found["spec"]["pool"], "generation": 2}
    space.api.patch("ResourceSlice", name, {"spec": {"pool": pool}})


def test_a_pool_whose_slices_differ_in_generation_counts_when_they_agree_again(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    devices = gpus(H100, 8)
    (node,) = gpus_of.add("h100", [{"devices": devices[:4]}, {"devices": devices[4:]}])
    name = space.name("h100")
    space.make(
        device_class(space.name("gpu")), flavor(name, nodeLabels={LABEL: gpus_of.label("h100")})
    )
    make_known(space, device_flavor(name, space.name("gpu")))
    space.make(
        cluster_queue(space.name("cq"), {name: {"cpu": "100", GPU: "8"}}),
        local_queue(space.namespace, "team", space.name("cq")),
        training(space, "before", 8),
    )
    wait_job(space, "before", running, "running")
    space.make(training(space, "after", 6))
    wait_workload(space, "after", lambda one: bool(condition(one, "QuotaReserved")), "waiting")
    bump(space, f"{node}-0")

    def told(one: Object) -> bool:
        said = str(condition(one, "QuotaReserved").get("message", ""))
        whole = f"not whole, so that none of it counts: pool {node} of gpu.nvidia.com"
        return f"flavor {name}: NoMatchingDevices: 0 of 6 device(s) match" in said and whole in said

    wait_workload(space, "after", told, "waiting, for the pool is not whole")
    held = workload_of(space, "before")["metadata"]["name"]
    space.api.delete("Job", "before", space.namespace)
    space.api.wait_gone("Workload", held, namespace=space.namespace)
    assert told(workload_of(space, "after")), "quota alone is no device"
    bump(space, f"{node}-1")
    wait_job(space, "after", running, "running, for the pool is whole again")
