"""A control plane of our own on loopback: etcd, the three Kubernetes components, and KWOK."""

import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from e2e import components, identities
from e2e.cluster import Cluster
from e2e.components import HOST, Files, Options
from e2e.controlplane.build import Binaries
from e2e.process import Reaper, StartError
from e2e.wire import Access
from queueing.testing.ports import free_ports

READY_S = 180.0
ATTEMPTS = 4
PORT_TAKEN = "address already in use"


@contextmanager
def control_plane(binaries: Binaries, options: Options | None = None) -> Iterator[Cluster]:
    """Start a cluster; when the block ends, nothing of it is left."""
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="queueing-e2e-", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(temporary))
        reaper = stack.enter_context(Reaper())
        reaper.folder(folder)
        tokens = identities.new_tokens()
        files = components.write_files(folder, identities.token_file(tokens))
        cluster = Cluster(folder=folder, binaries=binaries, reaper=reaper, accesses={})
        stack.callback(cluster.stop)
        _Start(cluster, files, options or Options(), tokens).everything()
        yield cluster


@dataclass(frozen=True, slots=True)
class _Start:
    cluster: Cluster
    files: Files
    options: Options
    tokens: dict[str, str]

    def everything(self) -> None:
        self._server_on_free_ports()
        if self.options.audit:
            self.cluster.audit_log = self.files.audit_log
        run = self.cluster.run_component
        run("kube-controller-manager", components.controller_manager(self.files, self.options))
        run("kube-scheduler", components.scheduler(self.files, self.options))
        run("kwok", components.kwok(self.cluster.kubeconfig(), lease_s=0))

    def _server_on_free_ports(self) -> None:
        """Between choosing a port and using it somebody else may take it: then choose again."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._server(*free_ports(3))
            except StartError as error:
                self.cluster.stop()
                if PORT_TAKEN not in str(error) or attempt == ATTEMPTS:
                    raise
            else:
                return

    def _server(self, port: int, etcd_port: int, etcd_peer_port: int) -> None:
        etcd = self.cluster.run_component(
            "etcd", components.etcd(self.files, etcd_port, etcd_peer_port)
        )
        etcd.wait_until(lambda: listens(etcd_port), timeout_s=READY_S, what="listening")
        self._write_accesses(f"https://{HOST}:{port}")
        server = self.cluster.run_component(
            "kube-apiserver",
            components.apiserver(self.files, self.options, port=port, etcd_port=etcd_port),
        )
        server.wait_until(self.cluster.api().ready, timeout_s=READY_S, what="ready")

    def _write_accesses(self, server: str) -> None:
        authority = self.files.authority.certificate_file.read_text()
        for identity, token in self.tokens.items():
            access = Access(server=server, authority=authority, token=token)
            self.cluster.grant(identity, access)


def listens(port: int) -> bool:
    """Tell whether somebody accepts connections on a port of loopback."""
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False
