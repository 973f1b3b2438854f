"""A cluster that somebody else started: the same tests on it.

What the tests make is deleted; definitions, roles and the product's namespace stay.
"""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from e2e import components, identities
from e2e.cluster import Cluster
from e2e.controlplane.build import Binaries
from e2e.identities import CONTROLLER, CONTROLLER_ACCOUNT, CONTROLLER_NAMESPACE
from e2e.process import Reaper
from e2e.wire import Access

MARK = "queueing.test/e2e"
# A real cluster's node controller waits 40 s for a sign of life.
NODE_LEASE_S = 40
TOKEN_S = 3 * 3600


class ForeignClusterError(RuntimeError):
    """The cluster is in use by a Kueue, or a queueing, that these tests would disturb."""


@contextmanager
def attached(binaries: Binaries, kubeconfig: Path) -> Iterator[Cluster]:
    """Use a running cluster as its administrator; bring simulated nodes' pods along.

    Raises ForeignClusterError when the namespace of a production installation is already there.
    """
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="queueing-e2e-", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(temporary))
        reaper = stack.enter_context(Reaper())
        reaper.folder(folder)
        cluster = Cluster(folder=folder, binaries=binaries, reaper=reaper, accesses={})
        cluster.grant(identities.ADMIN, Access.from_kubeconfig(kubeconfig))
        stack.callback(cluster.stop)
        _refuse_foreign(cluster)
        cluster.ensure_controller_account(labels={MARK: "true"})
        cluster.grant(CONTROLLER, _controller_access(cluster))
        flags = components.kwok(cluster.kubeconfig(), lease_s=NODE_LEASE_S)
        cluster.run_component("kwok", flags)
        yield cluster


def _refuse_foreign(cluster: Cluster) -> None:
    found = cluster.api().find("Namespace", CONTROLLER_NAMESPACE)
    if found and found["metadata"].get("labels", {}).get(MARK) != "true":
        raise ForeignClusterError(
            f"{cluster.api().access.server} has a namespace {CONTROLLER_NAMESPACE} that these "
            f"tests did not make: they would replace its CRDs and take over its queues. Use a "
            f"cluster of their own, or label the namespace {MARK}=true when it is meant for them."
        )


def _controller_access(cluster: Cluster) -> Access:
    admin = cluster.api()
    answer = admin.wire.call(
        "POST",
        f"/api/v1/namespaces/{CONTROLLER_NAMESPACE}/serviceaccounts/{CONTROLLER_ACCOUNT}/token",
        body={
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": TOKEN_S},
        },
    )
    return Access(
        server=admin.access.server,
        authority=admin.access.authority,
        token=answer["status"]["token"],
    )
