"""A Configuration as a Go program encodes it, with zeros for all that was never set."""

import ssl
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from e2e.cluster import Cluster
from e2e.components import HOST
from e2e.conftest import launching
from e2e.identities import ADMIN, CONTROLLER_NAMESPACE
from e2e.jobs import running, wait_job
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import LEASE, Residents
from e2e.serving import until
from e2e.wire import Object
from e2e.world import World
from queueing.testing.ports import free_ports

FOREVER = Pods(run_s=None)
LABEL = {"measured": "yes"}
ZEROS: Object = {
    "namespace": "",
    "leaderElection": {
        "leaderElect": True,
        "leaseDuration": "0s",
        "renewDeadline": "0s",
        "retryPeriod": "0s",
        "resourceLock": "",
        "resourceName": "",
        "resourceNamespace": "",
    },
    "controller": {"groupKindConcurrency": {"Job.batch": 0}},
    "clientConnection": {},
    "integrations": {},
    "internalCertManagement": {},
    "multiKueue": {"origin": "", "dispatcherName": ""},
    "waitForPodsReady": {"timeout": "0s"},
}


@dataclass(frozen=True, slots=True)
class Measured:
    """A running replica, and where it is scraped."""

    cluster: Cluster
    port: int

    def scraped(self, highest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> str:
        """Return all metrics. The certificate is not for loopback."""
        trust = ssl.create_default_context()
        trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
        trust.maximum_version = highest
        headers = {"Authorization": f"Bearer {self.cluster.accesses[ADMIN].token}"}
        request = urllib.request.Request(f"https://{HOST}:{self.port}/metrics", headers=headers)
        with urllib.request.urlopen(request, timeout=30, context=trust) as answer:
            return str(answer.read().decode())


@pytest.fixture(scope="module")
def measured(installed: Cluster, residents: Residents) -> Iterator[Measured]:
    """Run one replica whose Configuration is full of zeros, and that measures few LocalQueues."""
    residents.leave(installed)
    (port,) = free_ports(1)
    settings = {
        **ZEROS,
        "metrics": {
            "bindAddress": f"{HOST}:{port}",
            "localQueueMetrics": {"localQueueSelector": {"matchLabels": LABEL}},
        },
        "tls": {"minVersion": "VersionTLS13"},
    }
    with launching(installed) as launch:
        launch("zeros", settings)
        yield Measured(installed, port)


def queue_of(space: World, name: str, labels: dict[str, str]) -> Object:
    made = local_queue(space.namespace, name, space.name("all"))
    made["metadata"]["labels"] = labels
    return made


@pytest.fixture
def queues(space: World, measured: Measured) -> World:
    """Lend a namespace with two LocalQueues, of which one is measured, and a Job in each."""
    assert measured.port
    quota = {space.name("any"): {"cpu": "4"}}
    space.make(flavor(space.name("any")), cluster_queue(space.name("all"), quota))
    for name, labels in (("in", LABEL), ("out", {})):
        space.make(queue_of(space, name, labels))
        space.make(job(space.namespace, name, queue=name, pods=FOREVER))
        wait_job(space, name, running, "running")
    return space


def test_the_lease_has_kueues_name_and_duration(measured: Measured) -> None:
    lease = measured.cluster.api().get("Lease", LEASE, CONTROLLER_NAMESPACE)
    assert lease["spec"]["leaseDurationSeconds"] == 15
    assert lease["spec"]["holderIdentity"]


def test_only_chosen_local_queues_have_series(queues: World, measured: Measured) -> None:
    def series(name: str) -> set[str]:
        mine = (f'name="{name}"', f'namespace="{queues.namespace}"')
        lines = measured.scraped().splitlines()
        return {one.partition("{")[0] for one in lines if all(label in one for label in mine)}

    wanted = {"kueue_local_queue_status", "kueue_local_queue_admitted_workloads_total"}
    until(lambda: wanted <= series("in"), "the chosen queue is measured")
    assert series("out") == set()
    queues.api.patch("LocalQueue", "out", chosen(LABEL), namespace=queues.namespace)
    until(lambda: "kueue_local_queue_status" in series("out"), "it is measured once it is chosen")
    taken = chosen({"measured": None})
    queues.api.patch("LocalQueue", "in", taken, namespace=queues.namespace)
    until(lambda: series("in") == set(), "series go with the label")


def chosen(labels: Mapping[str, str | None]) -> Object:
    return {"metadata": {"labels": labels}}


def test_an_older_version_of_tls_than_the_lowest_is_refused(measured: Measured) -> None:
    with pytest.raises(OSError, match=r"(?i)alert|version|protocol"):
        measured.scraped(ssl.TLSVersion.TLSv1_2)
    assert "kueue_build_info" in measured.scraped()
