"""An installation with a queue where one Job runs and some wait."""

from collections.abc import Iterator

import pytest

from e2e.api import holds
from e2e.controlplane.build import Binaries
from e2e.installed import API_SERVICE, Installation, installation
from e2e.loopback import control_plane
from e2e.nodes import POOL, make_nodes
from e2e.objects import Pods, flavor, job, local_queue
from e2e.serving import until
from e2e.tools.asking import (
    KUEUE,
    LONG_S,
    PAGE_URL,
    VERSIONS,
    WAITING,
    asked,
    pending,
    typed_cluster_queue,
)
from e2e.wire import ApiError, Object

UNAVAILABLE = 503


@pytest.fixture(scope="package")
def place(built: Binaries) -> Iterator[Installation]:
    """Lend an installation with a queue where one Job runs and some wait."""
    with control_plane(built) as cluster:
        make_nodes(cluster.api(), 2, labels=POOL)
        with installation(cluster, {"pageURL": PAGE_URL}) as made:
            made.api.create(flavor("any"))
            asked(made, "POST", f"{KUEUE}/v1beta1/clusterqueues", typed_cluster_queue("team"))
            made.api.create(local_queue("default", "door", "team"))
            made.api.create(job("default", "runs", queue="door", pods=Pods(cpu="3", run_s=LONG_S)))
            made.api.wait("Job", lambda found: any(runs(one) for one in found), namespace="default")
            for number in range(WAITING):
                made.api.create(
                    job(
                        "default", f"waits-{number}", queue="door", pods=Pods(cpu="4", run_s=LONG_S)
                    )
                )
            for version in VERSIONS:
                name = f"{version}.visibility.kueue.x-k8s.io"
                made.api.wait_one(API_SERVICE, name, lambda one: holds(one, "Available"))
            until(lambda: waiting(made) == WAITING, "all wait")
            yield made


def waiting(made: Installation) -> int:
    """Count who waits; nobody while the API server still looks for who serves that."""
    try:
        return len(pending(made, "clusterqueues/team"))
    except ApiError as error:
        if error.status != UNAVAILABLE:
            raise
        return 0


def runs(item: Object) -> bool:
    return not item["spec"].get("suspend")
