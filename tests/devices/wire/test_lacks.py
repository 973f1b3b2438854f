"""Who is told that the devices of the whole cluster are too few, and in which words."""

from typing import Any

import pytest

from queueing.devices.rules.index import DeviceIndex
from queueing.devices.wire import objects as wire
from queueing.devices.wire.asks import devices_of
from queueing.devices.wire.catalog import DeviceCatalog, catalog_of
from queueing.devices.wire.lacks import lack
from queueing.devices.wire.offers import shapes_of
from queueing.translate.inbound.manifests import read
from queueing.translate.problems import Problems
from queueing.translate.wire.pods import PodTemplate
from queueing_api.config.load import from_document
from tests.devices import fleet
from tests.devices.fleet import (
    DRIVER,
    HOPPER,
    device_class,
    device_flavor,
    gpu,
    node,
    resource_slice,
    whole_gpu,
)

Wire = dict[str, Any]
TAINT = {"key": "maintenance", "effect": "NoSchedule"}
FLEET = [
    node("n0", gpu="h100"),
    node("n1", gpu="a100"),
    resource_slice("n0", [gpu(0), gpu(1, taints=[TAINT])]),
    resource_slice("n1", [gpu(2, model="Ampere")]),
    device_class(extendedResourceName="nvidia.com/gpu"),
]
MAPPED = {"deviceClassMappings": [{"name": "gpus", "deviceClassNames": [DRIVER]}]}


def catalog(*flavors: Wire, resources: Wire, as_kueue: bool) -> DeviceCatalog:
    configuration = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "resources": resources,
    }
    classes = fleet.of_kind(FLEET, "DeviceClass", wire.DeviceClass)
    served = [read(wire.DeviceFlavor, one) for one in flavors]
    return catalog_of(served, classes, from_document(configuration), as_kueue=as_kueue)


def request(count: int = 1, *selectors: str, **more: Any) -> Wire:
    chosen = [{"cel": {"expression": one}} for one in selectors]
    exactly = {"deviceClassName": DRIVER, "count": count, "selectors": chosen, **more}
    return {"name": "gpu", "exactly": exactly}


def told(
    asked: Wire, rules: DeviceCatalog, devices: DeviceIndex, resources: Wire | None = None
) -> str:
    """Return what is told to a pod with a claim template that asks so, or with these resources."""
    spec = {"devices": {"requests": [asked]}}
    mine = {"metadata": {"name": "mine", "namespace": "team"}, "spec": {"spec": spec}}
    around = fleet.around([])
    around = type(around)(catalog=rules, templates={"mine": read(wire.ResourceClaimTemplate, mine)})
    claims = [] if resources else [{"name": "gpu", "resourceClaimTemplateName": "mine"}]
    container = {"name": "c", "image": "i", "resources": {"limits": resources or {}}}
    pod = read(PodTemplate, {"spec": {"containers": [container], "resourceClaims": claims}})
    problems = Problems()
    found = shapes_of(devices_of(pod, around, "template", problems), rules)
    assert problems.text() == ""
    return next((text for one in found if (text := lack(one, rules, devices))), "")


def sentence(found: int, wanted: int) -> str:
    return (
        f"insufficient matching devices for CEL selector in DeviceClass {DRIVER}:"
        f" {found} device(s) match in the cluster but {wanted} requested"
    )


@pytest.mark.parametrize("as_kueue", [True, False])
@pytest.mark.parametrize(
    ("asked", "says"),
    [
        pytest.param(request(2, HOPPER), "", id="enough, one of them tainted"),
        pytest.param(request(3, HOPPER), sentence(2, 3), id="too few"),
        pytest.param(request(1, "false"), sentence(0, 1), id="none at all"),
        pytest.param(request(1, "false", adminAccess=True), "", id="admin access takes none"),
        pytest.param(request(1, "no CEL at all ("), "", id="a selector that is none"),
    ],
)
def test_a_claim_is_held_against_the_whole_cluster(asked: Wire, says: str, as_kueue: bool) -> None:
    rules = catalog(resources=MAPPED, as_kueue=as_kueue)
    assert told(asked, rules, fleet.index(FLEET)) == says


@pytest.mark.parametrize(
    ("as_kueue", "says"),
    [pytest.param(False, sentence(3, 4), id="ours"), pytest.param(True, "", id="Kueue")],
)
def test_in_kueue_a_claim_without_selectors_is_only_counted(as_kueue: bool, says: str) -> None:
    rules = catalog(resources=MAPPED, as_kueue=as_kueue)
    assert told(request(4), rules, fleet.index(FLEET)) == says


def test_only_a_request_none_of_whose_ways_can_be_served_is_a_lack() -> None:
    rules, devices = catalog(resources=MAPPED, as_kueue=False), fleet.index(FLEET)
    ways = [{"name": str(count), "deviceClassName": DRIVER, "count": count} for count in (9, 2)]
    assert told({"name": "gpu", "firstAvailable": ways}, rules, devices) == ""
    ways[1]["count"] = 8
    assert told({"name": "gpu", "firstAvailable": ways}, rules, devices) == sentence(3, 9)


def test_what_a_device_flavor_counts_is_told_flavor_by_flavor() -> None:
    served = device_flavor("h100", "h100", whole_gpu())
    rules = catalog(served, resources={}, as_kueue=False)
    assert told(request(4, HOPPER), rules, fleet.index(FLEET)) == ""


def test_a_request_for_the_resource_of_a_class_is_no_claim_of_ones_own() -> None:
    rules = catalog(resources=MAPPED, as_kueue=False)
    assert told({}, rules, fleet.index(FLEET), {"nvidia.com/gpu": "9"}) == ""


def test_where_nobody_publishes_devices_claims_are_only_counted() -> None:
    rules = catalog(resources=MAPPED, as_kueue=False)
    assert told(request(4, HOPPER), rules, fleet.index([])) == ""
