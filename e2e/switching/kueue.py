"""Objects as Kueue writes them: names, marks, finalizers, conditions, and who owns which field."""

import copy
import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from e2e.api import APPLY, Api
from e2e.identities import CONTROLLER_NAMESPACE
from e2e.kinds import KINDS, KUEUE
from e2e.nodes import POOL
from e2e.product import LEASE
from e2e.wire import Object

IN_USE = "kueue.x-k8s.io/resource-in-use"
MANAGER, ADMISSION, JOBS = "kueue", "kueue-admission", "kueue-job-controller"
HOLDER = "kueue-controller-manager-7d9c6b5f4-x2x2x_0c7b9f0e"
TOLERATION = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}


def workload_name(job: Object) -> str:
    """Return the name that Kueue gives a Job's Workload."""
    meta = job["metadata"]
    text = f"Job\nbatch\n{meta['name']}\n{meta['uid']}"
    digest = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
    return f"job-{meta['name']}-{digest[:5]}"


def write(api: Api, verb: str, item: Object, manager: str, subresource: str = "") -> Object:
    """Create, or server-side apply, as one of Kueue's field managers."""
    resource, meta = KINDS[item["kind"]], item["metadata"]
    query = {"fieldManager": manager}
    if verb == "POST":
        path = resource.path(meta.get("namespace"))
        return dict(api.wire.call("POST", path, query=query, body=item))
    path = resource.path(meta.get("namespace"), meta["name"], subresource)
    query["force"] = "true"
    return dict(api.wire.call("PATCH", path, query=query, body=item, content_type=APPLY))


def compose(job: Object, queue: str) -> Object:
    """Return the Workload that Kueue makes for a Job."""
    meta = job["metadata"]
    template = copy.deepcopy(job["spec"]["template"])
    template["metadata"].pop("creationTimestamp", None)
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": meta["name"], "uid": meta["uid"]}
    return {
        "apiVersion": KUEUE,
        "kind": "Workload",
        "metadata": {
            "name": workload_name(job),
            "namespace": meta["namespace"],
            "labels": {"kueue.x-k8s.io/job-uid": meta["uid"]},
            "annotations": {
                "kueue.x-k8s.io/job-owner-gvk": "batch/v1, Kind=Job",
                "kueue.x-k8s.io/job-owner-name": meta["name"],
            },
            "finalizers": [IN_USE],
            "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
        },
        "spec": {
            "podSets": [
                {"name": "main", "count": job["spec"]["parallelism"], "template": template}
            ],
            "queueName": queue,
            "priority": 0,
            "active": True,
        },
    }


def conditions(*given: tuple[str, bool, str, str]) -> list[Object]:
    """Return conditions: type, status, reason and message."""
    since = (datetime.now(UTC) - timedelta(seconds=30)).isoformat(timespec="seconds")
    return [
        {
            "type": kind,
            "status": str(true),
            "reason": reason,
            "message": message,
            "observedGeneration": 1,
            "lastTransitionTime": since.replace("+00:00", "Z"),
        }
        for kind, true, reason, message in given
    ]


def apply_status(api: Api, workload: Object, status: Mapping[str, Any], manager: str) -> Object:
    """Server-side apply a part of a Workload's status."""
    meta = workload["metadata"]
    item = {
        "apiVersion": KUEUE,
        "kind": "Workload",
        "metadata": {"name": meta["name"], "namespace": meta["namespace"]},
        "status": dict(status),
    }
    return write(api, "PATCH", item, manager, "status")


def reservation(workload: Object, cluster_queue: str, flavor: str, cpu: str) -> Object:
    """Return what `status.admission` says."""
    assignment = {
        "name": "main",
        "count": workload["spec"]["podSets"][0]["count"],
        "flavors": {"cpu": flavor},
        "resourceUsage": {"cpu": cpu},
    }
    return {"clusterQueue": cluster_queue, "podSetAssignments": [assignment]}


def reserved(cluster_queue: str) -> tuple[str, bool, str, str]:
    return "QuotaReserved", True, "QuotaReserved", f"Quota reserved in ClusterQueue {cluster_queue}"


ADMITTED = ("Admitted", True, "Admitted", "The workload is admitted")
READY = ("PodsReady", True, "Started", "All pods reached readiness and the workload is running")


def unsuspend(api: Api, job: Object, workload: Object, queues: Sequence[str]) -> Object:
    """Start a Job as Kueue does, with its flavor's labels and tolerations and Kueue's marks."""
    cluster_queue, local_queue = queues
    own = job["spec"]["template"]
    marks = {
        "kueue.x-k8s.io/podset": "main",
        "kueue.x-k8s.io/cluster-queue-name": cluster_queue,
        "kueue.x-k8s.io/local-queue-name": local_queue,
    }
    name = {"kueue.x-k8s.io/workload": workload["metadata"]["name"]}
    selector = {**own["spec"].get("nodeSelector", {}), **POOL}
    tolerations = [*own["spec"].get("tolerations", []), TOLERATION]
    template = {
        "metadata": {"labels": marks, "annotations": name},
        "spec": {"nodeSelector": selector, "tolerations": tolerations},
    }
    meta = job["metadata"]
    change = {"spec": {"suspend": False, "template": template}}
    return api.patch("Job", meta["name"], change, namespace=meta["namespace"])


def hold_lease(api: Api, holder: str) -> None:
    """Let Kueue hold the Lease, or with no holder release it."""
    now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    spec = {
        "holderIdentity": holder,
        "leaseDurationSeconds": 15 if holder else 1,
        "acquireTime": now,
        "renewTime": now,
        "leaseTransitions": 0,
    }
    item = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": LEASE, "namespace": CONTROLLER_NAMESPACE},
        "spec": spec,
    }
    api.apply(item, manager="kueue")
