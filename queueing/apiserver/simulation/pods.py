"""The states of a pod as a kubelet reports them."""

from queueing.apiserver.simulation.annotations import last_words
from queueing.apiserver.tree import Object, dig, with_value


def bound(pod: Object, node: str, now: str) -> Object:
    """Return the pod with a node."""
    placed = with_value(pod, ("spec", "nodeName"), node)
    return _with_conditions(placed, {"PodScheduled": ("True", "")}, now)


def unschedulable(pod: Object, nodes: int, now: str) -> Object:
    """Return the pod with the condition that says that no node has room."""
    message = f"0/{nodes} nodes are available: no node matches the pod's constraints and requests."
    made = _with_conditions(pod, {"PodScheduled": ("False", "Unschedulable")}, now)
    conditions = [
        {**c, "message": message} if c["type"] == "PodScheduled" else c
        for c in made["status"]["conditions"]
    ]
    return with_value(made, ("status", "conditions"), conditions)


def running(pod: Object, address: str, now: str) -> Object:
    """Return the pod with all its containers running and ready."""
    ready = dict.fromkeys(("Initialized", "ContainersReady", "Ready"), ("True", ""))
    made = _with_conditions(pod, ready, now)
    states = [_container(c, {"running": {"startedAt": now}}, ready=True) for c in _containers(pod)]
    status = {
        **made["status"],
        "phase": "Running",
        "startTime": now,
        "podIP": address,
        "podIPs": [{"ip": address}],
        "hostIP": "127.0.0.1",
        "containerStatuses": states,
    }
    return {**made, "status": status}


def ended(pod: Object, now: str, *, failed: bool) -> Object:
    """Return the pod after its containers ended."""
    gone = dict.fromkeys(
        ("ContainersReady", "Ready"), ("False", "PodFailed" if failed else "PodCompleted")
    )
    made = _with_conditions(pod, gone, now)
    final = {
        "exitCode": 1 if failed else 0,
        "reason": "Error" if failed else "Completed",
        "startedAt": dig(pod, "status", "startTime", default=now),
        "finishedAt": now,
        **({"message": said} if (said := last_words(pod)) else {}),
    }
    states = [_container(c, {"terminated": final}, ready=False) for c in _containers(pod)]
    phase = "Failed" if failed else "Succeeded"
    return {**made, "status": {**made["status"], "phase": phase, "containerStatuses": states}}


def _containers(pod: Object) -> list[Object]:
    found: list[Object] = dig(pod, "spec", "containers", default=[])
    return found


def _container(container: Object, state: Object, *, ready: bool) -> Object:
    return {
        "name": container.get("name"),
        "image": container.get("image"),
        "imageID": "",
        "ready": ready,
        "started": ready,
        "restartCount": 0,
        "state": state,
    }


def _with_conditions(pod: Object, wanted: dict[str, tuple[str, str]], now: str) -> Object:
    kept = [c for c in dig(pod, "status", "conditions", default=[]) if c.get("type") not in wanted]
    made = [
        {
            "type": kind,
            "status": value,
            "lastProbeTime": None,
            "lastTransitionTime": now,
            **({"reason": reason} if reason else {}),
        }
        for kind, (value, reason) in wanted.items()
    ]
    return with_value(pod, ("status", "conditions"), [*kept, *made])
