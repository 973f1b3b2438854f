"""Plays the controllers of StatefulSets and LeaderWorkerSets, as their documentation says they act.

Pods are made as policies leave them: gated if their template is marked.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec

from queueing.kube.client import Client
from queueing.kube.errors import AlreadyExistsError, KubeError, NotFoundError
from queueing.kube.resources import PODS, Resource
from queueing.translate.labels import GATE, MANAGED, SUSPENDING_PARENT

Wire = dict[str, Any]
STATEFUL_SETS = Resource("apps", "v1", "statefulsets", "StatefulSet")
LEADER_WORKER_SETS = Resource(
    "leaderworkerset.x-k8s.io", "v1", "leaderworkersets", "LeaderWorkerSet"
)
OF_LWS = "leaderworkerset.sigs.k8s.io"
PAUSE_S = 0.05
RUN_S = "6000"
REVISION, FIRST = "controller-revision-hash", "web-1"


class Actor:
    """Makes and deletes the pods of what there is in the namespace `team`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def act(self) -> None:
        """Act until cancelled."""
        while True:
            for resource, wanted in ((STATEFUL_SETS, of_set), (LEADER_WORKER_SETS, of_groups)):
                for owner in await self._all(resource):
                    with suppress(NotFoundError, AlreadyExistsError):
                        await self._reconcile(resource, owner, list(wanted(owner)))
            await asyncio.sleep(PAUSE_S)

    async def _all(self, resource: Resource) -> list[Wire]:
        try:
            reply = await self._client.list_page(resource.within("team"))
        except KubeError:
            return []  # it is not served
        return list(msgspec.json.decode(reply)["items"])

    async def _reconcile(self, resource: Resource, owner: Wire, wanted: list[Wire]) -> None:
        uid = owner["metadata"]["uid"]
        mine = {
            one["metadata"]["name"]: one
            for one in await self._all(PODS)
            if any(ref["uid"] == uid for ref in one["metadata"].get("ownerReferences", ()))
        }
        if "deletionTimestamp" in owner["metadata"]:
            return
        names = {one["metadata"]["name"] for one in wanted}
        for pod in wanted:
            if pod["metadata"]["name"] not in mine:
                await self._client.create(PODS.within("team"), pod)
        for name, pod in mine.items():
            leaves = name not in names or pod.get("status", {}).get("phase") in (
                "Failed",
                "Succeeded",
            )
            if leaves and "deletionTimestamp" not in pod["metadata"]:
                await self._client.delete(PODS.at(name, "team"))
        ready = sum(one.get("status", {}).get("phase") == "Running" for one in mine.values())
        status = {"replicas": len(mine), "readyReplicas": ready}
        known = owner.get("status", {})
        if any(known.get(key) != value for key, value in status.items()):
            target = resource.at(owner["metadata"]["name"], "team", "status")
            await self._client.patch_merge(target, {"status": status})


def of_set(owner: Wire) -> Iterator[Wire]:
    """Yield the pods of a StatefulSet."""
    name, template = owner["metadata"]["name"], owner["spec"]["template"]
    for number in range(owner["spec"].get("replicas", 1)):
        labels = {"apps.kubernetes.io/pod-index": str(number)}
        yield pod(owner, f"{name}-{number}", template, labels, {})


def of_groups(owner: Wire) -> Iterator[Wire]:
    """Yield the pods of a LeaderWorkerSet: of each group a leader and its workers."""
    name, spec = owner["metadata"]["name"], owner["spec"]
    templates = spec["leaderWorkerTemplate"]
    worker = templates["workerTemplate"]
    for group in range(spec.get("replicas", 1)):
        leader = f"{name}-{group}"
        labels = {f"{OF_LWS}/name": name, f"{OF_LWS}/group-index": str(group)}
        for number in range(templates.get("size", 1)):
            own = {**labels, f"{OF_LWS}/worker-index": str(number)}
            if number == 0:
                yield pod(owner, leader, templates.get("leaderTemplate", worker), own, {})
            else:
                named = {f"{OF_LWS}/leader-name": leader}
                yield pod(owner, f"{leader}-{number}", worker, own, named)


def pod(owner: Wire, name: str, template: Wire, labels: Wire, annotations: Wire) -> Wire:
    """Return a pod of a template as it is after its creation."""
    above = {key: owner["metadata"][key] for key in ("name", "uid")}
    above |= {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": True}
    own = template.get("metadata", {})
    notes = {**own.get("annotations", {}), **annotations}
    marked = SUSPENDING_PARENT in notes
    managed = {MANAGED: "true"} if marked else {}
    spec: Wire = {"restartPolicy": "Always", **template["spec"]}
    if marked:
        spec["schedulingGates"] = [{"name": GATE}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "team",
            "labels": {**own.get("labels", {}), **labels, **managed, REVISION: FIRST},
            "annotations": {**notes, "queueing.dev/simulate-seconds": RUN_S},
            "ownerReferences": [above],
        },
        "spec": spec,
    }


@asynccontextmanager
async def acting(client: Client) -> AsyncIterator[None]:
    """Play both controllers for a while."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Actor(client).act())
        yield
        task.cancel()
