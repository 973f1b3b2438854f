"""Devices cut up or shared: charged by counter or capacity, or used by all pods of a set."""

from e2e.api import condition, holds
from e2e.devices.hardware import (
    GPU_MEMORY_MI,
    H100,
    IS_MIG,
    LABEL,
    SLICE_MEMORY_MI,
    Rack,
    device_class,
    gpus,
    mig_counters,
    mig_devices,
    shared_gpu,
)
from e2e.devices.shapes import (
    GPU,
    allocated,
    claims_of,
    device_flavor,
    make_known,
    served,
    training,
    wait_no_claims,
)
from e2e.jobs import running, stopped, wait_job, wait_told, wait_workload, workload_of
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import Controller
from e2e.quota import amount, wait_nothing_held
from e2e.wire import Object
from e2e.world import World

MEMORY = "gpu-memory"
DRIVER = "gpu.nvidia.com"
SMALL, LARGE = "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"
SHARED = "nvidia.com/gpu.shared"


def queue(space: World, rack: Rack, model: str, quota: dict[str, str], *resources: Object) -> None:
    """Make a queue of one flavor whose devices serve these resources."""
    name = space.name(model)
    make_known(space, device_flavor(name, "", *resources))
    space.make(
        flavor(name, nodeLabels={LABEL: rack.label(model)}),
        cluster_queue(space.name("cq"), {name: {"cpu": "100", **quota}}),
        local_queue(space.namespace, "team", space.name("cq")),
    )


def asking(space: World, name: str, resource: str, *, pods: int = 1) -> Object:
    asked = Pods(requests={resource: "1"}, run_s=None)
    return job(space.namespace, name, queue="team", parallelism=pods, pods=asked)


def charged(space: World, name: str, resource: str) -> str:
    admission = workload_of(space, name)["status"]["admission"]
    usage: str = admission["podSetAssignments"][0]["resourceUsage"][resource]
    return usage


def waits_for(space: World, name: str, word: str) -> Object:
    return wait_workload(
        space,
        name,
        lambda one: word in condition(one, "QuotaReserved").get("message", ""),
        f"waiting for {word}",
    )


def profile(space: World, resource: str, value: str) -> Object:
    charge = {"type": "Counter", "name": "memory", "quotaResource": MEMORY}
    expression = f"device.attributes['{DRIVER}'].profile == '{value}'"
    return served(resource, space.name("mig"), expression, charge=charge)


def test_partitions_are_charged_by_the_memory_that_they_take_of_their_gpu(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    space.make(device_class(space.name("mig"), IS_MIG))
    slices = [{"sharedCounters": mig_counters()}, {"devices": mig_devices()}]
    gpus_of.add("mig", slices)
    queue(
        space,
        gpus_of,
        "mig",
        {MEMORY: "81559Mi"},
        profile(space, SMALL, "1g.10gb"),
        profile(space, LARGE, "3g.40gb"),
    )
    space.make(asking(space, "small", SMALL, pods=6))
    wait_job(space, "small", running, "six partitions running")
    assert amount(charged(space, "small", MEMORY)) == 6 * amount(f"{SLICE_MEMORY_MI}Mi")
    assert len({name for one in claims_of(space, "small") for _, name in allocated(one)}) == 6
    space.make(asking(space, "large", LARGE))
    waits_for(space, "large", MEMORY)
    # Quota says what may be used, the counters of the GPU what there is.
    quota = "/spec/resourceGroups/0/flavors/0/resources/1/nominalQuota"
    more = [{"op": "replace", "path": quota, "value": "200Gi"}]
    space.api.patch("ClusterQueue", space.name("cq"), more)
    told = wait_told(space, "Job", "large", "DevicesNotAllocated")
    assert "cannot allocate all claims" in told
    left = f"{GPU_MEMORY_MI - 6 * SLICE_MEMORY_MI}Mi"
    assert left == "21655Mi"
    assert f"(memory {left} left)" in told
    space.api.delete("Job", "small", space.namespace)
    wait_job(space, "large", running, "running on the freed GPU")


def test_shares_of_a_gpu_are_charged_as_its_policy_rounds_them(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    space.make(device_class(space.name("gpu")))
    gpus_of.add("shared", [{"devices": shared_gpu()}])
    charge = {"type": "Capacity", "name": "memory", "quotaResource": MEMORY}
    resource = served(SHARED, space.name("gpu"), "device.allowMultipleAllocations", charge=charge)
    resource["request"]["capacityPerUnit"] = {"memory": "15500Mi"}
    queue(space, gpus_of, "shared", {MEMORY: "48Gi"}, resource)
    for number in range(3):
        space.make(asking(space, f"share-{number}", SHARED))
        wait_job(space, f"share-{number}", running, "running")
        assert amount(charged(space, f"share-{number}", MEMORY)) == amount("16Gi")
    given = [one for number in range(3) for one in claims_of(space, f"share-{number}")]
    assert len({allocated(one)[0] for one in given}) == 1
    space.make(asking(space, "share-3", SHARED))
    waits_for(space, "share-3", MEMORY)
    space.api.delete("Job", "share-0", space.namespace)
    wait_job(space, "share-3", running, "running in its place")


def test_all_pods_of_a_set_use_one_gpu_and_its_claim_goes_when_they_stop(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    space.make(device_class(space.name("gpu")))
    gpus_of.add("h100", [{"devices": gpus(H100, 8)}])
    parameters = {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "GpuConfig",
        "sharing": {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": "Long"}},
    }
    config = [{"driver": DRIVER, "parameters": parameters}]
    resource = served(GPU, space.name("gpu"), sharing="PerPodSet", config=config)
    queue(space, gpus_of, "h100", {GPU: "8"}, resource)
    space.make(training(space, "train", 1, pods=3))
    wait_job(space, "train", running, "running")
    (claim,) = claims_of(space, "train")
    assert len(allocated(claim)) == 1
    assert len(claim["status"]["reservedFor"]) == 3
    found = claim["status"]["allocation"]["devices"]["config"][0]["opaque"]["parameters"]
    assert found["sharing"]["strategy"] == "TimeSlicing"
    name, place = workload_of(space, "train")["metadata"]["name"], {"namespace": space.namespace}
    space.api.patch("Workload", name, {"spec": {"active": False}}, **place)
    wait_job(space, "train", stopped, "stopped")
    wait_no_claims(space)
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
    space.api.patch("Workload", name, {"spec": {"active": True}}, **place)
    again = wait_job(space, "train", running, "running again")
    assert not holds(again, "Failed")
