"""When the pods of a Workload got their nodes, as far as it can be read."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from queueing.apiserver.server import Fault, serve
from queueing.apiserver.wire.call import HttpRequest
from queueing.controller.job_pods import placed_pods
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.resources import PODS
from queueing.observe.spans import Placed
from queueing.translate.wire.workloads import Workload

SCHEDULED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TEAM = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "train-0",
        "namespace": "team",
        "labels": {"kueue.x-k8s.io/podset": "main"},
        "annotations": {"kueue.x-k8s.io/workload": "train"},
    },
    "spec": {
        "containers": [{"name": "c", "image": "i"}],
        "resourceClaims": [{"name": "gpus", "resourceClaimName": "shared"}],
    },
    "status": {
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "True",
                "lastTransitionTime": SCHEDULED.isoformat().replace("+00:00", "Z"),
            }
        ]
    },
}
TRAIN = msgspec.convert(
    {"metadata": {"name": "train", "namespace": "team"}, "spec": {"podSets": [{"name": "main"}]}},
    Workload,
)


async def without_claims(call: HttpRequest) -> Fault | None:
    """Refuse to list claims."""
    return Fault(status=403, reason="Forbidden") if "/resourceclaims" in call.path else None


async def test_pods_whose_claims_cannot_be_read_are_told_without_them() -> None:
    async with serve(intercept=without_claims) as server:
        server.load([TEAM, POD])
        async with Client(Cluster.plain(server.url)) as client:
            status = {"status": POD["status"]}
            await client.patch_merge(PODS.at("train-0", "team", "status"), status)
            assert await placed_pods(client, TRAIN) == Placed(scheduled=SCHEDULED.timestamp())
