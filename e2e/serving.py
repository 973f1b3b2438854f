"""The serving process of the product by itself, called by URL as no Service leads to it here."""

import base64
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trustme
import yaml

from e2e import identities
from e2e.api import WaitTimeoutError
from e2e.cluster import Cluster
from e2e.components import HOST
from e2e.loopback import listens
from e2e.process import Process
from e2e.wire import Object
from queueing.testing.ports import free_ports

COMMAND = [str(Path(sys.executable).with_name("queueing")), "serve"]
UP_S = 60.0
AGAIN_S = 0.2


@dataclass(frozen=True, slots=True)
class CalledHere:
    """A webhook server on loopback, with the authority of its certificate."""

    port: int
    ca: bytes

    def by_url(self, configuration: Object, *, bundle: str = "") -> Object:
        """Return a webhook configuration whose webhooks are called here."""
        trusted = bundle or base64.b64encode(self.ca).decode()
        webhooks = [
            {**webhook, "clientConfig": self._client(webhook, trusted)}
            for webhook in configuration["webhooks"]
        ]
        return {**configuration, "webhooks": webhooks}

    def _client(self, webhook: Object, bundle: str) -> Object:
        path = webhook["clientConfig"]["service"]["path"]
        return {"url": f"https://{HOST}:{self.port}{path}", "caBundle": bundle}


class Place:
    """A new folder with a certificate for loopback, as a webhook server wants it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self._authority = trustme.CA()
        issued = self._authority.issue_cert(HOST)
        (folder / "tls.key").write_bytes(issued.private_key_pem.bytes())
        chain = b"".join(one.bytes() for one in issued.cert_chain_pems)
        (folder / "tls.crt").write_bytes(chain)

    def called(self, port: int) -> CalledHere:
        """Return how to call who serves webhooks on a port with this certificate."""
        return CalledHere(port, self._authority.cert_pem.bytes())


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """A running `queueing serve`, and what the API server needs to call it."""

    process: Process
    called: CalledHere
    webhooks: int
    probes: int
    metrics: int
    visibility: int
    socket: Path
    """Where a controller would speak to it."""

    @property
    def ca(self) -> bytes:
        return self.called.ca

    @property
    def bundle(self) -> str:
        return base64.b64encode(self.ca).decode()

    def called_by_url(self, configuration: Object, *, bundle: str = "") -> Object:
        """Return a webhook configuration whose webhooks are called here."""
        return self.called.by_url(configuration, bundle=bundle)


@contextmanager
def serving(
    cluster: Cluster, settings: Mapping[str, Any] | None = None, *, port: int = 0
) -> Iterator[Serving]:
    """Serve under the product's service account, with a certificate for loopback.

    `port` is that of the webhooks where the settings choose one.
    """
    place = Place(cluster.folder / f"serving-{secrets.token_hex(3)}")
    folder = place.folder
    chosen, probes, metrics, visibility = free_ports(4)
    webhooks = port or chosen
    configuration = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": f"{HOST}:{probes}"},
        "metrics": {"bindAddress": f"{HOST}:{metrics}"},
        "webhook": {"host": HOST, "port": webhooks, "certDir": str(folder)},
        "internalCertManagement": {"enable": False},
        "visibilityServer": {"bindAddress": HOST, "bindPort": visibility},
        **(settings or {}),
    }
    config = folder / "config.yaml"
    config.write_text(yaml.safe_dump(configuration))
    socket = folder / "s"
    process = cluster.run(
        folder.name,
        [*COMMAND, f"--config={config}", f"--socket={socket}", "--log-format=text"],
        KUBECONFIG=str(cluster.kubeconfig(identities.CONTROLLER)),
        PYTHONUNBUFFERED="1",
    )
    try:
        process.wait_until(lambda: listens(webhooks), timeout_s=UP_S, what="listening")
        yield Serving(
            process=process,
            called=place.called(webhooks),
            webhooks=webhooks,
            probes=probes,
            metrics=metrics,
            visibility=visibility,
            socket=socket,
        )
    finally:
        process.terminate()


def until(holds: Callable[[], bool], what: str) -> None:
    """Ask again and again: for what the API server takes up without saying so."""
    deadline = time.monotonic() + UP_S
    while not holds():
        if time.monotonic() > deadline:
            raise WaitTimeoutError(f"not in {UP_S:.0f} s: {what}")
        time.sleep(AGAIN_S)
