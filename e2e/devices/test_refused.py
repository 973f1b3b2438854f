"""What users read when no flavor's devices can serve their pods: a reason for each flavor."""

from e2e.api import condition
from e2e.devices.hardware import DRIVER, H100, LABEL, Rack, device_class, gpus
from e2e.devices.shapes import GPU, allocated, claims_of, device_flavor, served, training
from e2e.jobs import running, wait_job, wait_workload
from e2e.objects import cluster_queue, flavor, local_queue
from e2e.product import Controller
from e2e.wire import Object
from e2e.world import World

NOPE = f"device.attributes['{DRIVER}'].nope == 1"
ODD = f"device.attributes['{DRIVER}'].architecture == 'Ampere'"


def test_each_flavor_says_what_is_wrong_and_the_job_runs_when_one_is_put_right(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    known, absent = space.name("gpu"), space.name("absent")
    flavors = {
        "absent": served(GPU, absent),
        "aborting": served(GPU, known, NOPE),
        "other": served(GPU, known, ODD),
        "none": served(GPU, known),
    }
    (node,) = gpus_of.add("h100", [{"devices": gpus(H100, 4)}])
    for name, resource in flavors.items():
        label = gpus_of.label("nowhere" if name == "none" else "h100")
        space.make(
            flavor(space.name(name), nodeLabels={LABEL: label}),
            device_flavor(space.name(name), "", resource),
        )
    space.make(device_class(known))
    for name in flavors:
        # Who is admitted before a DeviceFlavor is judged knows nothing of it.
        space.api.wait_one("DeviceFlavor", space.name(name), is_judged, what="judged")
    quota = {"cpu": "10", GPU: "4"}
    space.make(
        cluster_queue(space.name("cq"), {space.name(name): quota for name in flavors}),
        local_queue(space.namespace, "team", space.name("cq")),
        training(space, "train", 2),
    )
    told = {
        "absent": f"DeviceClassNotFound: DeviceClass {absent} is not installed",
        "aborting": "SelectorWouldAbort: attribute nope is missing on gpu-0"
        f" (driver {DRIVER}, pool {node}); guard with 'nope' in ...",
        "other": f"NoMatchingDevices: 0 of 2 device(s) match the request; none of 4 meets {ODD}",
        "none": "NoMatchingDevices: 0 of 2 device(s) match the request;"
        " no device is published on its nodes",
    }
    words = [f"flavor {space.name(name)}: {text}" for name, text in told.items()]
    wait_workload(
        space,
        "train",
        lambda one: all(
            word in condition(one, "QuotaReserved").get("message", "") for word in words
        ),
        f"told {words}",
    )
    inactive = space.api.wait_one(
        "DeviceFlavor",
        space.name("absent"),
        lambda one: condition(one, "Active").get("status") == "False",
        what="a flavor without its class",
    )
    assert condition(inactive, "Active")["reason"] == "DeviceClassNotFound"
    space.make(device_class(absent))
    wait_job(space, "train", running, "running by the class that came")
    (claim,) = claims_of(space, "train")
    assert len(allocated(claim)) == 2


def is_judged(flavor: Object) -> bool:
    return bool(condition(flavor, "Active"))
