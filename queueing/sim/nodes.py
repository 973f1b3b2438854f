"""Warnings about Nodes on which a plan places nothing, though somebody may have meant it to."""

from collections.abc import Iterable, Iterator

from queueing.core.topology.requests import PODS
from queueing.translate.wire import nodes, queues


def unused_nodes(
    found: Iterable[nodes.Node],
    flavors: Iterable[queues.ResourceFlavor],
    topologies: Iterable[queues.Topology],
) -> list[str]:
    """Return a sentence per reason for which nodes are left out, naming the first of them."""
    levels = {
        one.metadata.name: [level.node_label for level in one.spec.levels] for one in topologies
    }
    first: dict[str, list[str]] = {}
    known, told = list(found), list[str]()
    for node in known:
        for why in _faults(node):
            first.setdefault(why, []).append(node.metadata.name)
    for flavor in flavors:
        name, topology = flavor.metadata.name, flavor.spec.topology_name
        wanted = flavor.spec.node_labels.items()
        mine = [one for one in known if wanted <= one.metadata.labels.items()]
        if topology and known and not mine:
            told.append(f"ResourceFlavor {name}: no Node has its labels, so it places nothing")
        for node in mine:
            for level in levels.get(topology, ()):
                if level not in node.metadata.labels:
                    why = f"without the label {level} ResourceFlavor {name} places nothing there"
                    first.setdefault(why, []).append(node.metadata.name)
    return [*(_sentence(names, why) for why, names in first.items()), *told]


def _faults(node: nodes.Node) -> Iterator[str]:
    if all(one.type != "Ready" for one in node.status.conditions):
        yield "its status has no condition Ready, so nothing is placed there"
    if PODS not in node.status.offers:
        yield "its status offers no pods, so nothing is placed there"


def _sentence(names: list[str], why: str) -> str:
    more = f" ({len(names)} Nodes, this is the first)" if len(names) > 1 else ""
    return f"Node {names[0]}: {why}{more}"
