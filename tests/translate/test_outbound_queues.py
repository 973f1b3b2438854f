from typing import Any

import msgspec

from queueing.core.names import CohortName, FlavorName, FlavorResource, ResourceName
from queueing.reports.views import Charged, CohortView, QueueView, UsageHistory
from queueing.state.memory.objects import Active
from queueing.translate.inbound import queues as inbound
from queueing.translate.inbound.manifests import read
from queueing.translate.outbound.queues import (
    cluster_queue_status,
    cohort_status,
    local_queue_status,
)
from queueing.translate.wire import queues as wire

NOW = 1_767_225_600.0
CPU = FlavorResource(FlavorName("f"), ResourceName("cpu"))
READY = Active(status=True, reason="Ready", message="Can admit new workloads")
SPEC = {
    "resourceGroups": [
        {
            "coveredResources": ["cpu", "memory"],
            "flavors": [
                {
                    "name": "f",
                    "resources": [
                        {"name": "cpu", "nominalQuota": 1},
                        {"name": "memory", "nominalQuota": "1Gi"},
                    ],
                }
            ],
        }
    ]
}


def view(**more: Any) -> QueueView:
    usual: dict[str, Any] = {
        "name": "q",
        "pending_active": 1,
        "pending_inadmissible": 2,
        "reserving": 1,
        "admitted": 1,
        "reservation": {CPU: Charged(total=1500, borrowed=500)},
        "usage": {CPU: Charged(total=1500, borrowed=500)},
        "active": READY,
        "weighted_share": 7,
    }
    return QueueView(**{**usual, **more})


def cluster_queue(status: dict[str, Any] | None = None) -> wire.ClusterQueue:
    document = {"metadata": {"name": "q"}, "spec": SPEC, "status": status or {}}
    return read(wire.ClusterQueue, document)


def written(body: bytes | None) -> dict[str, Any]:
    assert body is not None
    return dict(msgspec.json.decode(body)["status"])


def test_a_queue_shows_all_its_flavors_also_those_that_nobody_uses() -> None:
    got = written(cluster_queue_status(cluster_queue(), view(), NOW, with_share=False))
    assert got["flavorsUsage"] == [
        {
            "name": "f",
            "resources": [
                {"name": "cpu", "total": "1500m", "borrowed": "500m"},
                {"name": "memory", "total": "0", "borrowed": "0"},
            ],
        }
    ]
    assert (got["pendingWorkloads"], got["reservingWorkloads"]) == (3, 1)
    assert got["conditions"][0]["reason"] == "Ready"
    assert "fairSharing" not in got


def test_a_status_that_says_so_already_is_not_written_again() -> None:
    first = written(cluster_queue_status(cluster_queue(), view(), NOW, with_share=True))
    assert first["fairSharing"] == {"weightedShare": 7}
    found = cluster_queue(first)
    assert cluster_queue_status(found, view(), NOW + 60, with_share=True) is None
    assert cluster_queue_status(found, view(admitted=0), NOW, with_share=True) is not None


def test_a_queue_that_stops_says_when() -> None:
    first = written(cluster_queue_status(cluster_queue(), view(), NOW, with_share=False))
    stopped = Active(status=False, reason="Stopped", message="is stopped")
    later = view(active=stopped)
    body = cluster_queue_status(cluster_queue(first), later, NOW + 60, with_share=False)
    assert written(body)["conditions"][0]["lastTransitionTime"] == "2026-01-01T00:01:00Z"


def test_a_local_queue_does_not_borrow() -> None:
    found = read(wire.LocalQueue, {"metadata": {"name": "lq", "namespace": "ns"}})
    got = written(local_queue_status(found, view(), NOW))
    assert got["flavorsReservation"] == [
        {"name": "f", "resources": [{"name": "cpu", "total": "1500m"}]}
    ]
    known = read(wire.LocalQueue, {"metadata": {"name": "lq", "namespace": "ns"}, "status": got})
    assert local_queue_status(known, view(), NOW) is None


def test_a_cohort_shows_its_share() -> None:
    share = CohortView(name=CohortName("c"), quota={}, usage={}, weighted_share=3)
    found = read(wire.Cohort, {"metadata": {"name": "c"}})
    assert written(cohort_status(found, share)) == {"fairSharing": {"weightedShare": 3}}
    known = read(
        wire.Cohort,
        {"metadata": {"name": "c"}, "status": {"fairSharing": {"weightedShare": 3}}},
    )
    assert cohort_status(known, share) is None


def history(cores: float, **more: float) -> UsageHistory:
    amounts = {"cpu": cores, **more}
    return UsageHistory(
        consumed={ResourceName(name): one for name, one in amounts.items()}, updated=NOW + 0.7
    )


def local_queue(status: dict[str, Any] | None = None) -> wire.LocalQueue:
    meta = {"name": "q", "namespace": "team"}
    document = {"metadata": meta, "spec": {"clusterQueue": "q"}, "status": status or {}}
    return read(wire.LocalQueue, document)


def test_a_usage_history_is_written_once_and_read_back_as_it_was() -> None:
    seen = view(history=history(1.25, memory=5_368_709_120.4, gpu=0.0501))
    status = written(local_queue_status(local_queue(), seen, NOW))
    assert status["fairSharing"] == {
        "weightedShare": 0,
        "admissionFairSharingStatus": {
            "consumedResources": {"cpu": "1250m", "gpu": "50m", "memory": "5368709120"},
            "lastUpdate": "2026-01-01T00:00:00Z",
        },
    }
    again = local_queue(status)
    assert local_queue_status(again, seen, NOW) is None
    fact = inbound.local_queue(again)
    assert dict(fact.consumed) == {"cpu": 1.25, "gpu": 0.05, "memory": 5_368_709_120.0}
    assert fact.sampled_at == NOW


def test_a_resource_that_left_the_history_is_taken_away() -> None:
    before = written(local_queue_status(local_queue(), view(history=history(1.0, gpu=2.0)), NOW))
    status = written(local_queue_status(local_queue(before), view(history=history(1.0)), NOW))
    shown = status["fairSharing"]["admissionFairSharingStatus"]["consumedResources"]
    assert shown == {"cpu": "1", "gpu": None}


def test_a_local_queue_without_turns_shows_no_history() -> None:
    status = written(local_queue_status(local_queue(), view(), NOW))
    assert "fairSharing" not in status


def test_a_stored_history_that_is_no_quantity_is_left_out() -> None:
    stored = {"consumedResources": {"cpu": "1", "gpu": "much"}}
    share = {"weightedShare": 0, "admissionFairSharingStatus": stored}
    assert inbound.local_queue(local_queue({"fairSharing": share})).consumed == (("cpu", 1.0),)
