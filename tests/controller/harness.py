import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

from queueing.apiserver.memory.store import Store
from queueing.apiserver.memory.writes import StoreWrites
from queueing.apiserver.server import EmbeddedServer
from queueing.apiserver.simulation.nodes import NodeShape
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.errors import NotFoundError
from queueing.testing.virtual_time import LoopClock
from tests.news import News, soon_after

CRDS = Path(__file__).parents[2] / "config" / "crd"
KUEUE = "kueue.x-k8s.io/v1beta2"
WAIT_S = 60.0
CLOCK = LoopClock(time.time())
"""That of a world. What runs in threads beside it goes by the machine's own."""


def another_clock() -> float:
    """Return what the machine of the Job controller shows: no two machines agree to the nanosecond.

    Who tells of a Job at the same moment would else give its Events the same names.
    """
    return CLOCK.now() - 0.001


Wire = dict[str, Any]
Found = TypeVar("Found")


class World:
    """An API server with a controller at work on it, whose clocks are those of the loop."""

    clock = CLOCK

    def __init__(self, server: EmbeddedServer, client: Client) -> None:
        self.server, self.client = server, client
        self.news = News(server.store)

    async def make(self, *objects: Wire) -> None:
        for one in objects:
            resource = resources.RESOURCES[one["kind"]]
            await self.client.create(resource.within(one["metadata"].get("namespace", "")), one)

    async def get(self, kind: str, name: str) -> Wire:
        resource = resources.RESOURCES[kind]
        target = resource.at(name, "team" if resource.namespaced else "")
        return dict(msgspec.json.decode(await self.client.get(target)))

    async def list(self, kind: str) -> list[Wire]:
        reply = await self.client.list_page(resources.RESOURCES[kind].within())
        return list(msgspec.json.decode(reply)["items"])

    async def patch(self, kind: str, name: str, body: Wire, subresource: str = "") -> None:
        resource = resources.RESOURCES[kind]
        namespace = "team" if resource.namespaced else ""
        await self.client.patch_merge(resource.at(name, namespace, subresource), body)

    async def delete(self, kind: str, name: str, policy: str = "Background") -> None:
        resource = resources.RESOURCES[kind]
        target = resource.at(name, "team" if resource.namespaced else "")
        await self.client.delete(target, {"propagationPolicy": policy})

    async def finish(self, job: str) -> None:
        """End the pod of a Job of one pod, as soon as it runs, by a success."""

        def runs(one: Wire) -> bool:
            return bool(one.get("status", {}).get("ready") == 1)

        await self.until("Job", job, runs)
        for pod in await self.list("Pod"):
            if pod["metadata"].get("labels", {}).get("batch.kubernetes.io/job-name") == job:
                await self.end_pod(pod["metadata"]["name"])

    async def end_pod(self, name: str) -> None:
        """Have a pod succeed now, however long it was to run."""
        await self.patch("Pod", name, {"status": {"phase": "Succeeded"}}, "status")

    async def found(self, look: Callable[[], Awaitable[Found | None]]) -> Found | None:
        """Look again after changes until something is found; None after a minute."""
        ends = self.clock.monotonic() + WAIT_S
        while self.clock.monotonic() < ends:
            news = self.news.next
            found = await look()
            if found is not None:
                return found
            await soon_after(news)
        return None

    async def until(self, kind: str, name: str, holds: Callable[[Wire], bool]) -> Wire:
        """Wait for an object in some state."""
        last: Wire = {}

        async def look() -> Wire | None:
            nonlocal last
            with suppress(NotFoundError):
                last = await self.get(kind, name)
                return last if holds(last) else None
            return None

        found = await self.found(look)
        assert found is not None, f"{kind} {name} stayed {last}"
        return found

    async def until_gone(self, kind: str, name: str) -> None:
        async def look() -> bool | None:
            there = any(one["metadata"]["name"] == name for one in await self.list(kind))
            return None if there else True

        assert await self.found(look), f"{kind} {name} is still there"

    async def event(self, words: str) -> Wire:
        """Wait for an Event whose note has these words."""

        async def look() -> Wire | None:
            told = await self.list("Event")
            return next((one for one in told if words in str(one.get("note"))), None)

        found = await self.found(look)
        assert found is not None, f"no Event says {words!r}"
        return found

    async def workload(self, job: str, holds: Callable[[Wire], bool]) -> Wire:
        """Wait for the Workload of a Job in some state."""
        last: Wire = {}

        async def look() -> Wire | None:
            nonlocal last
            for one in await self.list("Workload"):
                owners = one["metadata"].get("ownerReferences", [])
                if any(owner["name"] == job for owner in owners):
                    last = one
                    if holds(one):
                        return one
            return None

        found = await self.found(look)
        assert found is not None, f"the Workload of {job} stayed {last}"
        return found


def stored_definitions() -> list[Wire]:
    """Return our definitions as a server has stored them, to be stored by others."""
    writes = StoreWrites(Store(), time.time)
    documents = [
        one
        for path in sorted(CRDS.glob("*.yaml"))
        for one in yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader)
    ]
    return [
        writes.create(one) for one in documents if one and one["kind"] == "CustomResourceDefinition"
    ]


def define(server: EmbeddedServer, definitions: Sequence[Wire]) -> None:
    """Store definitions that another server has checked."""
    kind = server.store.catalog.builtin("apiextensions.k8s.io", "customresourcedefinitions")
    for one in definitions:
        server.store.insert(kind, one)


MakeWorld = Callable[..., AbstractAsyncContextManager[World]]


def true(kind: str, reason: str = "") -> Callable[[Wire], bool]:
    """Say whether a condition is True, for the reason if one is given."""

    def holds(one: Wire) -> bool:
        return any(
            condition["type"] == kind
            and condition["status"] == "True"
            and reason in ("", condition["reason"])
            for condition in one.get("status", {}).get("conditions", [])
        )

    return holds


def false(kind: str, reason: str = "") -> Callable[[Wire], bool]:
    """Say whether a condition is False, for the reason if one is given."""

    def holds(one: Wire) -> bool:
        return any(
            condition["type"] == kind
            and condition["status"] == "False"
            and reason in ("", condition["reason"])
            for condition in one.get("status", {}).get("conditions", [])
        )

    return holds


def job(name: str, cpu: str = "1", seconds: float = 600, **more: Any) -> Wire:
    labels = {"kueue.x-k8s.io/queue-name": "lq", **more.pop("labels", {})}
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": "team",
            "labels": {key: value for key, value in labels.items() if value is not None},
            "annotations": {"queueing.dev/simulate-seconds": str(seconds)},
        },
        "spec": {
            "suspend": True,
            "template": {
                "metadata": {"labels": {"app": name}, "annotations": {"own": "1"}},
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [container],
                    "nodeSelector": {"disk": "ssd"},
                },
            },
            **more,
        },
    }


def cluster_queue(cpu: str = "2", **spec: Any) -> Wire:
    flavor = {"name": "default", "resources": [{"name": "cpu", "nominalQuota": cpu}]}
    return {
        "apiVersion": KUEUE,
        "kind": "ClusterQueue",
        "metadata": {"name": "cq"},
        "spec": {
            "namespaceSelector": {},
            "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [flavor]}],
            **spec,
        },
    }


LOCAL_QUEUE: Wire = {
    "apiVersion": KUEUE,
    "kind": "LocalQueue",
    "metadata": {"name": "lq", "namespace": "team"},
    "spec": {"clusterQueue": "cq"},
}
FLAVOR: Wire = {
    "apiVersion": KUEUE,
    "kind": "ResourceFlavor",
    "metadata": {"name": "default"},
    "spec": {"nodeLabels": {"pool": "any"}, "tolerations": [{"key": "t", "operator": "Exists"}]},
}
NODE = NodeShape(
    name="node",
    allocatable={"cpu": "64", "memory": "64Gi", "pods": "110"},
    labels={"pool": "any", "disk": "ssd"},
)
CONFIGURATION: Wire = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "health": {"healthProbeBindAddress": "0"},
    "metrics": {"bindAddress": "0"},
    "leaderElection": {"leaderElect": False},
}
