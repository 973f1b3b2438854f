"""The racks of the local cluster, and the gangs that go to them, as its guide shows it."""

import asyncio
import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from queueing.cli.local.cluster import (
    ServerLocation,
    alone,
    controlled,
    local_cluster,
    sample_gang,
    sample_objects,
    sample_racks,
)
from queueing.cli.main import cli
from queueing.core.settings import Compatibility
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.listing import list_all
from queueing.kube.resources import JOBS, PODS, WORKLOADS

BOUND_S = 60.0
TEAM = "team-vision"
EXCLUDED = 'Total nodes: 6; excluded: resource "nvidia.com/gpu": 4'
WAITS = 'topology "datacenter" allows to fit only 2 out of 4 pod(s)'


async def test_gangs_get_a_rack_each_and_the_third_waits_though_its_quota_is_free(
    tmp_path: Path,
) -> None:
    (gang,) = sample_gang()
    async with (
        asyncio.timeout(BOUND_S),
        local_cluster(ServerLocation(), [*sample_objects(), *sample_racks()]) as server,
        controlled(server, alone(), Compatibility.QUEUEING),
        Client(Cluster.plain(server.url), user_agent="test") as client,
    ):
        for name in ("one", "two", "three"):
            metadata = {**gang.value["metadata"], "name": name}
            await client.create(JOBS.within(TEAM), {**gang.value, "metadata": metadata})
        while len(nodes := _nodes(await list_all(client, PODS.within(TEAM), dict[str, Any]))) < 8:
            await asyncio.sleep(0.05)
        while not (told := _told(await list_all(client, WORKLOADS.within(TEAM), dict[str, Any]))):
            await asyncio.sleep(0.05)
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(server.kubeconfig())
        words = ["topology", "--pod", "nvidia.com/gpu=4", "-o", "json"]
        words += ["--kubeconfig", str(kubeconfig)]
        shown = await asyncio.to_thread(CliRunner().invoke, cli, words)
    racks = {job: {node.rpartition("-")[0] for node in of} for job, of in _by_job(nodes).items()}
    assert sorted(map(sorted, racks.values())) == [["h100-r1"], ["h100-r2"]]
    assert told == f"couldn't assign flavors to pod set main: {WAITS}. {EXCLUDED}"
    rack = json.loads(shown.stdout)["flavors"][0]["levels"][1]
    assert (rack["fits"], rack["most"], rack["fragmentation"]) == (4, 2, 0.5)


def _nodes(pods: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return Job and node of each pod that is on one."""
    return [
        (one["metadata"]["labels"]["job-name"], one["spec"]["nodeName"])
        for one in pods
        if "nodeName" in one["spec"]
    ]


def _by_job(nodes: list[tuple[str, str]]) -> dict[str, set[str]]:
    return {job: {node for other, node in nodes if other == job} for job, _ in nodes}


def _told(workloads: list[dict[str, Any]]) -> str:
    """Return why the Workload that waits does; empty while it is not said."""
    messages = [
        condition["message"]
        for one in workloads
        for condition in one.get("status", {}).get("conditions", ())
        if condition["type"] == "QuotaReserved" and condition["status"] == "False"
    ]
    return next(iter(messages), "")
