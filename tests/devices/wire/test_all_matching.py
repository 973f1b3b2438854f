"""Claims of users' own for all devices that match, or to look at devices only."""

from typing import Any

import pytest

from queueing.core.devices import DeviceOffer
from queueing.devices.wire.catalog import catalog_of
from queueing.devices.wire.objects import DeviceFlavor
from queueing.translate.inbound.workloads import asks_of
from queueing.translate.requests import Surroundings
from queueing_api.config.v1beta2 import Configuration
from tests.devices.fleet import (
    DRIVER,
    around,
    device_class,
    device_flavor,
    gpu,
    node,
    of_kind,
    resource_slice,
    whole_gpu,
    workload,
)
from tests.devices.wire.test_charges import OWN, asked, exactly, template

Wire = dict[str, Any]
ALL = exactly(1, allocationMode="All")


def documents(devices: int, *requests: Wire, counts_as: int | None = 8) -> list[Wire]:
    """Return two nodes of so many GPUs, of which a claim for all counts as `counts_as`."""
    charge: Wire = {"type": "Devices"}
    if counts_as is not None:
        charge["allMatching"] = counts_as
    return [
        *(node(name, gpu="h100") for name in ("n0", "n1")),
        *(resource_slice(name, [gpu(at) for at in range(devices)]) for name in ("n0", "n1")),
        device_class(),
        device_flavor("h100", "h100", whole_gpu(charge=charge)),
        template(*requests),
    ]


def problems(made: list[Wire]) -> str:
    return asks_of(workload(OWN), Surroundings(devices=around(made))).problems


@pytest.mark.parametrize(
    ("requests", "amount"),
    [
        pytest.param([ALL], 8, id="alone"),
        pytest.param([ALL, {**exactly(1, adminAccess=True), "name": "watch"}], 8, id="and a look"),
    ],
)
def test_a_claim_for_all_counts_as_the_flavor_says(requests: list[Wire], amount: int) -> None:
    made = documents(8, *requests)
    assert problems(made) == ""
    _, offer = asked(made, OWN)
    assert offer == DeviceOffer(amount=amount, pods_max=2)


def test_a_claim_for_all_is_refused_where_nobody_said_what_it_counts_as() -> None:
    assert "allocationMode All is not counted" in problems(documents(8, ALL, counts_as=None))


def test_nodes_with_more_devices_than_a_claim_can_be_given_serve_no_claim_for_all() -> None:
    _, offer = asked(documents(33, ALL), OWN)
    assert offer.problem == (
        "flavor h100: UnsupportedDeviceRequest: all devices are asked for: one claim can be"
        " given 32, and at least one"
    )


@pytest.mark.parametrize("mode", ["ExactCount", "All"])
def test_who_only_looks_at_devices_is_charged_nothing(mode: str) -> None:
    made = documents(8, exactly(1, adminAccess=True, allocationMode=mode), counts_as=None)
    asks = asks_of(workload(OWN), Surroundings(devices=around(made)))
    assert (asks.problems, asks.shapes) == ("", ())


def test_of_several_flavors_of_a_class_the_dearest_counts() -> None:
    flavors = of_kind(
        [
            device_flavor("a", "a", whole_gpu(charge={"allMatching": 4})),
            device_flavor("b", "b", whole_gpu(charge={"allMatching": 8})),
            device_flavor("c", "c", whole_gpu()),
        ],
        "DeviceFlavor",
        DeviceFlavor,
    )
    assert catalog_of(flavors).rules[DRIVER].all_matching == 8


@pytest.mark.parametrize(
    ("quota", "counts_as"), [("nvidia.com/gpu", 8), ("example.com/other", None)]
)
def test_a_mapping_of_the_class_keeps_it_while_it_charges_the_same(
    quota: str, counts_as: int | None
) -> None:
    mapping = {"name": quota, "deviceClassNames": [DRIVER]}
    configuration = Configuration.model_validate({"resources": {"deviceClassMappings": [mapping]}})
    flavors = of_kind(documents(1), "DeviceFlavor", DeviceFlavor)
    rules = catalog_of(flavors, (), configuration).rules
    assert (rules[DRIVER].quota, rules[DRIVER].all_matching) == (quota, counts_as)
