"""Which node a pod fits on: selectors, affinity, taints, room."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from queueing.apiserver.memory.selectors import labels_of, requirement
from queueing.apiserver.tree import Object, dig, metadata, name_of
from queueing_api.quantity import amount

Amounts = dict[str, int]


@dataclass(slots=True)
class NodeInfo:
    """A node and what its pods leave free."""

    node: Object
    free: Amounts
    pods: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)

    def take(self, requests: Amounts) -> None:
        self.pods += 1
        for name, value in requests.items():
            self.free[name] = self.free.get(name, 0) - value

    def give(self, requests: Amounts) -> None:
        self.pods -= 1
        for name, value in requests.items():
            self.free[name] = self.free.get(name, 0) + value


def room_of(node: Object) -> NodeInfo:
    """Return an empty node's room."""
    allocatable = dig(node, "status", "allocatable", default={}) or {}
    free = {name: amount(name, text) for name, text in allocatable.items()}
    return NodeInfo(node, free, labels=labels_of(node))


def requests_of(pod: Object) -> Amounts:
    """Return what the pod takes from a node: its containers' requests, one pod, its overhead."""
    spec = pod.get("spec") or {}
    total: Amounts = {"pods": 1}
    for container in spec.get("containers") or ():
        _add(total, dig(container, "resources", "requests", default={}))
    for container in spec.get("initContainers") or ():
        for name, text in (dig(container, "resources", "requests", default={}) or {}).items():
            total[name] = max(total.get(name, 0), amount(name, text))
    _add(total, spec.get("overhead") or {})
    return total


def _add(total: Amounts, requests: Mapping[str, str] | None) -> None:
    for name, text in (requests or {}).items():
        total[name] = total.get(name, 0) + amount(name, text)


def chosen(pod: Object, rooms: Iterable[NodeInfo]) -> NodeInfo | None:
    """Return the fitting node with the fewest pods, first by name; None when none fits."""
    requests = requests_of(pod)
    fitting = [room for room in rooms if _fits(pod, room, requests)]
    return min(fitting, key=lambda room: (room.pods, name_of(room.node)), default=None)


def _fits(pod: Object, room: NodeInfo, requests: Amounts) -> bool:
    if any(room.free.get(name, 0) < value for name, value in requests.items()):
        return False
    spec = pod.get("spec") or {}
    node_spec = room.node.get("spec") or {}
    if node_spec.get("unschedulable") or metadata(room.node).get("deletionTimestamp"):
        return False
    selector = spec.get("nodeSelector") or {}
    if any(room.labels.get(name) != value for name, value in selector.items()):
        return False
    if not _affine(spec, room.labels):
        return False
    tolerations = spec.get("tolerations") or []
    return all(tolerated(taint, tolerations) for taint in node_spec.get("taints") or ())


def _affine(spec: Object, labels: Mapping[str, str]) -> bool:
    word = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = dig(spec, "affinity", "nodeAffinity", word, "nodeSelectorTerms")
    if not terms:
        return True
    return any(
        all(
            requirement(entry["key"], entry["operator"], frozenset(entry.get("values") or ()))(
                labels
            )
            for entry in term.get("matchExpressions") or ()
        )
        for term in terms
    )


def tolerated(taint: Object, tolerations: Iterable[Object]) -> bool:
    """Tell whether a taint keeps no pod with these tolerations away."""
    if taint.get("effect") not in ("NoSchedule", "NoExecute"):
        return True
    return any(_covers(toleration, taint) for toleration in tolerations)


def _covers(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    exists = toleration.get("operator") == "Exists"
    if exists and not toleration.get("key"):
        return True
    if toleration.get("key") != taint.get("key"):
        return False
    return exists or (toleration.get("value") or "") == (taint.get("value") or "")
