"""Claims that users wrote themselves: admitted and charged as in Kueue, but where ours is meant.

The charges are worked out by hand from Kueue's rules: devices by their number, a counter or a
capacity by the largest of the devices that match, rounded as the device's policy says.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from queueing.core.decisions import Admit, Wait
from queueing.core.settings import Compatibility
from queueing.sim.documents import Document, load
from queueing.sim.intake import read_world
from queueing.sim.plan import until_stable
from tests.devices.fleet import DRIVER, HOPPER, device_class, gpu, node, resource_slice

Wire = dict[str, Any]
Outcome = dict[str, int] | str
"""What is charged besides CPU, or a part of what is told to who waits."""
MI = 2**20
PARTITION, SHARED = "mig.nvidia.com", "shared.nvidia.com"
PODS = 3


def request(count: int = 1, name: str = "gpu", of: str = DRIVER, **more: Any) -> Wire:
    return {"name": name, "exactly": {"deviceClassName": of, "count": count, **more}}


def selecting(expression: str) -> Wire:
    return {"selectors": [{"cel": {"expression": expression}}]}


def template(*requests: Wire, name: str = "mine") -> Wire:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"spec": {"devices": {"requests": list(requests)}}},
    }


ONE_FOR_ALL: Wire = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {
        "name": "one",
        "namespace": "team",
        "labels": {"kueue.x-k8s.io/queue-name": "main"},
    },
    "spec": {"devices": {"requests": [request()]}},
}
EITHER = {
    "name": "gpu",
    "firstAvailable": [
        {"name": "many", "deviceClassName": DRIVER, "count": 3},
        {"name": "few", "deviceClassName": DRIVER, "count": 2},
    ],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A Job of three pods, and what becomes of it in Kueue and here."""

    claims: tuple[Wire, ...] = ()
    """Templates, and claims by name, that its pods name."""
    requests: Wire = field(default_factory=dict)
    gates: Wire = field(default_factory=dict)
    mapped: bool = True
    kueue: Outcome
    ours: Outcome | None = None
    """None when it is the same."""


UNMAPPED = "is not mapped to a resource with quota"
CASES = {
    "a count": Case(claims=(template(request(2)),), kueue={"gpus": 6}),
    "two requests": Case(
        claims=(template(request(1), request(1, name="more")),), kueue={"gpus": 6}
    ),
    "two templates": Case(
        claims=(template(request(1)), template(request(1), name="other")), kueue={"gpus": 6}
    ),
    "a selector": Case(claims=(template(request(2, **selecting(HOPPER))),), kueue={"gpus": 6}),
    "a selector that nothing matches": Case(
        claims=(template(request(**selecting("false"))),),
        kueue=f"insufficient matching devices for CEL selector in DeviceClass {DRIVER}:"
        " 0 device(s) match in the cluster but 1 requested",
    ),
    "a selector that only devices of other nodes match": Case(
        claims=(template(request(2, **selecting(f"!({HOPPER})"))),),
        kueue={"gpus": 6},
        ours="0 of 2 device(s) match",
    ),
    "more than any node has": Case(
        claims=(template(request(9)),), kueue={"gpus": 27}, ours="8 of 9 device(s) match"
    ),
    "a partition, by its counter": Case(
        claims=(template(request(of=PARTITION)),), kueue={"gpu-memory": 3 * 9984 * MI}
    ),
    "two partitions of a pod": Case(
        claims=(template(request(2, of=PARTITION)),), kueue={"gpu-memory": 6 * 9984 * MI}
    ),
    "a share, as its policy rounds it": Case(
        claims=(template(request(of=SHARED, capacity={"requests": {"memory": "15500Mi"}})),),
        gates={"KueueDRAIntegrationConsumableCapacity": True},
        kueue={"gpu-memory": 3 * 16 * 1024 * MI},
    ),
    "a share without a size is all of it": Case(
        claims=(template(request(of=SHARED)),),
        gates={"KueueDRAIntegrationConsumableCapacity": True},
        kueue={"gpu-memory": 3 * 48 * 1024 * MI},
        ours="its devices serve 1 of 3 pods",
    ),
    "a share without the gate": Case(
        claims=(template(request(of=SHARED)),),
        kueue="feature gate KueueDRAIntegrationConsumableCapacity is off",
    ),
    "a partition without the gate": Case(
        claims=(template(request(of=PARTITION)),),
        gates={"KueueDRAIntegrationPartitionableDevices": False},
        kueue="feature gate KueueDRAIntegrationPartitionableDevices is off",
    ),
    "admin access": Case(claims=(template(request(adminAccess=True)),), kueue={}),
    "firstAvailable": Case(
        claims=(template(EITHER),), kueue="firstAvailable is not counted", ours={"gpus": 9}
    ),
    "all that match": Case(
        claims=(template(request(allocationMode="All")),), kueue="allocationMode All is not"
    ),
    "a claim by name": Case(
        claims=(ONE_FOR_ALL,), kueue="claims by name are not counted", ours={"gpus": 1}
    ),
    "an unmapped class": Case(claims=(template(request(of="nic.example.com")),), kueue=UNMAPPED),
    "no mapping at all": Case(claims=(template(request()),), mapped=False, kueue=UNMAPPED),
    "the resource of a class": Case(requests={"nvidia.com/gpu": "2"}, kueue={"gpus": 6}),
    "the resource of a class without the gate": Case(
        requests={"nvidia.com/gpu": "2"},
        gates={"KueueDRAIntegrationExtendedResource": False},
        kueue="nvidia.com/gpu unavailable",
    ),
    "the resource of a class that counts by a counter": Case(
        requests={"nvidia.com/mig": "1"},
        kueue="counts by counter or capacity, and is asked for as a resource",
        ours={"gpu-memory": 3 * 9984 * MI},
    ),
    "the implicit resource of a class": Case(
        requests={f"deviceclass.resource.kubernetes.io/{DRIVER}": "2"},
        kueue="unavailable",
        ours={"gpus": 6},
    ),
    "claims that are switched off": Case(
        claims=(template(request()),),
        gates={"KueueDRAIntegration": False},
        kueue="feature gate KueueDRAIntegration is off",
    ),
    "claims that are switched off and let pass": Case(
        claims=(template(request()),),
        gates={"KueueDRAIntegration": False, "KueueDRARejectWorkloadsWhenDRADisabled": False},
        kueue={},
    ),
    "claims without any mapping that are let pass": Case(
        claims=(template(request()),),
        mapped=False,
        gates={"KueueDRAIntegration": False, "KueueDRARejectWorkloadsWhenDRADisabled": False},
        kueue={},
    ),
}


@pytest.mark.parametrize("compatibility", list(Compatibility), ids=lambda one: one.value)
@pytest.mark.parametrize("name", CASES)
def test_claims_of_ones_own_are_admitted_and_charged(
    name: str, compatibility: Compatibility, tmp_path: Path
) -> None:
    case = CASES[name]
    as_kueue = compatibility is Compatibility.KUEUE or case.ours is None
    expected = case.kueue if as_kueue else case.ours
    assert expected is not None
    world = read_world(documents(case, tmp_path), now=0.0, compatibility=compatibility)
    plan = until_stable(world.facts, settings=world.settings, now=0.0)
    (decision, *_) = [one for decided in plan.rounds for one in decided]
    if isinstance(expected, str):
        assert isinstance(decision, Wait)
        assert expected in decision.message
    else:
        assert isinstance(decision, Admit)
        (pod_set,) = decision.pod_sets
        usage = {one: amount for one, amount in pod_set.usage.items() if one != "cpu"}
        assert usage == expected


def documents(case: Case, folder: Path) -> list[Document]:
    found = [*FLEET, configuration(case), *queues(), job(case), *case.claims]
    file = folder / "case.yaml"
    file.write_text(yaml.safe_dump_all(found))
    return load([str(file)])


def shared() -> Wire:
    policy = {"default": "48Gi", "validRange": {"min": "1Gi", "max": "48Gi", "step": "1Gi"}}
    made = gpu(8, allowMultipleAllocations=True)
    made["attributes"]["type"] = {"string": "shared"}
    made["capacity"] = {"memory": {"value": "48Gi", "requestPolicy": policy}}
    return made


def partition(number: int) -> Wire:
    memory = {"memory": {"value": "9984Mi"}}
    return {
        "name": f"part-{number}",
        "attributes": {"type": {"string": "mig"}, "architecture": {"string": "Hopper"}},
        "capacity": memory,
        "consumesCounters": [{"counterSet": "card", "counters": memory}],
    }


def counters() -> Wire:
    made = resource_slice("n0", [], count=2, part="counters")
    del made["spec"]["devices"]
    made["spec"]["sharedCounters"] = [
        {"name": "card", "counters": {"memory": {"value": "81559Mi"}}}
    ]
    return made


FLEET = [
    node("n0", gpu="h100"),
    node("n1", gpu="a100"),
    resource_slice(
        "n0",
        [*map(gpu, range(8)), shared(), *map(partition, range(7))],
        count=2,
    ),
    counters(),
    resource_slice("n1", [gpu(at, model="Ampere") for at in range(4)]),
    device_class(extendedResourceName="nvidia.com/gpu"),
    device_class(PARTITION, "mig", extendedResourceName="nvidia.com/mig"),
    device_class(SHARED, "shared"),
]


def configuration(case: Case) -> Wire:
    def source(kind: str) -> list[Wire]:
        selector = {"cel": {"expression": "true"}}
        return [{kind: {"name": "memory", "driver": DRIVER, "deviceSelector": selector}}]

    mappings = [
        {"name": "gpus", "deviceClassNames": [DRIVER]},
        {"name": "gpu-memory", "deviceClassNames": [PARTITION], "sources": source("counter")},
    ]
    if "KueueDRAIntegrationConsumableCapacity" in case.gates or SHARED in str(case.claims):
        mappings[1] = {
            "name": "gpu-memory",
            "deviceClassNames": [SHARED],
            "sources": source("capacity"),
        }
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "featureGates": case.gates,
        "resources": {"deviceClassMappings": mappings if case.mapped else []},
    }


def queues() -> list[Wire]:
    kueue = "kueue.x-k8s.io/v1beta2"
    resources = {"cpu": "100", "gpus": "100", "gpu-memory": "1Ti"}
    quotas = [{"name": name, "nominalQuota": quota} for name, quota in resources.items()]
    group = {
        "coveredResources": list(resources),
        "flavors": [{"name": "h100", "resources": quotas}],
    }
    return [
        {
            "apiVersion": kueue,
            "kind": "ResourceFlavor",
            "metadata": {"name": "h100"},
            "spec": {"nodeLabels": {"gpu": "h100"}},
        },
        {
            "apiVersion": kueue,
            "kind": "ClusterQueue",
            "metadata": {"name": "cq"},
            "spec": {"namespaceSelector": {}, "resourceGroups": [group]},
        },
        {
            "apiVersion": kueue,
            "kind": "LocalQueue",
            "metadata": {"name": "main", "namespace": "team"},
            "spec": {"clusterQueue": "cq"},
        },
    ]


def job(case: Case) -> Wire:
    names = [one["metadata"]["name"] for one in case.claims]
    claims = [
        {
            "name": name,
            "resourceClaimTemplateName"
            if one["kind"] == "ResourceClaimTemplate"
            else "resourceClaimName": name,
        }
        for name, one in zip(names, case.claims, strict=True)
    ]
    # Two containers of a pod use the same claims: they count once.
    used = {"claims": [{"name": name} for name in names]}
    containers = [
        {"name": "a", "image": "i", "resources": {"requests": {"cpu": "1"}, **used}},
        {"name": "b", "image": "i", "resources": {"limits": case.requests, **used}},
    ]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "train",
            "namespace": "team",
            "labels": {"kueue.x-k8s.io/queue-name": "main"},
        },
        "spec": {
            "suspend": True,
            "parallelism": PODS,
            "completions": PODS,
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "containers": containers,
                    "resourceClaims": claims,
                }
            },
        },
    }
