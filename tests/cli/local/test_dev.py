import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from click.testing import CliRunner

from queueing.cli.local.cluster import (
    ServerLocation,
    alone,
    controlled,
    local_cluster,
    sample_jobs,
    sample_objects,
)
from queueing.cli.local.demo import saves
from queueing.cli.local.page import local_page
from queueing.cli.local.sightings import Sightings
from queueing.cli.main import cli
from queueing.core.settings import Compatibility
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.errors import RefusedError

BOUND_S = 60.0


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("a: [", "bad.yaml:", id="no YAML"),
        pytest.param(
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\n"
            "spec:\n  stopPolicy: Maybe\n",
            "bad.yaml:5: spec.stopPolicy: ",
            id="an unknown word",
        ),
    ],
)
def test_a_malformed_manifest_is_refused_with_its_line(
    tmp_path: Path, text: str, want: str
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    result = CliRunner().invoke(cli, ["dev", "-f", str(path)])
    assert result.exit_code == 2
    assert want in result.stderr


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(
            "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\n"
            "metadata: {name: main, namespace: nowhere}\nspec: {clusterQueue: team}\n",
            ':2: LocalQueue nowhere/main: namespaces "nowhere" not found',
            id="a namespace that is not there",
        ),
        pytest.param(
            "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n",
            ":1: a Configuration is no object of a cluster: give it by --config",
            id="a Configuration",
        ),
    ],
)
def test_an_object_that_the_server_does_not_take_is_named_with_its_line(
    tmp_path: Path, text: str, want: str
) -> None:
    path = tmp_path / "more.yaml"
    path.write_text(text)
    result = CliRunner().invoke(cli, ["dev", "--no-samples", "-f", str(path)])
    assert result.exit_code == 2
    assert f"{path}{want}" in result.stderr


async def test_a_sample_job_runs_to_its_end_on_the_local_cluster() -> None:
    job = next(one.value for one in sample_jobs() if one.name == "report-1")
    namespace = job["metadata"]["namespace"]
    seen = Sightings()
    async with (
        asyncio.timeout(BOUND_S),
        local_cluster(ServerLocation(), sample_objects()) as server,
        controlled(server, alone(), Compatibility.QUEUEING),
        Client(Cluster.plain(server.url), user_agent="test") as client,
    ):
        await client.create(resources.JOBS.within(namespace), job)
        seen.submit(f"{namespace}/report-1", "main", 0.0)
        while not seen.all_done:
            page = await client.list_page(resources.WORKLOADS.within(namespace))
            seen.look(json.loads(page)["items"], [], 1.0)
            await asyncio.sleep(0.05)


async def test_the_page_of_a_local_cluster_is_served_and_found_by_the_command(
    tmp_path: Path,
) -> None:
    socket, kubeconfig = tmp_path / "page.sock", tmp_path / "kubeconfig"
    async with (
        asyncio.timeout(BOUND_S),
        local_cluster(ServerLocation(), sample_objects()) as server,
        local_page(server, socket) as url,
        controlled(server, alone(), Compatibility.QUEUEING, socket),
        ClientSession() as browser,
    ):
        kubeconfig.write_text(server.kubeconfig())
        words = ["ui", "clusterqueue/vision", "--no-browser", "--kubeconfig", str(kubeconfig)]
        found = await asyncio.to_thread(CliRunner().invoke, cli, words)
        assert found.output == f"The page is at {url}clusterqueues/vision\n"
        while True:
            async with browser.get(f"{url}clusterqueues/vision") as told:
                text = await told.text()
            if told.status == 200:
                break
            assert told.status in {404, 503}, text  # it does not lead, or knows no queue yet
            await asyncio.sleep(0.05)
    assert "Nobody waits, 0 admitted." in text


async def test_a_job_is_suspended_and_a_bad_queue_refused_when_they_are_created() -> None:
    job = next(one.value for one in sample_jobs() if one.name == "report-1")
    job = {**job, "spec": {**job["spec"], "suspend": False}}
    queue = next(one.value for one in sample_objects() if one.kind == "ClusterQueue")
    unfit = {**queue, "metadata": {"name": "unfit"}, "spec": {**queue["spec"]}}
    unfit["spec"] |= {"cohortName": None, "resourceGroups": [_group(nominal="-1")]}
    async with (
        asyncio.timeout(BOUND_S),
        local_cluster(ServerLocation(), sample_objects()) as server,
        controlled(server, alone(), Compatibility.QUEUEING),
        Client(Cluster.plain(server.url), user_agent="test") as client,
    ):
        made = await client.create(resources.JOBS.within(job["metadata"]["namespace"]), job)
        assert json.loads(made)["spec"]["suspend"] is True
        with pytest.raises(RefusedError, match="greater than or equal to 0"):
            await client.create(resources.CLUSTER_QUEUES.within(), unfit)


async def test_manifests_of_the_older_version_are_taken_as_they_are() -> None:
    older = replace(resources.CLUSTER_QUEUES, version="v1beta1")
    queue = {
        "apiVersion": older.api_version,
        "kind": "ClusterQueue",
        "metadata": {"name": "old"},
        "spec": {"cohort": "research", "flavorFungibility": {"whenCanBorrow": "Borrow"}},
    }
    async with (
        asyncio.timeout(BOUND_S),
        local_cluster(ServerLocation(), sample_objects()) as server,
        controlled(server, alone(), Compatibility.QUEUEING),
        Client(Cluster.plain(server.url), user_agent="test") as client,
    ):
        made = json.loads(await client.create(older.within(), queue))
        kept = json.loads(await client.get(resources.CLUSTER_QUEUES.at("old")))
    assert made["spec"]["cohort"] == "research"
    assert kept["spec"]["cohortName"] == "research"
    assert kept["spec"]["flavorFungibility"]["whenCanBorrow"] == "MayStopSearch"


def _group(*, nominal: str) -> dict[str, Any]:
    quotas = [{"name": "cpu", "nominalQuota": nominal}]
    return {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": quotas}]}


async def test_objects_are_there_again_when_they_are_kept(tmp_path: Path) -> None:
    place = ServerLocation(data=tmp_path / "cluster.db")
    async with local_cluster(place, sample_objects()):
        pass
    async with (
        local_cluster(place, []) as server,
        Client(Cluster.plain(server.url), user_agent="test") as client,
    ):
        page = json.loads(await client.list_page(resources.CLUSTER_QUEUES.within()))
    assert {one["metadata"]["name"] for one in page["items"]} == {"data", "language", "vision"}


def test_a_port_that_is_taken_or_impossible_is_named_with_the_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        found = CliRunner().invoke(cli, ["dev", "--no-samples", "--port", str(port)])
    assert found.exit_code == 2
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in found.stderr
    assert "--port" in found.stderr
    assert "0<=x<=65535" in CliRunner().invoke(cli, ["dev", "--port", "65536"]).stderr


def test_a_start_that_is_ended_by_sigterm_leaves_no_folder_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "queueing.cli.main", "dev", "--no-samples"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as started:
        until = time.monotonic() + BOUND_S
        while not list(tmp_path.iterdir()):
            assert started.poll() is None, "it ended by itself"
            assert time.monotonic() < until, "no folder appeared"
            time.sleep(0.001)
        started.terminate()
        said, _ = started.communicate(timeout=BOUND_S)
    assert (started.returncode, said.splitlines()[-1]) == (0, "Stopped.")
    assert list(tmp_path.iterdir()) == []


def test_the_samples_can_be_planned_as_they_are() -> None:
    assert len(sample_jobs()) == 40, "as many as README and demo say"
    kinds = {one.kind for one in sample_objects()}
    assert {"Namespace", "ResourceFlavor", "ClusterQueue", "LocalQueue", "Node"} <= kinds


def test_the_demo_names_the_job_that_saved_and_not_what_else_owns_its_checkpoint() -> None:
    owners = [{"kind": "Job", "name": "train"}, {"kind": "Workload", "name": "job-train-1a2b3"}]
    made = {
        "metadata": {"namespace": "team", "ownerReferences": owners},
        "status": {"checkpoint": {"step": 4}},
    }
    (told,) = saves([made, {"metadata": {"namespace": "team"}}])
    assert told == "team/train saved at step 4 before it was stopped, and went on from there."
