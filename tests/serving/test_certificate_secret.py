"""Whose certificate it is: ours to renew, or cert-manager's to leave alone."""

import base64
from collections.abc import AsyncIterator, Mapping

import msgspec
import pytest

from queueing.apiserver.server import serve
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.errors import ConflictError
from queueing.kube.resources import NAMESPACES, SECRETS
from queueing.serving.certificate_secret import KEPT_BY_CERT_MANAGER, Keeping, current
from queueing.serving.certificates import make, service_names

NOW = 1_790_000_000.0
SHORT_BEFORE_THE_END = NOW + 364 * 24 * 3600.0
NAMES = service_names("kueue-webhook-service", "kueue-system")
KEEPING = Keeping(namespace="kueue-system", secret="cert", names=NAMES)
TARGET = SECRETS.at("cert", "kueue-system")
THEIRS = {KEPT_BY_CERT_MANAGER: "kueue-serving-cert"}


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with serve() as server, Client(Cluster.plain(server.url)) as client:
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}}
        await client.create(NAMESPACES.within(), space)
        yield client


async def store(client: Client, data: Mapping[str, bytes], annotations: dict[str, str]) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "cert", "namespace": "kueue-system", "annotations": annotations},
        "type": "kubernetes.io/tls",
        "data": {name: base64.b64encode(text).decode() for name, text in data.items()},
    }
    await client.create(SECRETS.within("kueue-system"), body)


@pytest.mark.parametrize(
    ("annotations", "kept"),
    [pytest.param({}, False, id="ours"), pytest.param(THEIRS, True, id="cert-manager's")],
)
async def test_a_certificate_near_its_end_is_renewed_by_whom_it_belongs_to(
    client: Client, annotations: dict[str, str], kept: bool
) -> None:
    made = make(NAMES, NOW)
    data = {"ca.crt": made.ca, "tls.crt": made.certificate, "tls.key": made.key}
    await store(client, data, annotations)
    held = await current(client, KEEPING, SHORT_BEFORE_THE_END)
    assert (held == made) is kept
    stored = msgspec.json.decode(await client.get(TARGET))["data"]
    assert base64.b64decode(stored["tls.crt"]) == held.certificate


async def test_a_secret_of_cert_manager_is_waited_for(client: Client) -> None:
    await store(client, {"tls.key": b"", "tls.crt": b""}, THEIRS)
    with pytest.raises(ConflictError, match="holds no certificate yet"):
        await current(client, KEEPING, NOW)
