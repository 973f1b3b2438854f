"""The product as its own process, run as in production: its service account, its configuration."""

import http.client
import secrets
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from e2e import identities
from e2e.cluster import Cluster
from e2e.components import HOST
from e2e.process import Process
from e2e.wire import Object
from queueing.testing.ports import free_ports

CONFIG = Path(__file__).parent.parent / "config"
COMMAND = [str(Path(sys.executable).with_name("queueing")), "run"]
LEASE = "c1f6bfd2.kueue.x-k8s.io"
READY_S = 90.0
CRD_S = 60.0


def install(cluster: Cluster) -> None:
    """Apply CRDs and RBAC as an administrator would, and wait until the CRDs are served."""
    cluster.ensure_controller_account()
    api = cluster.api()
    for manifest in manifests("crd") + manifests("rbac"):
        api.apply(manifest)
    api.wait("CustomResourceDefinition", _all_established, timeout_s=CRD_S, what="CRDs served")


def manifests(folder: str) -> list[Object]:
    """Read the manifests of a folder of `config/`, in the order of their files."""
    found: list[Object] = []
    for path in sorted((CONFIG / folder).glob("*.yaml")):
        documents = yaml.safe_load_all(path.read_text())
        # A kustomization stands beside the manifests and is none.
        found += [item for item in documents if item and "metadata" in item]
    return found


@dataclass(slots=True)
class Controller:
    """A running `queueing run`."""

    cluster: Cluster
    process: Process
    health: int
    """Port of /readyz and /healthz."""
    metrics: int

    def ready(self) -> bool:
        """Tell whether /readyz says so."""
        return _status(self.health, "/readyz") == http.client.OK

    def wait_ready(self, timeout_s: float = READY_S) -> None:
        """Wait until the process is ready to do its work, leading or standing by."""
        self.process.wait_until(self.ready, timeout_s=timeout_s, what="ready")

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()

    def freeze(self) -> None:
        """SIGSTOP: it neither works nor renews its Lease."""
        self.process.suspend()

    def thaw(self) -> None:
        """SIGCONT; nothing happens to one that is not frozen or is gone."""
        self.process.resume()

    def stop(self) -> int:
        """SIGTERM; returns the exit code."""
        return self.process.terminate(grace_s=30)


def start(
    cluster: Cluster,
    name: str,
    settings: Mapping[str, Any] | None = None,
    *,
    kubeconfig: Path | None = None,
    ours: Mapping[str, Any] | None = None,
    flags: Sequence[str] = (),
) -> Controller:
    """Start the product under its service account; `settings` go into its Configuration.

    `ours` is what its other file says, the one that Kueue does not know; `flags` are more options.
    """
    health, metrics, webhook, visibility = free_ports(4)
    configuration = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": f"{HOST}:{health}"},
        "metrics": {"bindAddress": f"{HOST}:{metrics}"},
        "webhook": {"host": HOST, "port": webhook},
        "visibilityServer": {"bindAddress": HOST, "bindPort": visibility},
        "leaderElection": {"leaderElect": True, "resourceName": LEASE},
        **(settings or {}),
    }
    config = cluster.folder / f"{name}.yaml"
    config.write_text(yaml.safe_dump(configuration))
    command = [*COMMAND, f"--config={config}", *flags]
    if ours is not None:
        own = cluster.folder / f"{name}-queueing.yaml"
        kind = {"apiVersion": "config.queueing.dev/v1alpha1", "kind": "QueueingConfiguration"}
        own.write_text(yaml.safe_dump({**kind, **ours}))
        command.append(f"--queueing-config={own}")
    access = str(kubeconfig or cluster.kubeconfig(identities.CONTROLLER))
    process = cluster.run(name, command, KUBECONFIG=access, PYTHONUNBUFFERED="1")
    return Controller(cluster, process, health, metrics)


class Residents:
    """The replica that plain tests of a cluster share: starting one for each would take minutes."""

    def __init__(self) -> None:
        self._at: dict[Path, Controller] = {}

    def at(self, cluster: Cluster) -> Controller:
        """Return the cluster's resident, started when there is none (any more), and ready."""
        found = self._at.get(cluster.folder)
        if found is None or not found.process.running:
            found = self._at[cluster.folder] = start(cluster, f"resident-{secrets.token_hex(2)}")
        found.wait_ready()
        return found

    def leave(self, cluster: Cluster) -> None:
        """End the cluster's resident: a test brings replicas of its own."""
        found = self._at.pop(cluster.folder, None)
        if found is not None:
            found.stop()

    def leave_all(self) -> None:
        while self._at:
            _, found = self._at.popitem()
            found.stop()


def leader(cluster: Cluster) -> str:
    """Return who holds the product's Lease, or nothing."""
    lease = cluster.api().find("Lease", LEASE, identities.CONTROLLER_NAMESPACE)
    return str((lease or {}).get("spec", {}).get("holderIdentity") or "")


def _all_established(definitions: list[Object]) -> bool:
    wanted = {item["metadata"]["name"] for item in manifests("crd")}
    served = {
        item["metadata"]["name"]
        for item in definitions
        if any(
            one["type"] == "Established" and one["status"] == "True"
            for one in item.get("status", {}).get("conditions") or []
        )
    }
    return wanted <= served


def _status(port: int, path: str) -> int:
    try:
        with closing(http.client.HTTPConnection(HOST, port, timeout=5)) as connection:
            connection.request("GET", path)
            return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
