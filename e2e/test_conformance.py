"""The conformance suite on a real kube-apiserver: what holds here must hold on the embedded one."""

import ssl
from collections.abc import Iterator

import pytest

from e2e.cluster import Cluster
from e2e.identities import ADMIN
from tests.conformance.cases import kubectl
from tests.conformance.gather import MODULES, gathered
from tests.conformance.harness import Remote, Server, case, prepare, tidy

globals().update(gathered(*MODULES, kubectl))


@pytest.fixture(scope="module")
def remote(cluster: Cluster) -> Iterator[Remote]:
    access = cluster.accesses[ADMIN]
    trust = ssl.create_default_context(cadata=access.authority)
    words = (
        cluster.binaries.command("kubectl"),
        f"--kubeconfig={cluster.kubeconfig(ADMIN)}",
        f"--cache-dir={cluster.folder / 'kubectl-cache'}",
    )
    lent = Remote(access.server, token=access.token, trust=trust, kubectl=words)
    prepare(lent)
    yield lent
    tidy(lent)


@pytest.fixture
def server(remote: Remote) -> Iterator[Server]:
    with case(remote) as lent:
        yield lent
