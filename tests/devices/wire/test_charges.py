"""What devices count as: MIG by counters, sharing by capacity, claims that users wrote."""

import json
from typing import Any

import pytest

from queueing.core.devices import DeviceOffer
from queueing.devices.wire.offers import offers
from queueing.translate.inbound.workloads import Asks, asks_of
from queueing.translate.requests import Surroundings
from tests.devices.fleet import (
    DRIVER,
    around,
    device_class,
    device_flavor,
    fleet,
    gpu,
    gpus,
    index,
    node,
    pod_template,
    resource_slice,
    whole_gpu,
    workload,
)

Wire = dict[str, Any]
MI = 2**20


def mig_devices() -> list[Wire]:
    """Return one GPU of 4 memory slices: four small partitions, or two large ones."""
    counters = {f"memory-slice-{at}": {"value": "1"} for at in range(4)}
    total = {"memory": {"value": "40000Mi"}, **counters}

    def part(name: str, profile: str, memory: str, slices: range) -> Wire:
        used = {f"memory-slice-{at}": {"value": "1"} for at in slices}
        taken = {"memory": {"value": memory}, **used}
        return {
            "name": name,
            "attributes": {"type": {"string": "mig"}, "profile": {"string": profile}},
            "capacity": {"memory": {"value": memory}},
            "consumesCounters": [{"counterSet": "gpu-0", "counters": taken}],
        }

    small = [part(f"small-{at}", "1g.10gb", "9984Mi", range(at, at + 1)) for at in range(4)]
    large = [part(f"large-{at}", "2g.20gb", "20096Mi", range(at, at + 2)) for at in (0, 2)]
    sets = resource_slice("n0", [], count=2, part="counters")
    del sets["spec"]["devices"]
    sets["spec"]["sharedCounters"] = [{"name": "gpu-0", "counters": total}]
    return [
        node("n0", gpu="h100"),
        sets,
        resource_slice("n0", [*small, *large], count=2),
        device_class("mig.nvidia.com", "mig"),
    ]


def by_profile(profile: str) -> Wire:
    chosen = f"device.attributes['{DRIVER}'].profile == '{profile}'"
    return {
        "name": f"nvidia.com/mig-{profile}",
        "charge": {"type": "Counter", "name": "memory", "quotaResource": "gpu-memory"},
        "request": {
            "deviceClassName": "mig.nvidia.com",
            "selectors": [{"cel": {"expression": chosen}}],
        },
    }


def asked(documents: list[Wire], template: Wire, count: int = 1) -> tuple[Asks, DeviceOffer]:
    known = around(documents)
    asks = asks_of(workload(template, count=count), Surroundings(devices=known))
    found = offers(
        asks.shapes, "h100", {"gpu": "h100"}, catalog=known.catalog, index=index(documents)
    )
    (offer,) = found.values()
    return asks, offer


def limited(resource: str, count: int = 1) -> Wire:
    return {"name": "c", "image": "i", "resources": {"limits": {resource: str(count)}}}


@pytest.mark.parametrize(
    ("profile", "count", "amount", "pods"),
    [
        pytest.param("1g.10gb", 1, 9984 * MI, 4, id="a small partition"),
        pytest.param("1g.10gb", 3, 3 * 9984 * MI, 1, id="three of them"),
        pytest.param("2g.20gb", 1, 20096 * MI, 1, id="memory runs out before the slices"),
    ],
)
def test_a_partition_is_charged_by_the_counter_that_it_takes(
    profile: str, count: int, amount: int, pods: int
) -> None:
    documents = [*mig_devices(), device_flavor("h100", "h100", by_profile(profile))]
    name = f"nvidia.com/mig-{profile}"
    asks, offer = asked(documents, pod_template(limited(name, count)))
    assert offer == DeviceOffer(amount=amount, pods_max=pods)
    (pod_set,) = asks.pod_sets
    assert pod_set.requests == {"gpu-memory": count}
    (ask,) = pod_set.devices
    assert (ask.resource, ask.units, ask.needs_offer) == ("gpu-memory", count, True)


def test_a_part_of_a_shared_device_is_charged_as_it_will_be_consumed() -> None:
    policy = {"default": "48Gi", "validRange": {"min": "1Gi", "max": "48Gi", "step": "1Gi"}}
    shared = gpu(0, allowMultipleAllocations=True)
    shared["capacity"] = {"memory": {"value": "48Gi", "requestPolicy": policy}}
    resource = {
        "name": "nvidia.com/gpu.shared",
        "charge": {"type": "Capacity", "name": "memory", "quotaResource": "gpu-memory"},
        "request": {
            "deviceClassName": DRIVER,
            "selectors": [{"cel": {"expression": "device.allowMultipleAllocations"}}],
            "capacityPerUnit": {"memory": "15500Mi"},
        },
    }
    documents = [
        node("n0", gpu="h100"),
        resource_slice("n0", [shared]),
        device_class(),
        device_flavor("h100", "h100", resource),
    ]
    _, offer = asked(documents, pod_template(limited("nvidia.com/gpu.shared")))
    assert offer == DeviceOffer(amount=16 * 1024 * MI, pods_max=3)


def test_pods_of_a_set_that_share_a_claim_are_charged_together() -> None:
    documents = [one for one in fleet() if one["kind"] != "DeviceFlavor"]
    documents.append(device_flavor("h100", "h100", whole_gpu(sharing="PerPodSet")))
    asks, offer = asked(documents, pod_template(gpus(1)), count=3)
    assert offer == DeviceOffer(amount=1, pods_max=256, together=True)
    (ask,) = asks.pod_sets[0].devices
    assert ask.undivided == {"h100"}


def template(*requests: Wire, constraints: list[Wire] | None = None) -> Wire:
    devices: Wire = {"requests": list(requests)}
    if constraints:
        devices["constraints"] = constraints
    return {
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "mine", "namespace": "team"},
        "spec": {"spec": {"devices": devices}},
    }


def exactly(count: int = 1, **more: Any) -> Wire:
    return {"name": "gpu", "exactly": {"deviceClassName": DRIVER, "count": count, **more}}


OWN = pod_template(
    {"name": "c", "image": "i", "resources": {"claims": [{"name": "gpu"}]}},
    claims=[{"name": "gpu", "resourceClaimTemplateName": "mine"}],
)


@pytest.mark.parametrize(
    ("requests", "amount", "pods"),
    [
        pytest.param([exactly(2)], 2, 8, id="a count"),
        pytest.param(
            [
                {
                    "name": "gpu",
                    "firstAvailable": [
                        {"name": "many", "deviceClassName": DRIVER, "count": 9},
                        {"name": "few", "deviceClassName": DRIVER, "count": 4},
                    ],
                }
            ],
            9,
            4,
            id="the dearest way is charged, the one that fits is counted",
        ),
        pytest.param([exactly(1, adminAccess=True)], 0, None, id="only looked at"),
    ],
)
def test_a_claim_that_the_user_wrote_is_charged_by_its_class(
    requests: list[Wire], amount: int, pods: int | None
) -> None:
    documents = [*fleet(), template(*requests)]
    known = around(documents)
    asks = asks_of(workload(OWN), Surroundings(devices=known))
    assert asks.problems == ""
    if not amount:
        assert asks.shapes == ()
        return
    _, offer = asked(documents, OWN)
    assert (offer.amount, offer.pods_max, offer.problem) == (amount, pods, "")


@pytest.mark.parametrize(
    ("documents", "pod", "says"),
    [
        pytest.param([], OWN, "ResourceClaimTemplate mine not found", id="no template"),
        pytest.param(
            [template(exactly(33))],
            OWN,
            "UnsupportedDeviceRequest: 33 devices: one claim can be given 32",
            id="too many",
        ),
        pytest.param(
            [template({"name": "a", "exactly": {"deviceClassName": "x"}})],
            OWN,
            "DeviceClass x is not mapped to a resource with quota",
            id="an unmapped class",
        ),
        pytest.param(
            [template(exactly(1, allocationMode="All"))],
            OWN,
            "UnsupportedDeviceRequest: request gpu: allocationMode All is not counted unless",
            id="all that match",
        ),
        pytest.param(
            [],
            pod_template(
                gpus(1),
                annotations={
                    "queueing.dev/traits": json.dumps(
                        {"nvidia.com/gpu": {"minMemory": "1') || ('"}}
                    )
                },
            ),
            "is no value of a trait",
            id="a value that would end the text of an expression",
        ),
        pytest.param(
            [],
            pod_template(gpus(1), annotations={"queueing.dev/traits": "{"}),
            "is no JSON object",
            id="no JSON",
        ),
        pytest.param(
            [],
            pod_template(
                gpus(1), annotations={"queueing.dev/slot.x": '{"resource":"nvidia.com/gpu"}'}
            ),
            "has no template named x to fill",
            id="a slot that is not declared",
        ),
    ],
)
def test_what_can_never_be_granted_is_a_problem(
    documents: list[Wire], pod: Wire, says: str
) -> None:
    known = around([*fleet(), *documents])
    assert says in asks_of(workload(pod), Surroundings(devices=known)).problems


def shared_claim(queue: str) -> Wire:
    return {
        "kind": "ResourceClaim",
        "metadata": {
            "name": "one",
            "namespace": "team",
            "labels": {"kueue.x-k8s.io/queue-name": queue},
        },
        "spec": {"devices": {"requests": [exactly(1)]}},
    }


@pytest.mark.parametrize(
    ("queue", "count", "says"),
    [
        pytest.param("main", 3, "", id="of the same queue"),
        pytest.param("other", 3, "charge it to this queue", id="of another queue"),
        pytest.param(
            "main",
            257,
            "UnsupportedDeviceRequest: 257 pods: one claim can be used by 256",
            id="too many pods",
        ),
    ],
)
def test_a_claim_that_all_pods_share_belongs_to_their_queue(
    queue: str, count: int, says: str
) -> None:
    pod = pod_template(
        {"name": "c", "image": "i", "resources": {"claims": [{"name": "gpu"}]}},
        claims=[{"name": "gpu", "resourceClaimName": "one"}],
    )
    documents = [*fleet(), shared_claim(queue)]
    asks = asks_of(workload(pod, count=count), Surroundings(devices=around(documents)))
    assert says in asks.problems
    if not says:
        assert asks.problems == ""
        _, offer = asked(documents, pod, count)
        assert offer == DeviceOffer(amount=1, pods_max=256, together=True)
