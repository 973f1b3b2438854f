"""`queueing suspend` and `resume` mean the namespace of the context, as kubectl does."""

import asyncio
import json
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner, Result

from queueing.apiserver.server import serve
from queueing.cli.main import cli
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.resources import WORKLOADS
from queueing_api.crd.generate import crds

TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
WORKLOAD: dict[str, Any] = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "Workload",
    "metadata": {"name": "w", "namespace": "team"},
    "spec": {"podSets": [{"name": "main", "count": 1, "template": TEMPLATE}]},
}


async def typed(words: str, kubeconfig: Path) -> Result:
    command = [*words.split(), "--kubeconfig", str(kubeconfig)]
    return await asyncio.to_thread(CliRunner().invoke, cli, command)


async def test_without_a_namespace_that_of_the_context_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    async with serve() as server, Client(Cluster.plain(server.url)) as client:
        server.load([*crds(), NAMESPACE, WORKLOAD])
        written = yaml.safe_load(server.kubeconfig())
        written["contexts"][0]["context"]["namespace"] = "team"
        path.write_text(yaml.safe_dump(written))
        stopped = await typed("suspend workload w", path)
        spec = json.loads(await client.get(WORKLOADS.at("w", "team")))["spec"]
        again = await typed("resume workload w -n team", path)
        missed = await typed("resume workload nobody", path)
    assert stopped.output == "workload team/w suspended\n"
    assert spec["active"] is False
    assert again.output == "workload team/w resumed\n"
    assert missed.exit_code == 2
    assert "there is no workload team/nobody; name its namespace with -n" in missed.stderr
