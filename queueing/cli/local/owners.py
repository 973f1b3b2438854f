"""Controllers of a local cluster, played: of JobSets, RayClusters, Deployments and StatefulSets.

A kind is a function: from an object, and the Jobs or pods that it owns, to those that it is made of
now, and to its status. An object that is suspended is made of nothing. A JobSet fails with its
first Job, and a RayCluster is ready when all of its pods are. Parts are created over HTTP, so that
webhooks are asked about them.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from types import MappingProxyType
from typing import NoReturn

from queueing.apiserver.failures import ApiFailure
from queueing.apiserver.memory.history import WatchEvent
from queueing.apiserver.memory.store import Store
from queueing.apiserver.memory.writes import Author, DeleteOptions, StoreWrites, wire_time
from queueing.apiserver.resources.resource import Resource
from queueing.apiserver.server import EmbeddedServer
from queueing.apiserver.simulation.annotations import RUN_SECONDS
from queueing.apiserver.simulation.jobs import controller_of, is_ready, is_true, set_condition
from queueing.apiserver.tree import Object, copied, dig, metadata, name_of, namespace_of, uid_of
from queueing.kinds.registry import kind_of
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.errors import KubeError

_AUTHOR = Author(name="simulation", subresource="status")
_FOREVER = "1000000000"
_COUNTS = ("replicas", "readyReplicas", "availableReplicas")
Made = tuple[list[Object], Object]
"""The objects of which another is made, and its status."""


def job_set(thing: Object, jobs: Sequence[Object], now: str) -> Made:
    """Return the Jobs of a JobSet, and its status."""
    status, counts, wanted = copied(thing.get("status") or {}), [], []
    if is_true(thing, "Completed") or is_true(thing, "Failed"):
        return [one for one in jobs if is_true(one, "Complete") or is_true(one, "Failed")], status
    suspended = bool(dig(thing, "spec", "suspend"))
    for part in dig(thing, "spec", "replicatedJobs", default=[]):
        names = [f"{name_of(thing)}-{part['name']}-{at}" for at in range(part.get("replicas", 1))]
        mine = [one for one in jobs if name_of(one) in names]
        if not suspended:
            wanted += [_job(thing, part, at, name) for at, name in enumerate(names)]
        counts.append(
            {
                "name": part["name"],
                "succeeded": sum(is_true(one, "Complete") for one in mine),
                "failed": sum(is_true(one, "Failed") for one in mine),
                "active": sum(dig(one, "status", "active", default=0) > 0 for one in mine),
                "ready": sum(map(_are_ready, mine)),
                "suspended": len(names) if suspended else 0,
            }
        )
    status["replicatedJobsStatus"] = counts
    if any(one["failed"] for one in counts):
        set_condition(status, "Failed", "True", "FailedJobs", "jobset failed due to a job", now)
    elif wanted and sum(one["succeeded"] for one in counts) == len(wanted):
        said = "jobset completed successfully"
        set_condition(status, "Completed", "True", "AllJobsCompleted", said, now)
    return wanted, status


def _are_ready(job: Object) -> bool:
    ready = int(dig(job, "status", "ready", default=0) + dig(job, "status", "succeeded", default=0))
    over = is_true(job, "Complete") or is_true(job, "Failed")
    return not over and ready >= int(dig(job, "spec", "parallelism", default=1))


def _job(thing: Object, part: Object, at: int, name: str) -> Object:
    labels = {
        "jobset.sigs.k8s.io/jobset-name": name_of(thing),
        "jobset.sigs.k8s.io/replicatedjob-name": part["name"],
        "jobset.sigs.k8s.io/job-index": str(at),
    }
    made = copied(part["template"])
    for meta in (
        made.setdefault("metadata", {}),
        made["spec"]["template"].setdefault("metadata", {}),
    ):
        meta["labels"] = {**(meta.get("labels") or {}), **labels}
    notes = {
        **(metadata(thing).get("annotations") or {}),
        **(metadata(made).get("annotations") or {}),
    }
    made["metadata"] |= {"name": name, "annotations": notes}
    return {"apiVersion": "batch/v1", "kind": "Job", **made}


def ray_cluster(thing: Object, pods: Sequence[Object], now: str) -> Made:
    """Return the pods of a RayCluster, and its status."""
    del now
    spec, wanted, name = thing["spec"], [], name_of(thing)
    groups = [{"groupName": "headgroup", **spec["headGroupSpec"], "replicas": 1}]
    for group in [*groups, *spec.get("workerGroupSpecs", ())]:
        count = int(group.get("replicas", 1)) * max(1, int(group.get("numOfHosts", 1)))
        for at in range(0 if spec.get("suspend") else count):
            labels = {"ray.io/cluster": name, "ray.io/group": group["groupName"]}
            wanted.append(_pod(group["template"], f"{name}-{group['groupName']}-{at}", labels))
    ready = sum(map(is_ready, pods))
    state = "suspended" if spec.get("suspend") else "ready" if ready == len(wanted) else ""
    return wanted, {"state": state, "readyWorkerReplicas": max(ready - 1, 0)}


def _pod(template: Object, name: str, labels: Object) -> Object:
    """Return a pod that runs until it is deleted, unless its template says otherwise."""
    made = copied(template)
    meta = made.setdefault("metadata", {})
    notes = {RUN_SECONDS: _FOREVER, **(meta.get("annotations") or {})}
    meta |= {
        "name": name,
        "labels": {**(meta.get("labels") or {}), **labels},
        "annotations": notes,
    }
    return {"apiVersion": "v1", "kind": "Pod", **made}


def deployment(thing: Object, sets: Sequence[Object], now: str) -> Made:
    """Return the ReplicaSet of a Deployment, whose name follows from the template."""
    del now
    spec = thing["spec"]
    digest = sha256(json.dumps(spec["template"], sort_keys=True).encode()).hexdigest()[:10]
    meta = {"name": f"{name_of(thing)}-{digest}", "labels": spec["template"]["metadata"]["labels"]}
    kept = {"replicas": int(spec.get("replicas", 1))}
    kept |= {key: spec[key] for key in ("selector", "template")}
    made = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta, "spec": kept}
    states = [one.get("status") or {} for one in sets]
    counts = {key: sum(one.get(key, 0) for one in states) for key in _COUNTS}
    return [made], {**counts, "updatedReplicas": counts["replicas"], **_seen(thing)}


def replicated(thing: Object, pods: Sequence[Object], now: str) -> Made:
    """Return the pods of a ReplicaSet or StatefulSet, which are numbered, and its status."""
    del now
    spec, name = thing["spec"], name_of(thing)
    wanted = [
        _pod(spec["template"], f"{name}-{at}", {"apps.kubernetes.io/pod-index": str(at)})
        for at in range(int(spec.get("replicas", 1)))
    ]
    ready = sum(map(is_ready, pods))
    counts = {"replicas": len(pods), "readyReplicas": ready, "availableReplicas": ready}
    return wanted, {**counts, **_seen(thing)}


def _seen(thing: Object) -> Object:
    return {"observedGeneration": metadata(thing).get("generation", 1)}


PLAYED = MappingProxyType(
    {
        ("jobset.x-k8s.io/v1alpha2", "JobSet"): ("batch", "jobs", job_set),
        ("ray.io/v1", "RayCluster"): ("", "pods", ray_cluster),
        ("apps/v1", "Deployment"): ("apps", "replicasets", deployment),
        ("apps/v1", "ReplicaSet"): ("", "pods", replicated),
        ("apps/v1", "StatefulSet"): ("", "pods", replicated),
    }
)
"""The kinds that are played, each with what its objects are made of."""
FRAMEWORKS = ("jobset.x-k8s.io/jobset", "ray.io/raycluster")
"""Those of them that need a definition, by their names in `integrations.frameworks`."""


def definitions() -> Iterator[Object]:
    """Yield small definitions of these kinds, which keep every field."""
    kept = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    for name in FRAMEWORKS:
        kind = kind_of(name).spec.resource
        suspended = {"name": "Suspended", "type": "boolean", "jsonPath": ".spec.suspend"}
        age = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
        version = {
            "name": kind.version,
            "served": True,
            "storage": True,
            "subresources": {"status": {}},
            "additionalPrinterColumns": [suspended, age],
            "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {"spec": kept, "status": kept}}
            },
        }
        names = {"kind": kind.kind, "plural": kind.plural, "singular": kind.kind.lower()}
        yield {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{kind.plural}.{kind.group}"},
            "spec": {
                "group": kind.group,
                "names": names,
                "scope": "Namespaced",
                "versions": [version],
            },
        }


class Owners:
    """Looks at objects of these kinds, whenever they change or what they own does."""

    def __init__(self, store: Store, client: Client) -> None:
        self._store, self._client = store, client
        self._writes = StoreWrites(store, time.time)
        self._dirty: dict[tuple[str, str, str, str], None] = {}
        self._woken = asyncio.Event()
        self._store.on_change(self._on_change)

    def _on_change(self, resource: Resource, event: WatchEvent) -> None:
        del resource
        after = event.after
        for one in ({**after, "name": name_of(after)}, controller_of(after)):
            api, kind = str(one.get("apiVersion")), str(one.get("kind"))
            if (api, kind) in PLAYED:
                self._dirty[api, kind, namespace_of(after), str(one["name"])] = None
                self._woken.set()

    async def run(self) -> NoReturn:
        """Act on changes until cancelled."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            changed, self._dirty = list(self._dirty), {}
            for one in changed:
                with suppress(ApiFailure, KubeError):  # what is in the way goes, which leads here
                    await self._look(*one)

    async def _look(self, api: str, kind: str, namespace: str, name: str) -> None:
        resource = self._store.catalog.by_kind(api, kind)
        thing = self._store.peek(resource, namespace, name) if resource is not None else None
        if resource is None or thing is None or metadata(thing).get("deletionTimestamp"):
            return
        group, plural, play = PLAYED[api, kind]
        parts = self._store.catalog.builtin(group, plural)
        there = self._store.items(parts, namespace)
        mine = [one for one in there if controller_of(one).get("uid") == uid_of(thing)]
        wanted, status = play(thing, mine, wire_time(self._writes.clock()))
        if status != thing.get("status"):
            self._writes.commit_update(resource, thing, {**thing, "status": status}, _AUTHOR)
        names, known = {name_of(one) for one in wanted}, {name_of(one) for one in there}
        for one in mine:
            if name_of(one) not in names and not metadata(one).get("deletionTimestamp"):
                self._writes.delete(parts, one, DeleteOptions(propagation="Background"))
        owner = {"apiVersion": api, "kind": kind, "name": name, "uid": uid_of(thing)}
        for one in wanted:
            if name_of(one) not in known:
                owned = {"namespace": namespace, "ownerReferences": [{**owner, "controller": True}]}
                made = {**one, "metadata": {**metadata(one), **owned}}
                where = resources.Resource(parts.group, parts.storage, parts.plural, parts.kind)
                await self._client.create(where.within(namespace), made)
        for one in wanted if plural == "replicasets" else ():
            self._scale(self._store.read(parts, namespace, name_of(one)), one)

    def _scale(self, there: Object, wanted: Object) -> None:
        count = wanted["spec"]["replicas"]
        if there["spec"].get("replicas") != count:
            scaled = {**there, "spec": {**there["spec"], "replicas": count}}
            self._writes.update(scaled, manager=_AUTHOR.name)


@asynccontextmanager
async def playing(server: EmbeddedServer) -> AsyncIterator[None]:
    """Play the controllers of these kinds on a server until the block ends."""
    async with (
        Client(Cluster.plain(server.url), user_agent=_AUTHOR.name) as client,
        asyncio.TaskGroup() as group,
    ):
        owners = Owners(server.store, client)
        task = group.create_task(owners.run(), name="owners")
        try:
            yield
        finally:
            task.cancel()
