"""Pods whose claims the scheduler makes tell whose these are, where a topology places them."""

from typing import Any

import pytest

from queueing.devices.memory.claim_charges import Holdings
from queueing.devices.wire import objects as wire
from queueing.devices.wire.names import BY_SCHEDULER, WORKLOAD_UID
from queueing.devices.wire.realisation import NO_CHANGES, realise
from queueing.translate.inbound.manifests import read
from queueing.translate.wire.meta import Meta
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

PLACE: dict[str, Any] = {"topologyAssignment": {"levels": ["rack"], "slices": []}}


@pytest.mark.parametrize(
    ("served", "place", "marked"),
    [
        pytest.param(whole_gpu(strategy="Native"), PLACE, True, id="Native"),
        pytest.param(whole_gpu(strategy="Class"), PLACE, True, id="Class"),
        pytest.param(whole_gpu(strategy="Native"), {}, False, id="without a place"),
        pytest.param(whole_gpu(), PLACE, False, id="claims of ours, which are marked themselves"),
        pytest.param(
            {"name": "nvidia.com/gpu", "strategy": "Native"}, PLACE, False, id="a device plugin's"
        ),
    ],
)
def test_pods_are_marked_where_the_scheduler_makes_their_claims(
    served: dict[str, Any], place: dict[str, Any], *, marked: bool
) -> None:
    known = around([device_class(), device_flavor("h100", "h100", served)])
    admitted = workload(pod_template(gpus(1)), flavors={"nvidia.com/gpu": "h100"}, **place)
    changes = realise(admitted, OWNER, known).changes.get("main", NO_CHANGES)
    assert changes.labels.get(WORKLOAD_UID) == ("workload-uid" if marked else None)


def test_claims_of_the_scheduler_are_not_charged_as_users_own() -> None:
    known = Holdings()
    known.put_pod(Meta(name="p", uid="p", labels={WORKLOAD_UID: "w"}))
    owner = [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "p"}]
    for name, annotations in (("users", {}), ("extended", {BY_SCHEDULER: "true"})):
        metadata = {"name": name, "ownerReferences": owner, "annotations": annotations}
        known.put_claim(read(wire.ResourceClaim, {"metadata": metadata}))
    assert [one.claim.metadata.name for one in known.of_pods("w")] == ["users"]
