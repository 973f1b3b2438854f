"""What serves from a queue on a real control plane: manifests, their pods, and a controller played.

Deployments, StatefulSets and CronJobs have their real controllers; that of LeaderWorkerSets is
played here, because it is not to be had.
"""

import copy
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import yaml

from e2e.api import Api, WaitTimeoutError, holds
from e2e.contended import make_contended_queue
from e2e.objects import QUEUE_NAME, Pods, job
from e2e.wire import ApiError, Object
from e2e.world import World
from tests.controller.pod_owners.actor import of_groups

EXAMPLES = Path(__file__).parent.parent / "examples"
GATE = "kueue.x-k8s.io/admission"
LWS = "leaderworkerset.x-k8s.io/v1/LeaderWorkerSet"
AGAIN_S, UP_S = 0.1, 60.0


def example(name: str, space: World, **spec: Any) -> Object:
    """Return a manifest of the examples for a test's namespace and queue `main`."""
    made = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text())
    made["metadata"]["namespace"] = space.namespace
    if spec:
        made["spec"] |= spec
    return dict(made)


def make_queue(space: World, cpu: int) -> None:
    """Make the queue `main`, with a class that preempts."""
    quotas = {"cpu": str(cpu), "memory": "1000Gi"}
    make_contended_queue(space, quotas, name="main")


def make_urgent(space: World, cpu: int) -> None:
    """Make a Job that preempts, of one pod."""
    labels = {"kueue.x-k8s.io/priority-class": space.name("urgent")}
    pods = Pods(cpu=str(cpu), run_s=None)
    space.make(job(space.namespace, "urgent", queue="main", labels=labels, pods=pods))


def pods_of(space: World, start: str) -> list[Object]:
    """Return the pods whose names begin so, and that are not being deleted."""
    return [
        one
        for one in space.api.items("Pod", space.namespace)
        if one["metadata"]["name"].startswith(start) and "deletionTimestamp" not in one["metadata"]
    ]


def workloads_of(space: World, start: str) -> list[Object]:
    """Return the Workloads whose names begin so."""
    found = space.api.items("Workload", space.namespace)
    return [one for one in found if one["metadata"]["name"].startswith(start)]


def is_gated(pod: Object) -> bool:
    return any(one["name"] == GATE for one in pod["spec"].get("schedulingGates", ()))


def runs(pod: Object) -> bool:
    return bool(pod.get("status", {}).get("phase") == "Running")


def wait_pods(space: World, start: str, *, running: int, gated: int = 0) -> list[Object]:
    """Wait until so many pods run and so many wait, and there are no others."""

    def settled() -> bool:
        found = pods_of(space, start)
        counts = sum(map(runs, found)), sum(map(is_gated, found))
        return counts == (running, gated) and len(found) == running + gated

    until(settled, lambda: f"{running} pods run and {gated} wait: {told(pods_of(space, start))}")
    return pods_of(space, start)


def wait_workloads(space: World, start: str, *, admitted: int, waiting: int = 0) -> list[Object]:
    """Wait until so many Workloads are admitted and so many wait, and there are no others."""

    def settled() -> bool:
        found = workloads_of(space, start)
        reserved = sum(holds(one, "Admitted") for one in found)
        return reserved == admitted and len(found) == admitted + waiting

    def what() -> str:
        names = [
            f"{one['metadata']['name']} {holds(one, 'Admitted')}"
            for one in workloads_of(space, start)
        ]
        return f"{admitted} Workloads are admitted and {waiting} wait: {names}"

    until(settled, what)
    return workloads_of(space, start)


def told(pods: list[Object]) -> list[str]:
    return [
        f"{one['metadata']['name']} {one.get('status', {}).get('phase')}"
        f"{' gated' if is_gated(one) else ''}"
        for one in pods
    ]


def until(holds: Callable[[], bool], what: Callable[[], str]) -> None:
    """Ask again and again for what no single watch shows."""
    deadline = time.monotonic() + UP_S
    while not holds():
        if time.monotonic() > deadline:
            raise WaitTimeoutError(f"not in {UP_S:.0f} s: {what()}")
        time.sleep(AGAIN_S)


def refusal(change: Callable[[], object]) -> str:
    """Return why a change is refused; empty when it is not."""
    try:
        change()
    except ApiError as error:
        return error.message
    return ""


@contextmanager
def groups_played(api: Api, namespace: str) -> Iterator[None]:
    """Make the pods of the LeaderWorkerSets of a namespace, as their controller does.

    A group of which a pod was deleted is deleted and made again (`RecreateGroupOnPodRestart`).
    """
    ended = Event()

    def play() -> None:
        while not ended.wait(AGAIN_S):
            for one in api.items(LWS, namespace):
                _play(api, one)

    thread = Thread(target=play, name="leader worker sets", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _play(api: Api, owner: Object) -> None:
    namespace, uid = owner["metadata"]["namespace"], owner["metadata"]["uid"]
    mine = {
        one["metadata"]["name"]: one
        for one in api.items("Pod", namespace)
        if any(ref["uid"] == uid for ref in one["metadata"].get("ownerReferences", ()))
    }
    wanted = {} if "deletionTimestamp" in owner["metadata"] else _wanted(owner)
    leaving = {_group(one) for one in mine.values() if "deletionTimestamp" in one["metadata"]}
    for name, pod in mine.items():
        goes = name not in wanted or _group(pod) in leaving
        if goes and "deletionTimestamp" not in pod["metadata"]:
            api.delete("Pod", name, namespace)
    for name, pod in wanted.items():
        if name not in mine and _group(pod) not in leaving:
            refusal(lambda: api.create(pod))  # noqa: B023 - another round comes if it is too early
    ready = sum(map(runs, mine.values())) // owner["spec"]["leaderWorkerTemplate"]["size"]
    status = {"replicas": len({_group(one) for one in mine.values()}), "readyReplicas": ready}
    if owner.get("status") != status:
        body = {"status": status}
        kind, name = f"{owner['apiVersion']}/{owner['kind']}", owner["metadata"]["name"]
        refusal(lambda: api.patch(kind, name, body, namespace=namespace, subresource="status"))


def _wanted(owner: Object) -> dict[str, Object]:
    found = {}
    for pod in of_groups(owner):
        bare = copy.deepcopy(pod)
        bare["metadata"]["namespace"] = owner["metadata"]["namespace"]
        # The API server gives these, by the marks of the template.
        bare["spec"].pop("schedulingGates", None)
        bare["metadata"]["labels"].pop("kueue.x-k8s.io/managed", None)
        found[bare["metadata"]["name"]] = bare
    return found


def _group(pod: Object) -> str:
    return str(pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/group-index"])


def made_by(owner: Object, **metadata: Any) -> Object:
    """Return the metadata of what another controller makes for an object."""
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }
    return {
        "namespace": owner["metadata"]["namespace"],
        "ownerReferences": [reference],
        **metadata,
    }


def queue_of(thing: Object) -> Object:
    """Return the label of a queue that an object has."""
    return {QUEUE_NAME: thing["metadata"]["labels"][QUEUE_NAME]}
