"""Replicas that compete for the Lease: who leads, and in which term."""

from collections.abc import Sequence

from e2e.cluster import Cluster
from e2e.identities import CONTROLLER_NAMESPACE
from e2e.product import LEASE, Controller
from e2e.wire import Object

LEASE_S = 4
SHORT_LEASE = {
    "leaderElection": {
        "leaderElect": True,
        "resourceName": LEASE,
        "leaseDuration": f"{LEASE_S}s",
        "renewDeadline": "3s",
        "retryPeriod": "500ms",
    }
}
"""A configuration for tests that see many takeovers."""


def lease(cluster: Cluster) -> Object:
    found = cluster.api().find("Lease", LEASE, CONTROLLER_NAMESPACE) or {}
    return dict(found.get("spec", {}))


def wait_leader(cluster: Cluster, among: Sequence[Controller], *, after: int = -1) -> Controller:
    """Wait until one of these leads in a term later than `after`."""

    def led(item: Object) -> Controller | None:
        epoch = item["spec"].get("leaseTransitions", 0)
        if epoch <= after or not item["spec"].get("holderIdentity"):
            return None
        said = f"leading, epoch {epoch}"
        logs = [(one, one.process.program.log) for one in among]
        return next((one for one, log in logs if said in log.read_text(errors="replace")), None)

    item = cluster.api().wait_one(
        "Lease",
        LEASE,
        lambda one: led(one) is not None,
        namespace=CONTROLLER_NAMESPACE,
        what=f"one of {[one.process.name for one in among]} leading after epoch {after}",
    )
    found = led(item)
    assert found is not None
    return found


def epoch_of(cluster: Cluster) -> int:
    return int(lease(cluster).get("leaseTransitions", 0))
