"""What claims were given, what it counts as, and what is charged for it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given as any_of
from hypothesis import settings
from hypothesis import strategies as st

from queueing.core.names import PodSetName, ResourceName
from queueing.core.usage import held_usage
from queueing.devices.wire import objects as wire
from queueing.devices.wire.asks import DeviceSurroundings
from queueing.devices.wire.given import amounts_of
from queueing.devices.wire.true_up import (
    NO_CHARGES,
    Charges,
    Given,
    Possession,
    given,
    possessions,
    settled,
)
from queueing.translate.inbound.manifests import read
from queueing.translate.inbound.workloads import workload as fact_of
from queueing.translate.wire.workloads import Workload
from tests.devices.fleet import (
    DRIVER,
    around,
    device_flavor,
    fleet,
    gpu,
    gpus,
    index,
    node,
    pod_template,
    resource_slice,
    whole_gpu,
)

Wire = dict[str, Any]
GI = 2**30
GPU = "nvidia.com/gpu"
MEMORY = "gpu-memory"


def results(*devices: str, request: str = "c0", pool: str = "n0", **more: Any) -> Wire:
    found = [
        {"request": request, "driver": DRIVER, "pool": pool, "device": one, **more}
        for one in devices
    ]
    return {"allocation": {"devices": {"results": found}}}


def made(name: str, *devices: str, **more: Any) -> wire.ResourceClaim:
    """Return a claim that an admission to h100 made; without devices nothing is allocated."""
    labels = {
        "queueing.dev/workload-uid": "workload-uid",
        "queueing.dev/pod-set": "main",
        "queueing.dev/flavor": "h100",
    }
    annotations = {"queueing.dev/resource": GPU}
    metadata = {"name": name, "uid": name, "namespace": "team", "labels": labels}
    status = results(*devices, **more) if devices else {}
    found = {"metadata": {**metadata, "annotations": annotations}, "status": status}
    return read(wire.ResourceClaim, found)


EITHER = [
    {"name": "h100", "deviceClassName": DRIVER, "count": 9},
    {"name": "a100", "deviceClassName": DRIVER, "count": 4},
]


def own(name: str, *devices: str, way: str = "a100") -> wire.ResourceClaim:
    """Return a claim of a user's own, of which there are two ways to satisfy it."""
    spec = {"devices": {"requests": [{"name": "gpu", "firstAvailable": EITHER}]}}
    status = results(*devices, request=f"gpu/{way}") if devices else {}
    metadata = {"name": name, "uid": name, "namespace": "team"}
    return read(wire.ResourceClaim, {"metadata": metadata, "spec": spec, "status": status})


def by_memory() -> list[Wire]:
    charge = {"type": "Counter", "name": "memory", "quotaResource": MEMORY}
    counters = [
        gpu(
            number,
            consumesCounters=[
                {"counterSet": "all", "counters": {"memory": {"value": f"{(number + 1) * 10}Gi"}}}
            ],
        )
        for number in range(4)
    ]
    flavor = device_flavor("h100", "h100", whole_gpu(charge=charge))
    return [node("n0", gpu="h100"), resource_slice("n0", counters), flavor]


def by_share() -> list[Wire]:
    charge = {"type": "Capacity", "name": "memory", "quotaResource": MEMORY}
    return [
        node("n0", gpu="h100"),
        resource_slice("n0", [gpu(0, allowMultipleAllocations=True)]),
        device_flavor("h100", "h100", whole_gpu(charge=charge)),
    ]


@pytest.mark.parametrize(
    ("claim", "documents", "want"),
    [
        pytest.param(made("a", "gpu-0", "gpu-1"), fleet(), {GPU: 2}, id="devices"),
        pytest.param(made("a"), fleet(), None, id="not allocated"),
        pytest.param(made("a", "gpu-77"), fleet(), {GPU: 1}, id="a device counts as itself"),
        pytest.param(made("a", "gpu-1"), by_memory(), {MEMORY: 20 * GI}, id="its counter"),
        pytest.param(made("a", "gpu-77"), by_memory(), None, id="a counter of no known device"),
        pytest.param(made("a", "gpu-0", adminAccess=True), fleet(), {GPU: 0}, id="only looked at"),
        pytest.param(
            made("a", "gpu-0", consumedCapacity={"memory": "16Gi"}),
            by_share(),
            {MEMORY: 16 * GI},
            id="what is consumed of a shared device",
        ),
        pytest.param(own("a", *"abcd"), fleet(), {GPU: 4}, id="the way that was granted"),
        pytest.param(own("a", *"abcd", way="b200"), fleet(), None, id="a way of nobody's"),
        pytest.param(made("a", "gpu-0"), [], None, id="no rule any more"),
    ],
)
def test_a_claim_counts_as_its_rule_says(
    claim: wire.ResourceClaim, documents: list[Wire], want: dict[str, int] | None
) -> None:
    known = {one.name: one for one in index(documents).devices}
    assert amounts_of(claim, known, around(documents).catalog) == want


def admitted(template: Wire, usage: Wire, *, count: int = 2, done: int = 0) -> Workload:
    flavors = dict.fromkeys(usage, "h100")
    assigned = {"name": "main", "count": count, "flavors": flavors, "resourceUsage": usage}
    pod_sets = [{"name": "main", "count": count, "template": template}]
    reserved = {"type": "QuotaReserved", "status": "True"}
    return read(
        Workload,
        {
            "metadata": {"name": "job-train", "namespace": "team", "uid": "workload-uid"},
            "spec": {"queueName": "main", "podSets": pod_sets},
            "status": {
                "admission": {"clusterQueue": "cq", "podSetAssignments": [assigned]},
                "conditions": [reserved],
                "reclaimablePods": [{"name": "main", "count": done}] if done else [],
            },
        },
    )


def asked_for(
    workload: Workload, claims: Iterable[wire.ResourceClaim], documents: list[Wire]
) -> dict[tuple[str, str], Given]:
    surroundings = around(documents)
    known = {one.name: one for one in index(documents).devices}
    held = [
        *possessions(workload, [one for one in claims if one.metadata.labels], surroundings.claims),
        *(Possession("main", one) for one in claims if not one.metadata.labels),
    ]
    return given(
        workload, held, surroundings, lambda one: amounts_of(one, known, surroundings.catalog)
    )


TWO = admitted(pod_template(gpus(1)), {MEMORY: "80Gi"})


@pytest.mark.parametrize(
    ("workload", "claims", "want"),
    [
        pytest.param(TWO, [made("a", "gpu-0"), made("b", "gpu-1")], Given(30 * GI, True), id="all"),
        pytest.param(TWO, [made("a", "gpu-0"), made("b")], Given(10 * GI, False), id="one waits"),
        pytest.param(TWO, [made("a")], None, id="none is allocated"),
        pytest.param(TWO, [made("a", "gpu-0"), made("b", "gpu-77")], None, id="one is not known"),
        pytest.param(
            admitted(pod_template(gpus(1)), {MEMORY: "80Gi"}, done=1),
            [made("b", "gpu-1")],
            Given(20 * GI, True),
            id="the other pod is done",
        ),
    ],
)
def test_a_pod_set_holds_what_its_claims_hold(
    workload: Workload, claims: list[wire.ResourceClaim], want: Given | None
) -> None:
    assert asked_for(workload, claims, by_memory()).get(("main", MEMORY)) == want


def test_what_a_device_plugin_serves_is_not_told_by_claims() -> None:
    documents = [*fleet()[:6], device_flavor("h100", "h100", whole_gpu(strategy="Native"))]
    workload = admitted(pod_template(gpus(1)), {GPU: "2"})
    assert asked_for(workload, [made("a", "gpu-0"), made("b", "gpu-1")], documents) == {}


BOUND = [{"name": "gpu", "resourceClaimTemplateName": "either"}]
TEMPLATE = {
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "either", "namespace": "team"},
    "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "firstAvailable": EITHER}]}}},
}
CLAIMING = admitted(pod_template(gpus(0), claims=BOUND), {GPU: "18"})


def test_claims_of_users_templates_count_by_the_pods_that_have_them() -> None:
    documents = [*fleet(), TEMPLATE]
    claims = [own("x", *"abcd"), own("y", *"efgh")]
    assert asked_for(CLAIMING, claims, documents) == {("main", GPU): Given(8, complete=True)}


def charges(amount: int) -> Charges:
    return {PodSetName("main"): {ResourceName(GPU): amount}}


@pytest.mark.parametrize(
    ("before", "now", "want"),
    [
        pytest.param(NO_CHARGES, Given(8, True), charges(8), id="lowered when all are there"),
        pytest.param(NO_CHARGES, Given(4, False), NO_CHARGES, id="not before"),
        pytest.param(charges(8), Given(4, False), charges(8), id="stays while one is replaced"),
        pytest.param(charges(8), Given(9, False), charges(9), id="never less than what is held"),
        pytest.param(charges(8), Given(13, True), charges(13), id="up to what came in its place"),
        pytest.param(charges(8), None, charges(8), id="stays without data"),
    ],
)
def test_a_charge_is_lowered_once_and_goes_up_only_with_what_is_held(
    before: Charges, now: Given | None, want: Charges
) -> None:
    found = {} if now is None else {("main", GPU): now}
    admission = CLAIMING.status.admission
    assert admission is not None
    assert settled(before, found, admission.pod_set_assignments) == want


PODS = 3
SIZE = st.sampled_from([0, 4, 9])
"""Devices of a pod's claim; 0 while it has none."""


@settings(max_examples=60)
@any_of(st.lists(st.tuples(st.integers(0, PODS - 1), SIZE, st.booleans()), max_size=12))
def test_quota_never_says_less_than_claims_hold_nor_more_than_was_admitted(
    happenings: list[tuple[int, int, bool]],
) -> None:
    """Claims come, go and are replaced by others, and the controller restarts in between."""
    documents = [*fleet(), TEMPLATE]
    workload = admitted(pod_template(gpus(0), claims=BOUND), {GPU: "27"}, count=PODS)
    admission = workload.status.admission
    assert admission is not None
    held: dict[int, int] = {}
    known: Charges = NO_CHARGES
    for pod, size, restarts in happenings:
        held[pod] = size
        claims = [
            own(f"{pod}", *map(str, range(size)), way="h100" if size == 9 else "a100")
            for pod, size in held.items()
            if size
        ]
        found = asked_for(workload, claims, documents)
        known = settled(NO_CHARGES if restarts else known, found, admission.pod_set_assignments)
        usage = charged(workload, around(documents), known)
        assert sum(held.values()) <= usage <= 27
        if sum(map(bool, held.values())) == PODS:
            assert usage == sum(held.values())


def charged(workload: Workload, surroundings: DeviceSurroundings, known: Charges) -> int:
    assert surroundings.catalog.rules
    usage: Mapping[Any, int] = held_usage(replace(fact_of(workload), given=known))
    return sum(usage.values())
