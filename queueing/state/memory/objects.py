"""All objects but workloads, as last observed, and the rules that are compiled from them.

Invariant: a fact that equals the known one changes nothing.
"""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from queueing.core.admissibility import inactivity
from queueing.core.credits.post import weights_of
from queueing.core.facts import (
    CheckFact,
    ClusterQueueFact,
    CohortFact,
    FlavorFact,
    Gone,
    Kind,
    LocalQueueFact,
    NamespaceFact,
    NodeDevicesFact,
    NodeUsageFact,
    Strategy,
    TopologyFact,
)
from queueing.core.names import CheckName, CohortName, FlavorName, Key, QueueName
from queueing.core.placement.nodes import NodesOfFlavors
from queueing.core.queue_rules import Catalog, QueueRules
from queueing.core.quota.tree import QuotaTree
from queueing.core.topology.tree import Node

ObjectFact = (
    ClusterQueueFact
    | CohortFact
    | LocalQueueFact
    | FlavorFact
    | CheckFact
    | TopologyFact
    | Node
    | NodeUsageFact
    | NodeDevicesFact
    | NamespaceFact
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Active:
    """The Active condition of a queue."""

    status: bool
    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ripple:
    """What a change of an object may affect."""

    queues: tuple[QueueName, ...] = ()
    """ClusterQueues whose rules or activity may differ."""
    local_queues: tuple[Key, ...] = ()
    namespace: str | None = None
    structure: bool = False
    """Whether the quota tree changed: any queue of the same tree may have more quota now."""
    nodes: bool = False
    """Whether there may be more room on nodes."""
    others: str = ""
    """The node of which others use another amount, pods or claims; empty for none."""


PROVISIONING = "kueue.x-k8s.io/provisioning-request"
"""The controller of admission checks that make nodes."""
STILL = Ripple()
"""Nothing changed."""
READY = Active(status=True, reason="Ready", message="Can admit new workloads")


@dataclass(slots=True)
class Objects:
    """ClusterQueues, cohorts, LocalQueues, flavors, checks, topologies, nodes and namespaces."""

    tree: QuotaTree
    queues: dict[QueueName, ClusterQueueFact] = field(default_factory=dict)
    cohorts: dict[CohortName, CohortFact] = field(default_factory=dict)
    local_queues: dict[Key, LocalQueueFact] = field(default_factory=dict)
    flavors: dict[FlavorName, FlavorFact] = field(default_factory=dict)
    checks: dict[CheckName, CheckFact] = field(default_factory=dict)
    topologies: dict[str, TopologyFact] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    node_usage: dict[str, NodeUsageFact] = field(default_factory=dict)
    node_devices: dict[str, NodeDevicesFact] = field(default_factory=dict)
    namespaces: dict[str, NamespaceFact] = field(default_factory=dict)
    rules: dict[QueueName, QueueRules] = field(default_factory=dict)
    local_queues_of: dict[QueueName, dict[Key, None]] = field(default_factory=dict)
    """LocalQueues by the ClusterQueue that they name."""
    _on_nodes: NodesOfFlavors = field(init=False)
    _activity: dict[QueueName, Active] = field(default_factory=dict)
    _catalog: Catalog = field(default_factory=Catalog)

    def __post_init__(self) -> None:
        self._on_nodes = NodesOfFlavors(self.tree.forest)

    def put(self, fact: ObjectFact) -> Ripple:
        """Store an object; return what the change may affect."""
        name = fact.key if isinstance(fact, LocalQueueFact) else fact.name
        return self._set(_KINDS[type(fact)], name, fact)

    def drop(self, gone: Gone) -> Ripple:
        """Remove an object; return what the change may affect."""
        return self._set(gone.kind, gone.name, None)

    def is_strict(self, name: QueueName) -> bool:
        """Say whether a queue is StrictFIFO: no workload passes its head."""
        queue = self.queues.get(name)
        return queue is not None and queue.strategy is Strategy.STRICT_FIFO

    def is_active(self, name: QueueName) -> bool:
        """Say whether a ClusterQueue exists and may admit."""
        active = self.activity(name)
        return active is not None and active.status

    def activity(self, name: QueueName) -> Active | None:
        """Return the Active condition of a ClusterQueue, None when there is no such queue."""
        known = self._activity.get(name)
        if known is not None:
            return known
        fact = self.queues.get(name)
        if fact is None:
            return None
        found = inactivity(
            fact,
            flavors=self.flavors,
            checks=self.checks,
            topologies=self.topologies,
            cyclic=self.tree.in_cycle(self.tree.queue(name)),
        )
        active = READY if found is None else Active(status=False, reason=found[0], message=found[1])
        self._activity[name] = active
        return active

    def queue_behind(self, local_queue: Key) -> QueueName | None:
        """Return the ClusterQueue that a LocalQueue names; None where that is unknown."""
        found = self.local_queues.get(local_queue)
        return None if found is None else found.cluster_queue

    def sharers(self) -> dict[QueueName, dict[str, int]]:
        """Return the namespaces, with weights, of each queue that uses admission fair sharing."""
        keys, known = self.local_queues_of, self.local_queues
        return {
            name: weights_of((key, known[key].fair_weight) for key in keys.get(name, {}))
            for name, fact in self.queues.items()
            if fact.admission_fair_sharing
        }

    def _set(self, kind: Kind, name: str, new: ObjectFact | None) -> Ripple:
        known: dict[Any, Any] = getattr(self, _TABLES[kind])
        old = known.pop(name, None) if new is None else known.get(name)
        if old == new:
            return STILL
        if new is not None:
            known[name] = new
        return self._changed(old, new)

    def _changed(self, old: ObjectFact | None, new: ObjectFact | None) -> Ripple:
        match new if new is not None else old:
            case ClusterQueueFact(name=name):
                return self._queue_changed(name)
            case CohortFact() as cohort:
                tree = self.tree
                tree.drop_cohort(cohort.name) if new is None else tree.put_cohort(cohort)
                self._activity.clear()
                return Ripple(structure=True)
            case LocalQueueFact(key=key):
                self._index(old, new)
                return Ripple(local_queues=(key,))
            case FlavorFact(name=name):
                return self._reach_flavors({name})
            case CheckFact(name=check):
                return self._reach(lambda queue: any(one.name == check for one in queue.checks))
            case TopologyFact(name=topology):
                using = {
                    one.name
                    for one in self.flavors.values()
                    if topology in (one.topology, *one.nearer)
                }
                return self._reach_flavors(using)
            case Node() | NodeUsageFact() | NodeDevicesFact() as one:
                others = "" if isinstance(one, Node) else one.name
                return Ripple(nodes=self._on_nodes.change(one, is_gone=new is None), others=others)
            case NamespaceFact(name=namespace):
                return Ripple(namespace=namespace)
            case _:
                raise AssertionError(f"no such object: {new or old}")

    def _queue_changed(self, name: QueueName) -> Ripple:
        fact = self.queues.get(name)
        if fact is None:
            self.rules.pop(name, None)
            self.tree.drop_queue(name)
        else:
            self.tree.put_queue(fact)
            self.rules[name] = self._rules_of(fact)
        self._activity.clear()
        return Ripple(queues=(name,), structure=True)

    def _index(self, old: ObjectFact | None, new: ObjectFact | None) -> None:
        if isinstance(old, LocalQueueFact):
            del self.local_queues_of[old.cluster_queue][old.key]
        if isinstance(new, LocalQueueFact):
            self.local_queues_of.setdefault(new.cluster_queue, {})[new.key] = None

    def _reach_flavors(self, names: AbstractSet[FlavorName]) -> Ripple:
        """Join flavors anew with their nodes; reach the queues that name them."""
        for name in sorted(names):
            self._on_nodes.join(name, self.flavors.get(name), self.topologies)
        return self._reach(
            lambda queue: any(
                one.flavor in names for group in queue.groups for one in group.flavors
            )
        )

    def _reach(self, concerns: Callable[[ClusterQueueFact], bool]) -> Ripple:
        reached = [name for name, queue in self.queues.items() if concerns(queue)]
        for name in reached:
            self._activity.pop(name, None)
            self.rules[name] = self._rules_of(self.queues[name])
        return Ripple(queues=tuple(reached))

    def _rules_of(self, fact: ClusterQueueFact) -> QueueRules:
        provisioning = [one.name for one in self.checks.values() if one.controller == PROVISIONING]
        return self._catalog.rules(fact, self._on_nodes.flavors, provisioning)


_KEPT: tuple[tuple[Kind, type[ObjectFact], str], ...] = (
    (Kind.CLUSTER_QUEUE, ClusterQueueFact, "queues"),
    (Kind.COHORT, CohortFact, "cohorts"),
    (Kind.LOCAL_QUEUE, LocalQueueFact, "local_queues"),
    (Kind.FLAVOR, FlavorFact, "flavors"),
    (Kind.CHECK, CheckFact, "checks"),
    (Kind.TOPOLOGY, TopologyFact, "topologies"),
    (Kind.NODE, Node, "nodes"),
    (Kind.NODE_USAGE, NodeUsageFact, "node_usage"),
    (Kind.NODE_DEVICES, NodeDevicesFact, "node_devices"),
    (Kind.NAMESPACE, NamespaceFact, "namespaces"),
)
"""Each kind of object, its fact, and the table of `Objects` that it is kept in."""
_KINDS = {fact: kind for kind, fact, _ in _KEPT}
_TABLES = {kind: table for kind, _, table in _KEPT}
