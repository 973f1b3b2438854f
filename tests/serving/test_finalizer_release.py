"""Nothing keeps our finalizer once the definition of Workloads is about to be deleted."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from queueing.apiserver.server import serve
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.resources import (
    CLUSTER_QUEUES,
    QUEUEABLE_KINDS,
    RESOURCE_FLAVORS,
    WORKLOADS,
    Target,
)
from queueing.serving import finalizer_release
from queueing.serving.finalizer_release import is_uninstallation, release_finalizers
from queueing.webhooks.admission import IN_USE

CRDS = Path(__file__).parents[2] / "config" / "crd"
KINDS = CRDS / "queueing.dev_queueablekinds.yaml"
DESCRIPTION = Path(__file__).parents[2] / "examples" / "kinds" / "description.yaml"
OTHER = "example.com/audit"
TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with serve() as api, Client(Cluster.plain(api.url)) as made:
        api.load(
            yaml.load(file.read_text(), Loader=yaml.CSafeLoader)
            for file in (*sorted(CRDS.glob("kueue*.yaml")), KINDS)
        )
        yield made


def thing(kind: str, name: str, spec: dict[str, Any], *finalizers: str) -> dict[str, Any]:
    metadata = {"name": name, "finalizers": list(finalizers)}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": kind,
        "metadata": metadata,
        "spec": spec,
    }


async def finalizers(client: Client, target: Target) -> list[str]:
    found: list[str] = json.loads(await client.get(target))["metadata"].get("finalizers", [])
    return found


async def test_our_finalizer_goes_and_others_stay(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finalizer_release, "PAGE", 2)
    for number in range(5):
        body = thing("Workload", f"w{number}", {"podSets": [{"template": TEMPLATE}]}, IN_USE, OTHER)
        await client.create(WORKLOADS.within("default"), body)
    await client.create(RESOURCE_FLAVORS.within(), thing("ResourceFlavor", "any", {}, IN_USE))
    await client.create(CLUSTER_QUEUES.within(), thing("ClusterQueue", "team", {}, OTHER))
    description = yaml.safe_load(DESCRIPTION.read_text())
    description["metadata"]["finalizers"] = [IN_USE]
    await client.create(QUEUEABLE_KINDS.within(), description)
    await release_finalizers(client)
    assert await finalizers(client, QUEUEABLE_KINDS.at(description["metadata"]["name"])) == []
    for number in range(5):
        assert await finalizers(client, WORKLOADS.at(f"w{number}", "default")) == [OTHER]
    assert await finalizers(client, RESOURCE_FLAVORS.at("any")) == []
    assert await finalizers(client, CLUSTER_QUEUES.at("team")) == [OTHER]


async def test_what_cannot_be_reached_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async with Client(Cluster.plain("http://127.0.0.1:1")) as nobody:
        await release_finalizers(nobody)
    assert "workloads keep their finalizers" in caplog.text


@pytest.mark.parametrize(
    ("request_", "want"),
    [
        pytest.param({}, True, id="the definition of workloads"),
        pytest.param({"dryRun": True}, False, id="a dry run"),
        pytest.param({"name": "cohorts.kueue.x-k8s.io"}, False, id="another definition"),
        pytest.param({"operation": "UPDATE"}, False, id="a change of it"),
    ],
)
def test_an_uninstallation_is_the_deletion_of_the_definition(
    request_: dict[str, Any], want: bool
) -> None:
    announced = {"operation": "DELETE", "name": "workloads.kueue.x-k8s.io", "dryRun": False}
    assert is_uninstallation({"request": {**announced, **request_}}) is want
