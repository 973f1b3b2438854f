"""What the forest is told of objects: flavors, their topologies, nodes, and what others use there.

Called by `state.memory.objects` whenever one of these changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from queueing.core.facts import FlavorFact, NodeDevicesFact, NodeUsageFact, TopologyFact
from queueing.core.names import FlavorName
from queueing.core.topology.forest import Forest
from queueing.core.topology.tree import Node

OfNode = Node | NodeUsageFact | NodeDevicesFact


@dataclass(slots=True)
class NodesOfFlavors:
    """The forest, and the flavors that it was told of."""

    forest: Forest
    flavors: dict[FlavorName, FlavorFact] = field(default_factory=dict)
    """The flavors, joined with the levels of their topologies."""
    _told: dict[FlavorName, tuple[FlavorFact, tuple[TopologyFact, ...]]] = field(
        default_factory=dict
    )
    """What the forest was told of flavors: all but what their devices offer, and the topologies."""

    def join(
        self, name: FlavorName, flavor: FlavorFact | None, topologies: Mapping[str, TopologyFact]
    ) -> None:
        """Join a flavor, None if it is gone, with the levels of its topologies; tell the forest."""
        self.flavors.pop(name, None)
        if flavor is None:
            self._told.pop(name, None)
            self.forest.drop_flavor(name)
            return
        named = (flavor.topology or "", *flavor.nearer)
        known = tuple(topologies[one] for one in named if one in topologies)
        told = (replace(flavor, devices={}), known)
        if self._told.get(name) != told:
            self._told[name] = told
            self.forest.drop_flavor(name)
            self._tell(flavor, topologies)
        levels = self.forest.levels(name) if self.forest.has(name) else None
        self.flavors[name] = replace(flavor, levels=levels)

    def _tell(self, flavor: FlavorFact, topologies: Mapping[str, TopologyFact]) -> None:
        name, forest = flavor.name, self.forest
        topology = topologies.get(flavor.topology or "")
        labels, tolerations = flavor.node_labels, flavor.tolerations
        forest.serve(name, flavor.on_nodes)
        if topology is not None and topology.levels:
            forest.put_flavor(
                name, topology.name, topology.levels, node_labels=labels, tolerations=tolerations
            )
            nearer = [topologies[one] for one in flavor.nearer if one in topologies]
            forest.put_nearer(name, {one.name: one.levels for one in nearer if one.levels})
            forest.tree(name).spreads = flavor.spreads
        elif flavor.fixed:
            forest.put_offer(name, node_labels=labels, tolerations=tolerations)

    def change(self, one: OfNode, *, is_gone: bool) -> bool:
        """Tell the forest of a change of a node; say whether there may be more room on it."""
        match one:
            case Node(name=name):
                self.forest.drop_node(name) if is_gone else self.forest.put_node(one)
                return self.forest.is_used
            case NodeUsageFact(name=name):
                return self.forest.set_others(name, {} if is_gone else one.usage)
            case NodeDevicesFact(name=name):
                return self.forest.set_devices(name, {} if is_gone else one.free)
