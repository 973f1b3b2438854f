"""Devices in flavor assignment: who may use a flavor, and what it charges."""

from dataclasses import replace

import pytest

from queueing.core.decisions import Admit, Wait
from queueing.core.devices import DeviceAsk, DeviceOffer
from queueing.core.facts import FlavorFact, WorkloadFact
from queueing.core.names import FlavorName, ResourceName
from queueing.testing.arena import Arena
from queueing.testing.builders import cluster_queue, pod_set, workload

MEMORY = "gpu-memory"
QUOTAS = {"small": {MEMORY: 100}, "large": {MEMORY: 1000}}


def flavor(name: str, **offers: DeviceOffer) -> FlavorFact:
    return FlavorFact(name=FlavorName(name), devices=offers)


def asking(count: int = 2, units: int = 1, *, needs_offer: bool = True) -> WorkloadFact:
    ask = DeviceAsk(
        resource=ResourceName(MEMORY), shape="one", units=units, needs_offer=needs_offer
    )
    asked = replace(pod_set(count=count, requests={MEMORY: units}), devices=(ask,))
    return workload("ns/asking", pod_sets=(asked,))


def decided(*flavors: FlavorFact, fact: WorkloadFact) -> Admit | Wait:
    arena = Arena(cluster_queue(quotas=QUOTAS), *flavors)
    (judgement,) = arena.round(fact)
    decision = judgement.decision
    assert isinstance(decision, Admit | Wait)
    return decision


@pytest.mark.parametrize(
    ("small", "large", "chosen", "usage"),
    [
        pytest.param(DeviceOffer(amount=40), DeviceOffer(amount=80), "small", 80, id="the first"),
        pytest.param(DeviceOffer(amount=51), DeviceOffer(amount=80), "large", 160, id="too dear"),
        pytest.param(
            DeviceOffer(amount=40, problem="no"),
            DeviceOffer(amount=80),
            "large",
            160,
            id="a problem",
        ),
        pytest.param(
            DeviceOffer(amount=40, pods_max=1), DeviceOffer(amount=80), "large", 160, id="too few"
        ),
        pytest.param(None, DeviceOffer(amount=80), "large", 160, id="no offer"),
        pytest.param(
            DeviceOffer(amount=90, together=True), DeviceOffer(amount=80), "small", 90, id="shared"
        ),
    ],
)
def test_a_flavor_charges_what_its_devices_count_as(
    small: DeviceOffer | None, large: DeviceOffer, chosen: str, usage: int
) -> None:
    flavors = (flavor("small", **({"one": small} if small else {})), flavor("large", one=large))
    decision = decided(*flavors, fact=asking())
    assert isinstance(decision, Admit)
    (assigned,) = decision.pod_sets
    assert assigned.flavors == {MEMORY: chosen}
    assert assigned.usage == {MEMORY: usage}


def test_without_an_offer_a_count_is_charged_as_it_is() -> None:
    decision = decided(flavor("small"), flavor("large"), fact=asking(needs_offer=False))
    assert isinstance(decision, Admit)
    assert decision.pod_sets[0].usage == {MEMORY: 2}


def test_who_finds_no_devices_reads_why_for_each_flavor() -> None:
    decision = decided(
        flavor("small", one=DeviceOffer(pods_max=1)),
        flavor("large", one=DeviceOffer(problem="flavor large: 4 of 8 devices match")),
        fact=asking(),
    )
    assert isinstance(decision, Wait)
    assert decision.reason == "NoMatchingFlavor"
    assert "flavor large: 4 of 8 devices match" in decision.message
    assert "flavor small: its devices serve 1 of 2 pods" in decision.message


def test_pods_that_are_too_many_for_one_claim_read_its_limit() -> None:
    offer = DeviceOffer(amount=1, pods_max=256, together=True)
    decision = decided(flavor("small", one=offer), flavor("large"), fact=asking(257))
    assert isinstance(decision, Wait)
    told = "flavor small: UnsupportedDeviceRequest: 257 pods: one claim can be used by 256"
    assert told in decision.message
