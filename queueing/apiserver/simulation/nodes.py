"""Nodes as a test or a demo describes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from queueing.apiserver.tree import Object


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeShape:
    """A node to be made: what it offers, and who may use it."""

    name: str
    allocatable: Mapping[str, str]
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, str], ...] = ()

    def wire(self, now: str) -> Object:
        offer = {"pods": "110", **self.allocatable}
        ready = {
            "type": "Ready",
            "status": "True",
            "reason": "KubeletReady",
            "message": "simulated",
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": self.name,
                "labels": {"kubernetes.io/hostname": self.name, **self.labels},
            },
            "spec": {"taints": [dict(taint) for taint in self.taints]} if self.taints else {},
            "status": {
                "capacity": offer,
                "allocatable": offer,
                "conditions": [ready],
                "nodeInfo": {"kubeletVersion": "v1.36.3-simulated", "operatingSystem": "linux"},
            },
        }
