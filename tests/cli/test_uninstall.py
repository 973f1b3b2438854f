"""Who leads is not uninstalled behind their back; who only holds the Lease for the removal is."""

import asyncio
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from queueing.apiserver.server import serve
from queueing.cli.main import cli
from queueing.clock import SystemClock
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.lease import LEASE_NAME
from queueing.kube.lease_record import KubeLeaseStore, LeaseRecord
from queueing.serving.uninstallation import HOLDER

NAMESPACE = "kueue-system"


def kubeconfig(folder: Path, server: str) -> Path:
    path = folder / "kubeconfig"
    context = {"name": "here", "context": {"cluster": "here", "user": "me"}}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [context],
        "clusters": [{"name": "here", "cluster": {"server": server}}],
        "users": [{"name": "me", "user": {}}],
    }
    path.write_text(yaml.safe_dump(document))
    return path


@pytest.mark.parametrize(
    ("holder", "code"),
    [
        pytest.param("replica", 2, id="a replica leads"),
        pytest.param(HOLDER, 0, id="the removal holds the Lease"),
        pytest.param("", 0, id="nobody does"),
    ],
)
async def test_only_a_leader_is_a_reason_to_refuse(tmp_path: Path, holder: str, code: int) -> None:
    async with serve() as server, Client(Cluster.plain(server.url)) as client:
        server.load([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}])
        now = SystemClock().now()
        record = LeaseRecord(
            holder=holder, duration_s=60.0, acquired=now, renewed=now, transitions=1, version=""
        )
        await KubeLeaseStore(client, LEASE_NAME, NAMESPACE).write(record, 20.0)
        arguments = [f"--kubeconfig={kubeconfig(tmp_path, server.url)}"]
        done = await asyncio.to_thread(CliRunner().invoke, cli, ["uninstall", *arguments])
    assert done.exit_code == code, done.output
