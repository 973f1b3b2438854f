"""ComputeDomains: what an admission makes of a flavor that gives devices within one."""

from typing import Any

import pytest

from queueing.devices.rules.messages import DeviceReason
from queueing.devices.wire.names import CHANNEL, COMPUTE_DOMAIN
from queueing.devices.wire.realisation import Realisation, realise
from queueing.lifecycle.steps import Cause
from tests.devices.fleet import (
    OWNER,
    around,
    device_class,
    device_flavor,
    gpus,
    pod_template,
    whole_gpu,
    workload,
)

Wire = dict[str, Any]


def realised(terms: Wire | None, count: int = 4) -> Realisation:
    served = whole_gpu() if terms is None else whole_gpu(computeDomain=terms)
    known = around([device_class(), device_flavor("h100", "h100", served)])
    admitted = workload(pod_template(gpus(1)), count=count, flavors={"nvidia.com/gpu": "h100"})
    return realise(admitted, OWNER, known)


@pytest.mark.parametrize(
    ("terms", "nodes", "mode"),
    [
        pytest.param({}, 0, None, id="each pod begins when its node is ready"),
        pytest.param({"nodes": "Pods"}, 4, None, id="a node per pod"),
        pytest.param({"channels": "All"}, 0, "All", id="all channels"),
    ],
)
def test_a_pod_set_gets_a_domain_and_its_pods_the_channel(
    terms: Wire, nodes: int, mode: str | None
) -> None:
    made = realised(terms)
    template, domain = made.objects
    name = domain["metadata"]["name"]
    assert (domain["apiVersion"], domain["kind"]) == (
        "resource.nvidia.com/v1beta1",
        "ComputeDomain",
    )
    assert domain["spec"]["numNodes"] == nodes
    assert domain["spec"]["channel"]["resourceClaimTemplate"] == {"name": name}
    assert domain["spec"]["channel"].get("allocationMode") == mode
    assert domain["metadata"]["ownerReferences"][0]["uid"] == "job-uid"
    # The template comes first and names the domain, so that whoever sweeps one sweeps both.
    assert template["metadata"]["annotations"][COMPUTE_DOMAIN] == name
    assert made.changes["main"].annotations[CHANNEL] == name


def test_names_follow_the_contents() -> None:
    names = [
        tuple(one["metadata"]["name"] for one in realised(terms).objects)
        for terms in ({}, {"nodes": "Pods"}, {"channels": "All"}, {})
    ]
    assert names[0] == names[3]
    assert len({name for pair in names for name in pair}) == 6


def test_without_the_setting_nothing_is_made() -> None:
    made = realised(None)
    assert [one["kind"] for one in made.objects] == ["ResourceClaimTemplate"]
    assert COMPUTE_DOMAIN not in made.objects[0]["metadata"]["annotations"]
    assert CHANNEL not in made.changes["main"].annotations


@pytest.mark.parametrize(
    "reason",
    [
        DeviceReason.INVALID,
        DeviceReason.UNSUPPORTED,
        DeviceReason.NAME_CONFLICT,
        DeviceReason.NO_DOMAINS,
    ],
)
def test_who_is_refused_at_its_start_is_deactivated_for_that_reason(reason: DeviceReason) -> None:
    assert Cause(reason).value == reason
