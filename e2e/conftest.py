"""Fixtures of the end-to-end tests: one control plane for the session, one namespace per test."""

import os
import secrets
import signal
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import pytest

from e2e.attached import attached
from e2e.cluster import Cluster
from e2e.components import Options
from e2e.controlplane.build import Binaries, BuildError, binaries
from e2e.gate import Gate
from e2e.identities import CONTROLLER
from e2e.loopback import control_plane
from e2e.nodes import POOL, delete_nodes, make_nodes
from e2e.objects import local_queue
from e2e.product import Controller, Residents, install, start
from e2e.world import World, new_world

NODES = 20
Launch = Callable[..., Controller]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--emulated-version",
        default=os.environ.get("QUEUEING_E2E_EMULATED_VERSION", ""),
        help="behave as this minor version of Kubernetes, for example 1.34",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make SIGTERM an interruption, so that fixtures still end what they started."""

    def interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


def pytest_report_header() -> str:
    named = external_kubeconfig()
    return f"cluster: the one of {named}" if named else "cluster: a control plane of our own"


def external_kubeconfig() -> Path | None:
    """Return the kubeconfig of a cluster to use instead of starting one."""
    named = os.environ.get("KUBECONFIG_E2E") or os.environ.get("KUBECONFIG")
    return Path(named) if named else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the ends of the logs to what failed."""
    report = yield
    used = getattr(item, "funcargs", {}).values()
    clusters = {id(one): one for one in used if isinstance(one, Cluster)}
    if report.failed:
        report.sections.extend(("logs", one.log_tails()) for one in clusters.values())
    return report


@pytest.fixture(scope="session")
def built() -> Binaries:
    """Return the programs of the control plane, built when they are not."""
    try:
        return binaries()
    except BuildError as error:
        pytest.exit(str(error), returncode=1)


@pytest.fixture(scope="session")
def cluster(built: Binaries, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Lend the session's cluster: real API server, scheduler and controllers, simulated nodes."""
    named = external_kubeconfig()
    options = Options(emulated_version=request.config.getoption("--emulated-version"))
    with attached(built, named) if named else control_plane(built, options) as running:
        nodes = make_nodes(running.api(), NODES, group=f"e2e-{secrets.token_hex(3)}", labels=POOL)
        yield running
        delete_nodes(running.api(), nodes)


@pytest.fixture(scope="session")
def left(cluster: Cluster) -> Iterator[list[World]]:
    """Collect what the tests left, and see at the end of the session that it is gone."""
    worlds: list[World] = []
    yield worlds
    if external_kubeconfig():
        for one in worlds:
            one.sweep()


@pytest.fixture
def space(cluster: Cluster, left: list[World]) -> Iterator[World]:
    """Lend a namespace of the test's own; what the test makes is deleted afterwards."""
    cluster.forget_programs()
    made = new_world(cluster)
    yield made
    made.leave()
    left.append(made)


@pytest.fixture(scope="session")
def installed(cluster: Cluster) -> Cluster:
    """Lend the cluster with the product's CRDs and RBAC on it."""
    install(cluster)
    return cluster


def wait_collecting(cluster: Cluster) -> None:
    """Wait until the garbage collector knows our kinds."""
    made = local_queue("default", f"collected-{secrets.token_hex(3)}", "none")
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "none", "uid": str(uuid.uuid4())}
    made["metadata"]["ownerReferences"] = [owner]
    cluster.api().create(made)
    cluster.api().wait_gone("LocalQueue", made["metadata"]["name"], "default")


@pytest.fixture(scope="session")
def collected(installed: Cluster) -> Cluster:
    """Lend the cluster once its garbage collector knows our kinds; it looks for new ones at times.

    Before that it takes no Workload for a dependent of its Job, whatever the deletion says of them.
    """
    wait_collecting(installed)
    return installed


@pytest.fixture(scope="session")
def residents() -> Iterator[Residents]:
    """Keep the replicas that plain tests share."""
    kept = Residents()
    yield kept
    kept.leave_all()


@contextmanager
def launching(cluster: Cluster) -> Iterator[Launch]:
    """Start replicas on demand, and end all of them."""
    running: list[Controller] = []

    def launch(
        name: str,
        settings: Mapping[str, Any] | None = None,
        *,
        kubeconfig: Path | None = None,
        ours: Mapping[str, Any] | None = None,
        flags: Sequence[str] = (),
    ) -> Controller:
        own_name = f"{name}-{secrets.token_hex(2)}"
        started = start(cluster, own_name, settings, kubeconfig=kubeconfig, ours=ours, flags=flags)
        running.append(started)
        started.wait_ready()
        return started

    try:
        yield launch
    finally:
        for one in running:
            one.stop()


@pytest.fixture
def controllers(installed: Cluster, residents: Residents) -> Iterator[Launch]:
    """Lend a factory: `controllers("a", settings)` starts one more replica and waits for it.

    No other replica runs meanwhile.
    """
    residents.leave(installed)
    with launching(installed) as launch:
        yield launch


@pytest.fixture
def controller(installed: Cluster, residents: Residents) -> Controller:
    """Lend the one replica that runs; it is shared with other tests, so leave it running."""
    return residents.at(installed)


@pytest.fixture(scope="session")
def audited(cluster: Cluster, built: Binaries) -> Iterator[Cluster]:
    """Lend a cluster whose audit log we may read: the session's if it is ours, else another."""
    if cluster.audit_log is not None:
        yield cluster
        return
    with control_plane(built) as running:
        make_nodes(running.api(), NODES, labels=POOL)
        yield running


@pytest.fixture
def audited_space(audited: Cluster, left: list[World]) -> Iterator[World]:
    """Lend a namespace like `space`, where writes can be counted."""
    made = new_world(audited)
    yield made
    made.leave()


@pytest.fixture
def audited_controller(audited: Cluster, residents: Residents) -> Controller:
    """Lend the one replica that runs, where writes can be counted."""
    install(audited)
    return residents.at(audited)


@pytest.fixture
def gate(installed: Cluster, residents: Residents) -> Iterator[Gate]:
    """Lend a gate before the API server that stops the product between two writes."""
    residents.leave(installed)
    with Gate(installed, CONTROLLER) as made:
        yield made
