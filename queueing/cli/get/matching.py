"""Which of the objects are asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from queueing.cli.get.states import State, owners, state_of, why


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What an object must be to be listed; what is empty does not matter."""

    name: str = ""
    queue: str = ""
    """Of Workloads: their LocalQueue. Of queues: their ClusterQueue."""
    state: str = ""
    reason: str = ""
    owner: str = ""
    """`job/train`, or the name alone."""

    def matches(self, kind: str, value: Mapping[str, Any]) -> bool:
        """Say whether an object of a kind is one of them."""
        if self.name and value["metadata"]["name"] != self.name:
            return False
        spec = value.get("spec") or {}
        if kind != "workloads":
            return self.queue in {"", spec.get("clusterQueue"), value["metadata"]["name"]}
        if self.queue and spec.get("queueName") != self.queue:
            return False
        if self.state and state_of(value) != State(self.state):
            return False
        if self.reason and why(value)[0] != self.reason:
            return False
        return not self.owner or any(
            self.owner in {one, one.partition("/")[2]} for one in owners(value)
        )
