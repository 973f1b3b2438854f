"""The whole serving process, against the embedded API server."""

import asyncio
import base64
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest
import yaml
from aiohttp import ClientError, ClientSession, TCPConnector

from queueing.apiserver.server import EmbeddedServer, serve
from queueing.core.selectors import Requirement, Selector
from queueing.kube.client import Client
from queueing.kube.config import Cluster, KubeconfigSource
from queueing.kube.errors import NotFoundError
from queueing.kube.resources import MUTATING_WEBHOOKS, NAMESPACES, SECRETS
from queueing.serving import process
from queueing.serving.certificate_secret import Keeping
from queueing.serving.certificates import service_names
from queueing.serving.frames import Frame
from queueing.serving.process import Address, ServingOptions
from queueing.serving.publisher import Publisher
from queueing.testing.ports import free_ports
from queueing.webhooks.jobs import QUEUE

BOUND_S = 30.0
CRDS = Path(__file__).parents[2] / "config" / "crd"
NAMES = service_names("kueue-webhook-service", "kueue-system")
MANAGED = Selector(
    (Requirement(key="kubernetes.io/metadata.name", operator="NotIn", values=("kube-system",)),)
)
CONFIGURATION = MUTATING_WEBHOOKS.at("kueue-mutating-webhook-configuration")
SECRET = SECRETS.at("kueue-webhook-server-cert", "kueue-system")


@dataclass(frozen=True, slots=True)
class Served:
    api: EmbeddedServer
    client: Client
    folder: Path
    ports: dict[str, int]

    async def get(self, port: str, path: str, **headers: str) -> tuple[int, str]:
        trust = ssl.create_default_context()
        trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
        scheme = "http" if port == "probes" else "https"
        async with (
            ClientSession(connector=TCPConnector(ssl=trust)) as session,
            session.get(
                f"{scheme}://127.0.0.1:{self.ports[port]}{path}", headers=headers
            ) as answer,
        ):
            return answer.status, await answer.text()

    async def create(self, target: Any, body: Any) -> None:
        await self.client.create(target, body)


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(BOUND_S):
        while not await holds():
            await asyncio.sleep(0.02)


@pytest.fixture
async def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    monkeypatch.setattr("queueing.serving.certificate_secret.TURN_S", 0.05)
    async with serve() as api, Client(Cluster.plain(api.url)) as client:
        api.load(
            yaml.load(file.read_text(), Loader=yaml.CSafeLoader)
            for file in sorted(CRDS.glob("kueue*.yaml"))
        )
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}}
        await client.create(NAMESPACES.within(), body)
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(api.kubeconfig())
        names = ("webhooks", "probes", "metrics", "visibility")
        ports = dict(zip(names, free_ports(len(names)), strict=True))
        addresses = {name: Address("127.0.0.1", port) for name, port in ports.items()}
        options = ServingOptions(
            source=KubeconfigSource(kubeconfig=str(kubeconfig)),
            socket=tmp_path / "s",
            managed=MANAGED,
            keeping=Keeping(namespace="kueue-system", secret=SECRET.name, names=NAMES),
            webhooks=addresses["webhooks"],
            probes=addresses["probes"],
            metrics=addresses["metrics"],
            visibility=addresses["visibility"],
        )
        async with asyncio.TaskGroup() as group:
            running = group.create_task(process.serve(options, lambda body: body))
            found = Served(api, client, tmp_path, ports)

            async def alive() -> bool:
                with contextlib.suppress(ClientError):
                    return (await found.get("probes", "/healthz"))[0] == 200
                return False

            await until(alive)
            yield found
            running.cancel()


async def test_it_is_ready_once_the_controller_says_that_the_work_is_done(served: Served) -> None:
    async def ready() -> bool:
        return (await served.get("probes", "/readyz"))[0] == 200

    async def only_the_controller_is_missing() -> bool:
        return (await served.get("probes", "/readyz"))[1] == "not ready: controller\n"

    await until(only_the_controller_is_missing)
    async with asyncio.TaskGroup() as group:
        publisher = Publisher(served.folder / "s")
        speaking = group.create_task(publisher.run())
        # It competes, and nobody leads yet: Jobs are not judged, nor are the policies in force.
        publisher.publish(Frame(leading=False, ready=False))

        async def measure() -> NoReturn:
            while True:
                await publisher.asked_for_metrics.wait()
                publisher.asked_for_metrics.clear()
                publisher.publish(Frame(metrics="kueue_x 1\n"))

        measuring = group.create_task(measure())

        async def told() -> bool:
            answer = await served.get("metrics", "/metrics", Authorization="Bearer embedded")
            return answer == (200, "kueue_x 1\n")

        await until(told)
        assert await only_the_controller_is_missing()
        publisher.publish(Frame(leading=True, ready=True))
        await until(ready)
        assert (await served.get("metrics", "/metrics"))[0] == 403
        measuring.cancel()
        speaking.cancel()


async def test_a_secret_or_bundle_that_is_deleted_comes_back(served: Served) -> None:
    webhook = {
        "name": "mjob.kb.io",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {"service": {"name": "kueue-webhook-service", "namespace": "kueue-system"}},
    }
    body = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": CONFIGURATION.name},
        "webhooks": [webhook],
    }
    await served.create(MUTATING_WEBHOOKS.within(), body)

    async def bundle() -> bytes:
        import json  # noqa: PLC0415 - one word of JSON

        found = json.loads(await served.client.get(CONFIGURATION))
        return base64.b64decode(found["webhooks"][0]["clientConfig"].get("caBundle", ""))

    async def trusted() -> bool:
        return b"BEGIN CERTIFICATE" in await bundle()

    await until(trusted)
    first = await bundle()
    await served.client.delete(SECRET)

    async def renewed() -> bool:
        with contextlib.suppress(NotFoundError):
            await served.client.get(SECRET)
            return await bundle() != first
        return False

    await until(renewed)
    empty = {"webhooks": [webhook]}
    await served.client.patch_merge(CONFIGURATION, empty)
    await until(trusted)


async def test_a_job_review_knows_its_namespace(served: Served) -> None:
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE

    async def patched(namespace: str) -> bool:
        request = {
            "uid": "u",
            "kind": {"kind": "Job"},
            "operation": "CREATE",
            "namespace": namespace,
            "object": {"metadata": {"labels": {QUEUE: "door"}}, "spec": {}},
        }
        url = f"https://127.0.0.1:{served.ports['webhooks']}/mutate-batch-v1-job"
        async with (
            ClientSession(connector=TCPConnector(ssl=trust)) as session,
            session.post(url, json={"request": request}) as answer,
        ):
            return "patch" in (await answer.json())["response"]

    async def serving() -> bool:
        with contextlib.suppress(ClientError):
            return await patched("default")
        return False

    await until(serving)
    assert not await patched("kube-system")
