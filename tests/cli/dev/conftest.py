"""Commands as people type them, on a cluster such as `make dev` runs."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from queueing.cli.get.states import state_of, why
from queueing.cli.local.cluster import ServerLocation, alone, controlled, local_cluster
from queueing.cli.main import cli
from queueing.core.settings import Compatibility
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.listing import list_all
from queueing.kube.resources import JOBS, WORKLOADS
from queueing.sim.documents import parse
from tests.cli.manifests import BREAK, NAMESPACE, queues
from tests.news import News, soon_after

NODE = """\
apiVersion: v1
kind: Node
metadata: {name: node}
status: {allocatable: {cpu: "32", memory: 64Gi, pods: "110"}, capacity: {cpu: "32", pods: "110"}}
"""
OBJECTS = BREAK.join((NAMESPACE, NODE, queues("vision", 4, "main")))
BOUND_S = 60.0


def job(name: str, cpu: int, seconds: int = 600) -> dict[str, Any]:
    """Return a Job of one pod of the LocalQueue `main`."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": str(cpu)}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": "team",
            "labels": {"kueue.x-k8s.io/queue-name": "main"},
            "annotations": {"queueing.dev/simulate-seconds": str(seconds)},
        },
        "spec": {
            "suspend": True,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }


class Dev:
    """A running cluster, and a person with a kubeconfig whose namespace is `team`."""

    def __init__(self, client: Client, kubeconfig: Path, news: News) -> None:
        self.client, self.kubeconfig, self.news = client, kubeconfig, news

    async def submit(self, *jobs: dict[str, Any]) -> None:
        for one in jobs:
            await self.client.create(JOBS.within("team"), one)

    async def type(self, words: str, text: str | None = None) -> Result:
        """Run a command to its end."""
        own, dashes, rest = words.partition(" -- ")
        command = [*own.split(), "--kubeconfig", str(self.kubeconfig)]
        command += ["--", *rest.split()] if dashes else []
        return await asyncio.to_thread(CliRunner().invoke, cli, command, text)

    async def told(self, words: str) -> str:
        """Return what a command prints that succeeds."""
        result = await self.type(words)
        assert result.exit_code == 0, result.output
        return result.stdout

    async def rows(self, words: str) -> list[dict[str, Any]]:
        found = json.loads(await self.told(f"{words} -o json"))
        return list(found["items"])

    async def workloads(self) -> dict[str, dict[str, Any]]:
        """Return the Workloads by the name of their Job."""
        found = await list_all(self.client, WORKLOADS.within("team"), dict[str, Any])
        return {one["metadata"]["ownerReferences"][0]["name"]: one for one in found}

    async def until(self, holds: Callable[[], Awaitable[bool]], what: str) -> None:
        try:
            async with asyncio.timeout(BOUND_S):
                while True:
                    news = self.news.next
                    if await holds():
                        return
                    await soon_after(news)
        except TimeoutError:
            pytest.fail(f"not within {BOUND_S:g} s: {what}: {await self.workloads()}")

    async def until_state(self, **states: str) -> None:
        """Wait until the Workloads of Jobs stand so."""

        async def holds() -> bool:
            found = await self.workloads()
            return all(
                name in found
                and state_of(found[name]) == state
                and (state != "Pending" or why(found[name])[0])
                for name, state in states.items()
            )

        await self.until(holds, str(states))


@asynccontextmanager
async def _running(tmp_path: Path) -> AsyncIterator[Dev]:
    place = ServerLocation()
    async with (
        local_cluster(place, parse(OBJECTS, file="objects")) as server,
        controlled(server, alone(), Compatibility.QUEUEING),
        Client(Cluster.plain(server.url)) as client,
    ):
        written = yaml.safe_load(server.kubeconfig())
        written["contexts"][0]["context"]["namespace"] = "team"
        path = tmp_path / "kubeconfig"
        path.write_text(yaml.safe_dump(written))
        yield Dev(client, path, News(server.store))


@pytest.fixture
async def dev(tmp_path: Path) -> AsyncIterator[Dev]:
    async with _running(tmp_path) as found:
        yield found
