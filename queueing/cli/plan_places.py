"""Where the pods of a plan go: a tree of domains for each pod set that has places.

Of pods on hosts a plan names the hosts alone, as Workloads do; what is around these is read from
the labels of the Nodes that were planned with.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.console import Group
from rich.tree import Tree

from queueing.cli.tables import rendered
from queueing.cli.topology.drawing import seated
from queueing.core.facts import FlavorFact, TopologyFact
from queueing.core.topology.assignment import HOSTNAME
from queueing.core.topology.encoding import decode
from queueing.core.topology.tree import Node

Path = tuple[str, ...]


class PlanPlaces:
    """The topologies, flavors and nodes of a plan."""

    def __init__(self, facts: Iterable[object] = ()) -> None:
        self._levels: dict[str, Path] = {}
        self._topology: dict[str, str] = {}
        """Of flavors."""
        self._labels: dict[str, Mapping[str, str]] = {}
        """Of nodes, by their hostname."""
        for one in facts:
            match one:
                case TopologyFact(name=name, levels=levels):
                    self._levels[name] = levels
                case FlavorFact(name=name, topology=str(topology)):
                    self._topology[name] = topology
                case Node(labels=labels):
                    self._labels[labels.get(HOSTNAME, "")] = labels
                case _:
                    pass

    def told(self, decisions: Iterable[Mapping[str, Any]]) -> str:
        """Return where the pods go of those that are admitted; empty if none is placed."""
        trees = [tree for one in decisions if one["action"] == "Admit" for tree in self._trees(one)]
        return rendered(Group(*trees)) if trees else ""

    def _trees(self, admitted: Mapping[str, Any]) -> Iterator[Tree]:
        for one in admitted["podSetAssignments"]:
            if one["topologyAssignment"] is None:
                continue
            placement = decode(one["topologyAssignment"])
            levels = placement.levels
            if levels == (HOSTNAME,):
                levels = self._around(one["flavors"].values())
            pods: Counter[Path] = Counter()
            for domain in placement.domains:
                pods[self._path(domain.values, levels)] += domain.count
            by = ", ".join(level.rpartition("/")[2] for level in levels)
            yield seated(f"{admitted['workload']}, {one['name']} x{one['count']}", by, pods)

    def _around(self, flavors: Iterable[str]) -> Path:
        """Return the levels of the topology of that flavor which has one."""
        named = (self._topology.get(one, "") for one in flavors)
        return next((self._levels[one] for one in named if one in self._levels), (HOSTNAME,))

    def _path(self, values: Path, levels: Path) -> Path:
        if len(values) == len(levels):
            return values
        labels = self._labels.get(values[-1], {})
        return (*(labels.get(level, "?") for level in levels[:-1]), values[-1])
