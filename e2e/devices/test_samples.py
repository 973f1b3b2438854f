"""Every sample of devices does on a cluster what it says: admitted, allocated, charged, gone."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from e2e.cluster import Cluster
from e2e.devices.samples import NAMES, Sample, applied
from e2e.devices.shapes import allocated, claims_of, templates_of
from e2e.jobs import running, stopped, wait_job, workload_of
from e2e.product import Controller, Residents
from e2e.quota import amount, held_by_status
from e2e.wire import Object
from e2e.world import World, new_world


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a sample's Job is to get."""

    charge: str
    """In the resource of its quota, for all pods."""
    claims: int
    from_devices: tuple[str, ...]
    """Devices that may be given; each claim gets some of them."""
    each: int = 1
    """Devices per claim."""
    same: str = ""
    """Attribute that the devices of one claim share."""
    sharing: str = ""
    """Strategy that reaches the driver by the claim."""


def numbered(pattern: str, *numbers: int) -> tuple[str, ...]:
    return tuple(pattern.format(number) for number in numbers)


PCIE = "resource.kubernetes.io/pcieRoot"
EXPECTED = {
    "amd-mi300x": Expected(
        charge="8", claims=2, each=4, from_devices=numbered("gpu-{}", *range(8))
    ),
    "amd-partition": Expected(
        charge="8",
        claims=2,
        each=4,
        same="deviceID",
        from_devices=(
            *numbered("gpu-0-part-{}", *range(4)),
            *numbered("gpu-1-part-{}", *range(4)),
        ),
    ),
    "example-gpu": Expected(
        charge="4", claims=2, each=2, from_devices=numbered("gpu-{}", *range(4))
    ),
    "example-partition": Expected(
        charge="60Gi", claims=3, from_devices=numbered("gpu-0-partition-{}", *range(4))
    ),
    "example-shared": Expected(charge="64Gi", claims=4, from_devices=("gpu-0",)),
    "example-space-partitioning": Expected(
        charge="1", claims=1, from_devices=("gpu-0", "gpu-1"), sharing="SpacePartitioning"
    ),
    "example-time-slicing": Expected(
        charge="1", claims=1, from_devices=("gpu-0", "gpu-1"), sharing="TimeSlicing"
    ),
    "google-tpu": Expected(
        charge="4", claims=1, each=4, from_devices=numbered("tpu-{}", *range(4))
    ),
    "intel-gaudi": Expected(
        charge="6",
        claims=2,
        each=3,
        same=PCIE,
        from_devices=numbered("0000-0{}-00-0-0x1020", 0, 1, 2, 4, 5, 6, 7),
    ),
    "intel-gpu": Expected(
        charge="2", claims=2, from_devices=numbered("0000-{}a-00-0-0x0bda", *range(4))
    ),
    "intel-vf": Expected(
        charge="3", claims=3, from_devices=numbered("0000-03-00-{}-0x56c0", 2, 3, 4)
    ),
    "nvidia-h100": Expected(
        charge="8", claims=2, each=4, same=PCIE, from_devices=numbered("gpu-{}", *range(8))
    ),
    "nvidia-mig": Expected(
        charge="39936Mi", claims=4, from_devices=numbered("gpu-0-mig-1g10gb-19-{}", *range(7))
    ),
    "nvidia-mps": Expected(charge="1", claims=1, from_devices=("gpu-0",), sharing="MPS"),
    "nvidia-shared": Expected(charge="32Gi", claims=4, from_devices=("gpu-0",)),
    "nvidia-time-slicing": Expected(
        charge="1", claims=1, from_devices=("gpu-0",), sharing="TimeSlicing"
    ),
}


@pytest.fixture(scope="module")
def resident(installed: Cluster, residents: Residents) -> Controller:
    """Lend one replica to all samples."""
    return residents.at(installed)


@pytest.fixture(scope="module")
def world(installed: Cluster, left: list[World]) -> Iterator[World]:
    """Lend one namespace to all samples."""
    made = new_world(installed)
    yield made
    made.leave()
    left.append(made)


@pytest.fixture(scope="module")
def samples(world: World, resident: Controller) -> Iterator[dict[str, Sample]]:
    """Lend all samples, applied together: none disturbs another."""
    with applied(world) as found:
        yield found


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_gets_its_devices_is_charged_for_them_and_gives_them_back(
    world: World, samples: dict[str, Sample], name: str
) -> None:
    sample, expected = samples[name], EXPECTED[name]
    wait_job(world, name, running, "running")
    claims = claims_of(world, name)
    given = [allocated(one) for one in claims]
    assert [len(one) for one in given] == [expected.each] * expected.claims
    devices = sample.devices()
    assert {at for one in given for at in one} <= set(devices)
    assert {device for one in given for _, device in one} <= set(expected.from_devices)
    for one in given:
        assert not expected.same or len({attribute(devices[at], expected.same) for at in one}) == 1
    assert {strategy for one in claims for strategy in configured(one)} == {
        one for one in [expected.sharing] if one
    }
    (assigned,) = workload_of(world, name)["status"]["admission"]["podSetAssignments"]
    assert assigned["flavors"][sample.quota] == name
    charge = amount(assigned["resourceUsage"][sample.quota])
    assert charge == amount(expected.charge) == sum(taken(sample, one) for one in claims)
    leaves_nothing(world, sample, name)


def leaves_nothing(world: World, sample: Sample, name: str) -> None:
    """Stop a Job, and see that its template is as the user wrote it and nothing is held."""
    workload = workload_of(world, name)["metadata"]["name"]
    world.api.patch("Workload", workload, {"spec": {"active": False}}, namespace=world.namespace)

    def as_written(job: Object) -> bool:
        now, then = job["spec"]["template"], sample.job["spec"]["template"]
        noted = now["metadata"].get("annotations", {}) == then["metadata"].get("annotations", {})
        added = {"nodeSelector", "schedulingGates"} & now["spec"].keys()
        return stopped(job) and noted and not added

    wait_job(world, name, as_written, "stopped and as it was written")
    world.api.wait_one(
        "ClusterQueue", name, lambda one: not held_by_status(one), what=f"nothing held in {name}"
    )
    uid = workload_of(world, name)["metadata"]["uid"]
    for kind in ("ResourceClaimTemplate", "ResourceClaim"):
        world.api.wait(
            kind,
            lambda found: not found,
            namespace=world.namespace,
            labels=f"queueing.dev/workload-uid={uid}",
            what=f"no {kind} left of {name}",
        )
    assert not templates_of(world, name)


def attribute(device: Object, name: str) -> Any:
    (value,) = device["attributes"][name].values()
    return value


def configured(claim: Object) -> list[str]:
    """Return the ways of sharing that the driver is told with an allocated claim."""
    found = claim["status"]["allocation"]["devices"].get("config") or []
    return [one["opaque"]["parameters"]["sharing"]["strategy"] for one in found]


def taken(sample: Sample, claim: Object) -> Decimal:
    """Return what the scheduler gave to a claim, in the unit of its charge."""
    results = claim["status"]["allocation"]["devices"]["results"]
    match sample.charge:
        case {"type": "Counter", "name": name}:
            devices = sample.devices()
            found = [devices[one["pool"], one["device"]] for one in results]
            return sum(
                (
                    amount(counter["counters"][name]["value"])
                    for one in found
                    for counter in one["consumesCounters"]
                ),
                Decimal(0),
            )
        case {"type": "Capacity", "name": name}:
            return sum((amount(one["consumedCapacity"][name]) for one in results), Decimal(0))
        case _:
            return Decimal(len(results))
