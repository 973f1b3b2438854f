"""Controllers of kinds that are not to be had as Go modules, played in one namespace of a test.

An actor looks at all objects of its kinds again and again, and makes what they are made of now.
What an object becomes of Jobs and pods is left to the real controllers and simulated nodes.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from typing import Any

import msgspec

from e2e.api import Api, holds
from e2e.described import kind_name
from e2e.objects import IMAGE
from e2e.wire import ApiError, Object
from e2e.world import World
from queueing.cli.local.owners import Made, job_set, ray_cluster
from queueing.kinds.pod_sets import PodSet
from tests.kinds.rows import ROWS, Row, viewed

JOB, POD = "Job", "Pod"
JOB_SET, TRAIN_JOB = "jobset.x-k8s.io/v1alpha2/JobSet", "trainer.kubeflow.org/v1alpha1/TrainJob"
RAY_CLUSTER, RAY_JOB = "ray.io/v1/RayCluster", "ray.io/v1/RayJob"
APP_WRAPPER = "workload.codeflare.dev/v1beta2/AppWrapper"
RUNTIME = "trainer.kubeflow.org/v1alpha1/ClusterTrainingRuntime"
OVER = "queueing.test/over"
"""Annotation of a RayJob whose entry point has ended, or that Ray refuses: how."""
ENDS = {
    "Succeeded": {
        "jobDeploymentStatus": "Complete",
        "jobStatus": "SUCCEEDED",
        "message": "trained",
    },
    "Failed": {"jobDeploymentStatus": "Failed", "jobStatus": "FAILED", "message": "oom"},
    "refused": {"jobDeploymentStatus": "ValidationFailed"},
}
EVERY_S = 0.3
_GONE = frozenset({404, 409})
Play = Callable[[Object, Sequence[Object], str], Made]


def ray_job(thing: Object, clusters: Sequence[Object], now: str) -> Made:
    """Return the RayCluster of a RayJob, with its labels, and its status."""
    del now
    over = (thing["metadata"].get("annotations") or {}).get(OVER)
    if over is not None:
        return [], ENDS[over]
    if thing["spec"].get("suspend"):
        return [], {"jobDeploymentStatus": "Suspended" if not clusters else "Suspending"}
    meta = {"name": f"{thing['metadata']['name']}-cluster", "labels": thing["metadata"]["labels"]}
    spec = thing["spec"]["rayClusterSpec"]
    made = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": meta, "spec": spec}
    states = [one.get("status", {}).get("state", "") for one in clusters]
    cluster = {"state": states[0] if states else ""}
    return [made], {"jobDeploymentStatus": "Running", "rayClusterStatus": cluster}


def train_job(thing: Object, sets: Sequence[Object], now: str, runtime: Object) -> Made:
    """Return the JobSet of a TrainJob, made of its runtime and patches, and its status."""
    del now
    meta = {"name": thing["metadata"]["name"], "labels": thing["metadata"]["labels"]}
    spec = deepcopy(runtime["spec"]["template"]["spec"])
    patches = thing["spec"].get("runtimePatches") or ()
    for patch in patches:
        merge(spec, (patch.get("trainingRuntimeSpec") or {}).get("template", {}).get("spec", {}))
    counts = [
        {key: value for key, value in one.items() if key != "suspended"}
        for one_set in sets
        for one in one_set.get("status", {}).get("replicatedJobsStatus", ())
    ]
    done = [one for one in sets if holds(one, "Completed")]
    ended = {"type": "Complete", "status": "True", "reason": "JobsCompleted", "message": "trained"}
    status = {"jobsStatus": counts, **({"conditions": [ended]} if done else {})}
    body = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": meta}
    wanted = [] if thing["spec"].get("suspend") and not done else [{**body, "spec": spec}]
    return wanted, status


def app_wrapper(thing: Object, jobs: Sequence[Object], now: str) -> Made:
    """Return the Job that an AppWrapper wraps, with what its pod set got, and its status."""
    del now
    (component,) = thing["spec"]["components"]
    made = deepcopy(component["template"])
    infos: list[Object] = component.get("podSetInfos") or [{}]
    (info,) = infos
    metadata = {key: info[key] for key in ("labels", "annotations") if key in info}
    rest = {key: value for key, value in info.items() if key not in metadata}
    merge(made["spec"]["template"], {"metadata": metadata, "spec": rest})
    if (
        any(holds(one, "Failed") for one in jobs)
        or thing.get("status", {}).get("phase") == "Failed"
    ):
        return [], {"phase": "Failed", "conditions": [condition("ResourcesDeployed", true=False)]}
    done = [one for one in jobs if holds(one, "Complete")]
    if thing["spec"].get("suspend") and not done:
        held = [condition("QuotaReserved", true=bool(jobs))]
        return [], {"phase": "Suspended", "conditions": held}
    ready = any(one.get("status", {}).get("ready") for one in jobs)
    states = [condition("QuotaReserved", true=not done), condition("PodsReady", true=ready)]
    return [made], {"phase": "Succeeded" if done else "Running", "conditions": states}


def of_pods(row: Row) -> Play:
    """Return what plays a kind by what its description reads: pods by its pod sets, statuses."""
    running = {**row.statuses["active"], **row.statuses["ready"]}

    def play(thing: Object, pods: Sequence[Object], now: str) -> Made:
        del now
        view, name = viewed(row, thing), thing["metadata"]["name"]
        if view.ended is not None:
            return list(pods), thing["status"]
        wanted = (
            [] if view.suspended else [pod for one in view.pod_sets for pod in made_of(name, one)]
        )
        phases = Counter(one["status"].get("phase") for one in pods)
        if wanted and phases["Failed"]:
            return list(pods), row.statuses["failed"]
        if wanted and phases["Succeeded"] == len(wanted):
            return list(pods), row.statuses["succeeded"]
        if wanted and phases["Running"] + phases["Succeeded"] == len(wanted):
            return wanted, running
        # Who is about to make pods says so before.
        return wanted, row.statuses["active"] if wanted or pods else {}

    return play


def made_of(name: str, pod_set: PodSet) -> Iterator[Object]:
    """Yield the pods of a pod set."""
    template = msgspec.json.decode(pod_set.template)
    for at in range(pod_set.count):
        meta = {**template.get("metadata", {}), "name": f"{name}-{pod_set.name}-{at}"}
        spec = {**template["spec"], "restartPolicy": "Never"}
        for container in spec["containers"]:  # those of Spark get theirs from its operator
            container.setdefault("image", IMAGE)
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def condition(kind: str, *, true: bool) -> Object:
    return {"type": kind, "status": str(true), "reason": "Played", "message": ""}


def merge(into: Any, more: Mapping[str, Any]) -> None:
    """Merge fields into an object; entries of a list go to those of the same name."""
    for key, value in more.items():
        there = into.get(key)
        if isinstance(value, Mapping) and isinstance(there, dict):
            merge(there, value)
        elif isinstance(there, list) and any(isinstance(one, Mapping) for one in value):
            for one in value:
                same = [each for each in there if each.get("name") == one.get("name")]
                merge(same[0], one) if same and "name" in one else there.append(one)
        else:
            into[key] = deepcopy(value)


class Actor:
    """Plays the controllers of some kinds in a namespace."""

    def __init__(self, space: World, kinds: Mapping[str, tuple[str, Play]]) -> None:
        self._api: Api = space.cluster.api()
        self._namespace, self._kinds = space.namespace, kinds
        self.problems: list[str] = []

    def run(self, over: threading.Event) -> None:
        """Act until told to end; what is being changed by others is looked at again."""
        while not over.wait(EVERY_S):
            for kind, (below, play) in self._kinds.items():
                for thing in self._items(kind):
                    try:
                        self._look(kind, thing, below, play)
                    except ApiError as error:
                        if error.status not in _GONE:
                            self.problems.append(f"{kind}: {error}")

    def _items(self, kind: str) -> list[Object]:
        with suppress(OSError):
            return self._api.items(kind, self._namespace)
        return []

    def _look(self, kind: str, thing: Object, below: str, play: Play) -> None:
        meta, there = thing["metadata"], self._items(below)
        mine = [one for one in there if meta["uid"] in controllers_of(one)]
        wanted, status = play(thing, mine, meta["creationTimestamp"])
        api, namespace = self._api, self._namespace
        if status != thing.get("status"):
            known = dict.fromkeys(thing.get("status") or {})
            where = {"namespace": namespace, "subresource": "status"}
            api.patch(kind, meta["name"], {"status": {**known, **status}}, **where)
        names = {one["metadata"]["name"] for one in wanted}
        for one in mine:
            if one["metadata"]["name"] not in names:
                api.delete(below, one["metadata"]["name"], namespace)
        group_version, _, name = kind.rpartition("/")
        owner = {"apiVersion": group_version, "kind": name, "name": meta["name"]}
        reference = {**owner, "uid": meta["uid"], "controller": True}
        known_names = {one["metadata"]["name"] for one in there}
        for one in wanted:
            if one["metadata"]["name"] not in known_names and not meta.get("deletionTimestamp"):
                owned = {"namespace": namespace, "ownerReferences": [reference]}
                api.create({**one, "metadata": {**one["metadata"], **owned}})


def controllers_of(one: Object) -> set[str]:
    owners = one["metadata"].get("ownerReferences", ())
    return {owner["uid"] for owner in owners if owner.get("controller")}


@contextmanager
def acting(space: World, *kinds: str, runtime: Object | None = None) -> Iterator[None]:
    """Play the controllers of these kinds in the namespace of a test."""
    plays: dict[str, tuple[str, Play]] = {
        JOB_SET: (JOB, job_set),
        RAY_CLUSTER: (POD, ray_cluster),
        RAY_JOB: (RAY_CLUSTER, ray_job),
        APP_WRAPPER: (JOB, app_wrapper),
        TRAIN_JOB: (JOB_SET, lambda one, sets, now: train_job(one, sets, now, runtime or {})),
    }
    suspended = {kind_name(row): row for row in ROWS if row.stopped_by == "suspension"}
    plays |= {one: (POD, of_pods(suspended[one])) for one in suspended.keys() - plays.keys()}
    actor = Actor(space, {one: plays[one] for one in kinds})
    over = threading.Event()
    thread = threading.Thread(target=actor.run, args=(over,))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert not actor.problems, actor.problems
