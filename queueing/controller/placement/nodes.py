"""Tells the engine which nodes there are, and what pods use of them that no topology placed."""

from collections.abc import Callable

from queueing.core.facts import Fact, Gone, Kind, NodeUsageFact
from queueing.core.topology.tree import Amounts, Sums, add_at
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent
from queueing.translate.inbound import placement
from queueing.translate.wire.nodes import BoundPod, Node


class Nodes:
    """Handles watch events of nodes and of pods on nodes.

    What pods give back is told by `tell_freed`, at intervals: it wakes who waits for a place.
    """

    def __init__(self, observe: Callable[[Fact], None]) -> None:
        self._observe = observe
        self._pods: dict[str, tuple[str, Amounts]] = {}
        """Uid → node and usage."""
        self._sums: Sums = {}
        self._freed: dict[str, None] = {}

    def on_node(self, event: WatchEvent[Node]) -> None:
        match event:
            case Added(object=found) | Modified(object=found):
                self._observe(placement.node(found))
            case Deleted(key=name):
                self._observe(Gone(Kind.NODE, name))
            case Synced():
                pass

    def on_pod(self, event: WatchEvent[BoundPod]) -> None:
        match event:
            case Added(object=found) | Modified(object=found):
                self._put(found)
            case Deleted(uid=uid):
                self._drop(uid)
            case Synced():
                pass

    def tell_freed(self) -> None:
        """Tell of nodes on which pods have ended since the last call."""
        freed, self._freed = self._freed, {}
        for node in freed:
            self._tell(node)

    def _put(self, pod: BoundPod) -> None:
        uid = pod.metadata.uid
        if not pod.runs or pod.metadata.is_placed:
            self._drop(uid)
            return
        node, usage = pod.spec.node_name, placement.pod_usage(pod.spec)
        known = self._pods.get(uid)
        if known == (node, usage):
            return
        if known is not None:
            add_at(self._sums, *known, -1)
        self._pods[uid] = node, usage
        add_at(self._sums, node, usage)
        self._freed.pop(node, None)
        self._tell(node)

    def _drop(self, uid: str) -> None:
        known = self._pods.pop(uid, None)
        if known is not None:
            add_at(self._sums, *known, -1)
            self._freed[known[0]] = None

    def _tell(self, node: str) -> None:
        self._observe(NodeUsageFact(name=node, usage=dict(self._sums.get(node, {}))))
