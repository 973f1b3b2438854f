"""A device that is tainted while it is used: its pod is replaced elsewhere, as far as can be."""

from e2e.api import condition
from e2e.devices.hardware import H100, LABEL, Rack, device_class, gpus
from e2e.devices.shapes import BY_CLASS, claims_of, serve_two_ways, training
from e2e.jobs import running, wait_job, wait_workload, workload_of
from e2e.objects import Pods, flavor, job
from e2e.product import Controller
from e2e.wire import Object
from e2e.world import World


def test_the_pod_of_a_tainted_device_is_replaced_elsewhere_unless_its_class_gave_it(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    (first,) = furnish(space, gpus_of)
    by_class = Pods(requests={BY_CLASS: "2"}, run_s=None)
    space.make(
        training(space, "train", 2, backoffLimit=1),
        job(space.namespace, "plain", queue="team", pods=by_class),
    )
    for name in ("train", "plain"):
        wait_job(space, name, running, "running")
    before = {name: pod_of(space, name) for name in ("train", "plain")}
    (second,) = gpus_of.add("h100", [{"devices": gpus(H100, 4)}], group="spare")
    taint(space, first)
    moved = space.api.wait(
        "Pod",
        lambda found: any(is_moved(one, second) for one in found),
        namespace=space.namespace,
        labels="batch.kubernetes.io/job-name=train",
        what="a pod on the other node",
    )
    assert before["train"]["metadata"]["uid"] not in {one["metadata"]["uid"] for one in moved}
    wait_job(space, "train", running, "running again")
    assert pod_of(space, "plain")["metadata"]["uid"] == before["plain"]["metadata"]["uid"]
    pools = {pool for claim in claims_of(space, "train") for pool in pools_of(claim)}
    assert pools == {second}
    # What is tainted is not there for those who come.
    space.make(training(space, "next", 4, pods=2))
    waiting = wait_workload(
        space,
        "next",
        lambda one: "pods" in condition(one, "QuotaReserved").get("message", ""),
        "waiting for devices",
    )
    assert "serve 1 of 2 pods" in condition(waiting, "QuotaReserved")["message"]


def furnish(space: World, rack: Rack) -> list[str]:
    """Make a node of four GPUs, which pods get by claims or by their class."""
    made = rack.add("h100", [{"devices": gpus(H100, 4)}])
    name = space.name("h100")
    space.make(
        device_class(space.name("gpu")),
        flavor(name, nodeLabels={LABEL: rack.label("h100")}),
    )
    serve_two_ways(space, name)
    return made


def taint(space: World, node: str) -> None:
    """Do as a driver whose devices broke: a new generation of the node's pool says so."""
    name = f"{node}-0"
    found = space.api.get("ResourceSlice", name)["spec"]
    broken = [{"key": "example.com/broken", "effect": "NoExecute"}]
    devices = [{**one, "taints": broken} for one in found["devices"]]
    pool = {**found["pool"], "generation": found["pool"]["generation"] + 1}
    space.api.patch("ResourceSlice", name, {"spec": {"devices": devices, "pool": pool}})


def pod_of(space: World, name: str) -> Object:
    assert workload_of(space, name)
    labels = f"batch.kubernetes.io/job-name={name}"
    (found,) = space.api.items("Pod", space.namespace, labels=labels)
    return found


def is_moved(pod: Object, node: str) -> bool:
    name: str = pod["spec"].get("nodeName", "")
    return name == node


def pools_of(claim: Object) -> list[str]:
    allocation = (claim.get("status") or {}).get("allocation") or {}
    return [one["pool"] for one in allocation.get("devices", {}).get("results", ())]
