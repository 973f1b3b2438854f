"""Webhooks that are away, or that nobody believes, and a certificate that keeps itself."""

import base64
import secrets
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme
import yaml

from e2e.api import Api
from e2e.cluster import Cluster
from e2e.components import HOST
from e2e.controlplane.build import Binaries
from e2e.identities import CONTROLLER_NAMESPACE
from e2e.loopback import control_plane
from e2e.objects import cluster_queue, flavor, job
from e2e.product import install
from e2e.serving import Serving, serving, until
from e2e.wire import ApiError, Object
from queueing.core.selectors import Requirement, Selector
from queueing.testing.ports import free_ports
from queueing.webhooks import configurations
from queueing.webhooks.scope import Scope

REGISTRATION = "admissionregistration.k8s.io/v1"
SECRET = "kueue-webhook-server-cert"
UNMANAGED = "unmanaged"
# As for a server without mutating policies: then webhooks are asked about Jobs the most.
SCOPE = Scope(
    namespaces=Selector(
        (
            Requirement(
                key="kubernetes.io/metadata.name",
                operator="NotIn",
                values=("kube-system", CONTROLLER_NAMESPACE, UNMANAGED),
            ),
        )
    ),
    minor=34,
)
CALLED_IN_VAIN = "failed calling webhook"


@dataclass(frozen=True, slots=True)
class Place:
    """A control plane with the webhooks of an installation, and the process behind them."""

    cluster: Cluster
    serving: Serving

    @property
    def api(self) -> Api:
        return self.cluster.api()

    def create_job(self, namespace: str, queue: str) -> None:
        """Create a Job under a name of its own."""
        self.api.create(job(namespace, f"job-{secrets.token_hex(4)}", queue=queue))

    def refusal(self, namespace: str, queue: str) -> str:
        """Say why a Job is refused, if it is."""
        try:
            self.create_job(namespace, queue)
        except ApiError as error:
            return error.message
        return ""


@pytest.fixture(scope="module")
def place(built: Binaries) -> Iterator[Place]:
    with control_plane(built) as cluster:
        install(cluster)
        metadata = {"name": UNMANAGED}
        cluster.api().create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        with serving(cluster) as served:
            yield Place(cluster, served)


@pytest.fixture
def away(place: Place) -> Iterator[Place]:
    """Lend the place with its webhooks registered at a port where nobody listens."""
    (nobody,) = free_ports(1)
    yield from registered(place, lambda hook: {"url": f"https://{HOST}:{nobody}{path_of(hook)}"})


@pytest.fixture
def misbelieved(place: Place) -> Iterator[Place]:
    """Lend the place with its webhooks registered under the CA of somebody else."""
    bundle = base64.b64encode(trustme.CA().cert_pem.bytes()).decode()
    url = f"https://{HOST}:{place.serving.webhooks}"
    yield from registered(place, lambda hook: {"url": f"{url}{path_of(hook)}", "caBundle": bundle})


@pytest.fixture
def installed_and_away(place: Place) -> Iterator[Place]:
    """Lend the place with the webhooks of an installation, and nobody behind them."""
    (nobody,) = free_ports(1)
    yield from registered(
        place, lambda hook: {"url": f"https://{HOST}:{nobody}{path_of(hook)}"}, Scope()
    )


def registered(
    place: Place, client: Callable[[Object], Object], scope: Scope = SCOPE
) -> Iterator[Place]:
    made = [
        {**one, "webhooks": [{**hook, "clientConfig": client(hook)} for hook in one["webhooks"]]}
        for one in configurations.render(scope)
    ]
    for configuration in made:
        place.api.apply(configuration)
    yield place
    for configuration in made:
        kind = f"{REGISTRATION}/{configuration['kind']}"
        place.api.delete(kind, configuration["metadata"]["name"])
    until(lambda: not place.refusal("default", "door"), "no webhooks any more")


def path_of(webhook: Object) -> str:
    path: str = webhook["clientConfig"]["service"]["path"]
    return path


def assert_only_queued_jobs_are_refused(place: Place) -> None:
    assert place.refusal("default", queue="") == ""
    assert place.refusal(UNMANAGED, queue="door") == ""
    assert place.refusal(UNMANAGED, queue="") == ""
    assert CALLED_IN_VAIN in place.refusal("default", queue="door")


def test_webhooks_that_are_away_stop_only_queued_jobs_of_managed_namespaces(away: Place) -> None:
    until(lambda: CALLED_IN_VAIN in away.refusal("default", "door"), "webhooks are asked")
    assert_only_queued_jobs_are_refused(away)


def test_installed_webhooks_that_are_away_stop_nobody(installed_and_away: Place) -> None:
    api, name = installed_and_away.api, f"any-{secrets.token_hex(4)}"
    flavors = f"{REGISTRATION}/MutatingWebhookConfiguration"
    registered_now = api.get(flavors, "kueue-mutating-webhook-configuration")["webhooks"]
    assert {one["failurePolicy"] for one in registered_now} == {"Ignore"}
    api.create(flavor(name))
    api.create(cluster_queue(name, {name: {"cpu": "1"}}))
    assert installed_and_away.refusal("default", queue="door") == ""


def test_a_certificate_of_another_authority_is_not_believed_and_harms_no_other_job(
    misbelieved: Place,
) -> None:
    until(lambda: CALLED_IN_VAIN in misbelieved.refusal("default", "door"), "webhooks are asked")
    assert "certificate signed by unknown authority" in misbelieved.refusal("default", "door")
    assert_only_queued_jobs_are_refused(misbelieved)
    for configuration in configurations.render(SCOPE):
        misbelieved.api.apply(misbelieved.serving.called_by_url(configuration))
    until(lambda: not misbelieved.refusal("default", "door"), "the right authority is believed")
    queued = misbelieved.api.items("Job", "default", labels="kueue.x-k8s.io/queue-name=door")
    assert all(one["spec"]["suspend"] for one in queued)


def test_a_wrong_bundle_and_a_lost_secret_mend_themselves(place: Place) -> None:
    api = place.api
    wrong = base64.b64encode(trustme.CA().cert_pem.bytes()).decode()
    (configuration,) = configurations.render(Scope())[1:]
    for hook in configuration["webhooks"]:
        hook["clientConfig"]["caBundle"] = wrong
    kind, name = f"{REGISTRATION}/{configuration['kind']}", configuration["metadata"]["name"]
    api.apply(configuration)

    def bundles() -> set[str]:
        found = api.get(kind, name)["webhooks"]
        return {one["clientConfig"].get("caBundle", "") for one in found}

    def authority() -> str:
        found = api.find("Secret", SECRET, CONTROLLER_NAMESPACE)
        return str(found["data"]["ca.crt"]) if found else ""

    def mended() -> bool:
        return bool(authority()) and bundles() == {authority()}

    try:
        with serving(place.cluster, {"internalCertManagement": {"enable": True}}):
            until(mended, "the bundle is that of the Secret")
            first = authority()
            api.delete("Secret", SECRET, CONTROLLER_NAMESPACE)
            until(lambda: mended() and authority() != first, "a new Secret, and its bundle")
    finally:
        api.delete(kind, name)


class CertManager:
    """Issues as cert-manager does: a Secret with its marks, a volume as the kubelet fills it."""

    def __init__(self) -> None:
        self.issued = 0
        self.renew()

    def renew(self) -> None:
        """Issue anew, by another authority."""
        authority = trustme.CA()
        leaf = authority.issue_cert(HOST, "kueue-webhook-service.kueue-system.svc")
        self.issued += 1
        self.files = {
            "ca.crt": authority.cert_pem.bytes(),
            "tls.crt": b"".join(one.bytes() for one in leaf.cert_chain_pems),
            "tls.key": leaf.private_key_pem.bytes(),
        }

    @property
    def secret(self) -> Object:
        marks = {
            "cert-manager.io/certificate-name": "kueue-serving-cert",
            "cert-manager.io/issuer-kind": "Issuer",
            "cert-manager.io/issuer-name": "kueue-selfsigned-issuer",
        }
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "kubernetes.io/tls",
            "metadata": {
                "name": SECRET,
                "namespace": CONTROLLER_NAMESPACE,
                "annotations": marks,
                "labels": {"controller.cert-manager.io/fao": "true"},
            },
            "data": {name: base64.b64encode(text).decode() for name, text in self.files.items()},
        }

    def fill(self, volume: Path) -> None:
        """Exchange all files at once: they are links into a folder that a link is moved to."""
        folder = volume / f"..{self.issued}"
        folder.mkdir(parents=True)
        for name, text in self.files.items():
            (folder / name).write_bytes(text)
            if not (volume / name).is_symlink():
                (volume / name).symlink_to(Path("..data") / name)
        (volume / "..data_tmp").symlink_to(folder.name)
        (volume / "..data_tmp").rename(volume / "..data")


def shown(port: int) -> bytes:
    """Return the certificate that a port shows."""
    return ssl.get_server_certificate((HOST, port)).encode()


@pytest.mark.parametrize("way", ["volume", "secret"])
def test_what_cert_manager_issues_and_renews_is_served_and_believed(
    place: Place, tmp_path: Path, way: str
) -> None:
    api, issuer = place.api, CertManager()
    (configuration,) = configurations.render(Scope())[1:]
    kind, name = f"{REGISTRATION}/{configuration['kind']}", configuration["metadata"]["name"]

    def hand_out() -> None:
        if way == "volume":
            issuer.fill(tmp_path)
        else:
            api.apply(issuer.secret)

    def in_use(port: int) -> bool:
        bundles = {one["clientConfig"].get("caBundle") for one in api.get(kind, name)["webhooks"]}
        wanted = base64.b64encode(issuer.files["ca.crt"]).decode()
        try:
            certificate = shown(port).strip()
        except ssl.SSLError:  # it listens, and has no certificate to show yet
            return False
        return bundles == {wanted} and issuer.files["tls.crt"].startswith(certificate)

    hand_out()
    api.apply(configuration)
    settings: Object = {"internalCertManagement": {"enable": way == "secret"}}
    (port,) = free_ports(1)
    settings["webhook"] = {"host": HOST, "port": port, "certDir": str(tmp_path)}
    try:
        with serving(place.cluster, settings, port=port):
            until(lambda: in_use(port), "what was issued first")
            issuer.renew()
            hand_out()
            until(lambda: in_use(port), "what was issued next")
            if way == "secret":
                found = api.get("Secret", SECRET, CONTROLLER_NAMESPACE)
                assert found["data"] == issuer.secret["data"]
    finally:
        api.delete(kind, name)
        if way == "secret":
            api.delete("Secret", SECRET, CONTROLLER_NAMESPACE)


@pytest.mark.parametrize(
    ("version", "kind", "says"),
    [
        pytest.param("v1alpha1", "Configuration", "v1alpha1 is not read here", id="too old"),
        pytest.param("v1", "Configuration", "v1 is not read here", id="of the future"),
        pytest.param("v1beta2", "ClusterQueue", "must hold one Configuration", id="another kind"),
    ],
)
def test_a_configuration_that_cannot_be_read_ends_the_start(
    place: Place, tmp_path: Path, version: str, kind: str, says: str
) -> None:
    path = tmp_path / "config.yaml"
    body = {"apiVersion": f"config.kueue.x-k8s.io/{version}", "kind": kind}
    path.write_text(yaml.safe_dump(body))
    command = [*place.serving.process.program.command[:1], "run", f"--config={path}"]
    process = place.cluster.run(f"bad-{version}-{kind.lower()}", command)
    assert process.wait_for_exit(60) == 2
    assert says in process.tail()
    assert f"{path}:" in process.tail()
