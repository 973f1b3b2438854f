"""Pods as they are after their creation: the embedded server has no policies that gate them."""

from typing import Any

from queueing.translate.labels import GATE, MANAGED
from tests.controller.harness import FLAVOR, LOCAL_QUEUE, Wire, cluster_queue

ON: dict[str, Any] = {"integrations": {"frameworks": ["batch/job", "pod"]}}
PREEMPTING: Wire = {"withinClusterQueue": "LowerPriority"}
HIGH: Wire = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "WorkloadPriorityClass",
    "metadata": {"name": "high"},
    "value": 1000,
}
GROUP = "kueue.x-k8s.io/pod-group-name"
TOTAL = "kueue.x-k8s.io/pod-group-total-count"


def setup(cpu: str = "2") -> list[Wire]:
    return [FLAVOR, cluster_queue(cpu, preemption=PREEMPTING), LOCAL_QUEUE, HIGH]


def pod(
    name: str,
    cpu: str = "1",
    *,
    seconds: float = 600,
    finalizers: tuple[str, ...] = (MANAGED,),
    annotations: Wire | None = None,
    **labels: str,
) -> Wire:
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    marks = {"kueue.x-k8s.io/queue-name": "lq", MANAGED: "true"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "team",
            "labels": {**marks, **{key.replace("_", "/"): value for key, value in labels.items()}},
            "annotations": {"queueing.dev/simulate-seconds": str(seconds), **(annotations or {})},
            "finalizers": list(finalizers),
        },
        "spec": {
            "restartPolicy": "Never",
            "schedulingGates": [{"name": GATE}],
            "containers": [container],
        },
    }


def member(name: str, total: int, group: str = "crew", **more: Any) -> Wire:
    notes = {TOTAL: str(total), GROUP: group, **more.pop("annotations", {})}
    return pod(name, annotations=notes, **more)


def phase(value: str) -> Any:
    return lambda one: one.get("status", {}).get("phase") == value


def gated(one: Wire) -> bool:
    return bool(one["spec"].get("schedulingGates"))


def deleting(one: Wire) -> bool:
    return "deletionTimestamp" in one["metadata"]
