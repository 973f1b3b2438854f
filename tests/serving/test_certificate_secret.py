"""Whose certificate it is: ours to renew, or cert-manager's to leave alone."""

import base64
from collections.abc import AsyncIterator, Mapping

import msgspec
import pytest
from typing_extensions import override

from queueing.apiserver.server import serve
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.errors import ConflictError
from queueing.kube.request import PLAIN, Call
from queueing.kube.resources import MUTATING_WEBHOOKS, NAMESPACES, SECRETS, Target
from queueing.serving.certificate_secret import KEPT_BY_CERT_MANAGER, Keeping, Trust, current
from queueing.serving.certificates import make, service_names

NOW = 1_790_000_000.0
SHORT_BEFORE_THE_END = NOW + 364 * 24 * 3600.0
NAMES = service_names("kueue-webhook-service", "kueue-system")
KEEPING = Keeping(namespace="kueue-system", secret="cert", names=NAMES)
TARGET = SECRETS.at("cert", "kueue-system")
THEIRS = {KEPT_BY_CERT_MANAGER: "kueue-serving-cert"}
HOOKS = MUTATING_WEBHOOKS.at("kueue-mutating-webhook-configuration")


class Reading(Client):
    """A client that remembers which objects were read whole."""

    read: list[Target]

    @override
    async def get(self, target: Target, call: Call = PLAIN) -> bytes:
        self.read.append(target)
        return await super().get(target, call)


@pytest.fixture
async def client() -> AsyncIterator[Reading]:
    async with serve() as server, Reading(Cluster.plain(server.url)) as client:
        client.read = []
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


async def bundle(client: Client) -> bytes:
    found = msgspec.json.decode(await client.get(HOOKS))
    return base64.b64decode(found["webhooks"][0]["clientConfig"].get("caBundle", ""))


async def test_what_trusts_us_is_read_again_only_when_it_was_written(client: Reading) -> None:
    service = {"name": "kueue-webhook-service", "namespace": "kueue-system"}
    webhook = {
        "name": "mjob.kb.io",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {"service": service},
    }
    body = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": HOOKS.name},
        "webhooks": [webhook],
    }
    trust = Trust(client)
    await trust.spread(b"first")
    assert client.read == [], "what does not exist is not made"
    await client.create(MUTATING_WEBHOOKS.within(), body)
    await trust.spread(b"first")
    assert await bundle(client) == b"first"
    await trust.spread(b"first")
    client.read.clear()
    await trust.spread(b"first")
    assert client.read == []
    await client.patch_merge(HOOKS, {"webhooks": [webhook]})
    await trust.spread(b"first")
    assert await bundle(client) == b"first", "somebody took it away"
    await trust.spread(b"first")
    await trust.spread(b"second")
    assert await bundle(client) == b"second"
