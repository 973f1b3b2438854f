"""Simulated nodes: KWOK runs the pods that the real scheduler puts on them."""

from collections.abc import Iterable, Mapping

from e2e.api import Api, holds
from e2e.wire import Object

FAKE = "queueing.test/node"
"""Label of every simulated node; Jobs of `e2e.objects` select it."""
GROUP = "queueing.test/group"
POOL = {"queueing.test/pool": "standard"}
"""Labels of the session's nodes, for flavors that select nodes."""
NOT_READY = "node.kubernetes.io/not-ready"
HEALTHY = {"type": "Ready", "status": "True", "reason": "Simulated", "message": ""}


def make_nodes(
    api: Api,
    count: int,
    *,
    group: str = "node",
    resources: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    taints: Iterable[Mapping[str, str]] = (),
) -> list[str]:
    """Make `count` usable nodes (each 64 cpu, 256Gi unless said otherwise); return their names."""
    names = [f"{group}-{number:03}" for number in range(count)]
    for name in names:
        make_node(api, name, group=group, resources=resources, labels=labels, taints=taints)
    wait_usable(api, count, group=group)
    return names


def make_node(
    api: Api,
    name: str,
    *,
    group: str,
    resources: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    taints: Iterable[Mapping[str, str]] = (),
) -> None:
    """Make a node; it can be used soon after."""
    capacity = {"cpu": "64", "memory": "256Gi", "pods": "500", **(resources or {})}
    own_labels = {"kubernetes.io/hostname": name, FAKE: "fake", GROUP: group}
    api.create(_node(name, {**own_labels, **(labels or {})}, list(taints)))
    status = {"capacity": capacity, "allocatable": capacity, "conditions": [HEALTHY]}
    api.patch("Node", name, {"status": status}, subresource="status")


def wait_usable(api: Api, count: int, *, group: str) -> None:
    """Wait until so many nodes of a group can be used."""
    api.wait(
        "Node",
        lambda nodes: sum(_usable(node) for node in nodes) == count,
        labels=f"{GROUP}={group}",
        what=f"{count} usable nodes of group {group}",
    )


def delete_nodes(api: Api, names: Iterable[str]) -> None:
    """Delete nodes; the pods on them go with them."""
    for name in names:
        api.delete("Node", name)


def _node(name: str, labels: Mapping[str, str], taints: list[Mapping[str, str]]) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": dict(labels),
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
        "spec": {"taints": [dict(taint) for taint in taints]},
    }


def _usable(node: Object) -> bool:
    taints = node["spec"].get("taints") or []
    return holds(node, "Ready") and NOT_READY not in {taint["key"] for taint in taints}
