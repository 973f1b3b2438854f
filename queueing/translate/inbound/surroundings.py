"""ResourceFlavor, AdmissionCheck, Topology and Namespace → facts."""

from collections.abc import Mapping
from types import MappingProxyType

from queueing.core.devices import DeviceOffer
from queueing.core.facts import CheckFact, FlavorFact, NamespaceFact, TopologyFact
from queueing.core.names import CheckName, FlavorName
from queueing.core.selectors import Taint
from queueing.core.topology.tree import NONE, Amounts
from queueing.translate.labels import FIXED, NAMESPACE, NEARER, NODES, PLACEMENT, SPREAD
from queueing.translate.selectors import toleration
from queueing.translate.wire import cluster, queues

NO_OFFERS: Mapping[str, DeviceOffer] = MappingProxyType({})


def flavor(
    found: queues.ResourceFlavor,
    devices: Mapping[str, DeviceOffer] = NO_OFFERS,
    on_nodes: Amounts = NONE,
    *,
    places_pods: bool = True,
) -> FlavorFact:
    """Translate a ResourceFlavor, with what its devices offer to the shapes that are asked for.

    `on_nodes` are the resources of which nodes offer devices, and those that all of them offer.
    Without `places_pods` its topology means nothing, as in Kueue with the gate off, and its nodes
    are not known.
    """
    spec = found.spec
    return FlavorFact(
        name=FlavorName(found.metadata.name),
        node_labels=spec.node_labels,
        taints=tuple(
            Taint(key=taint.key, value=taint.value, effect=taint.effect)
            for taint in spec.node_taints
        ),
        tolerations=tuple(map(toleration, spec.tolerations)),
        topology=(spec.topology_name or None) if places_pods else None,
        spreads=found.metadata.annotations.get(PLACEMENT) == SPREAD,
        nearer=nearer(found) if places_pods else (),
        fixed=places_pods and _is_fixed(found),
        devices=devices,
        on_nodes=on_nodes if places_pods and needs_nodes(found) else NONE,
    )


def needs_nodes(found: queues.ResourceFlavor) -> bool:
    """Say whether it matters for a flavor which nodes there are."""
    return bool(found.spec.topology_name) or _is_fixed(found)


def nearer(found: queues.ResourceFlavor) -> tuple[str, ...]:
    """Return the further topologies that a flavor with a topology names, each once."""
    if not found.spec.topology_name:
        return ()
    named = map(str.strip, found.metadata.annotations.get(NEARER, "").split(","))
    return tuple(dict.fromkeys(one for one in named if one not in {"", found.spec.topology_name}))


def _is_fixed(found: queues.ResourceFlavor) -> bool:
    return found.metadata.annotations.get(NODES) == FIXED


def check(found: queues.AdmissionCheck) -> CheckFact:
    """Translate an AdmissionCheck; it is active when its controller says so."""
    return CheckFact(
        name=CheckName(found.metadata.name),
        controller=found.spec.controller_name,
        active=any(
            condition.type == "Active" and condition.status == "True"
            for condition in found.status.conditions
        ),
    )


def topology(found: queues.Topology) -> TopologyFact:
    """Translate a Topology."""
    return TopologyFact(
        name=found.metadata.name, levels=tuple(level.node_label for level in found.spec.levels)
    )


def namespace(found: cluster.Namespace) -> NamespaceFact:
    """Translate a Namespace; its own name is always among its labels."""
    name = found.metadata.name
    return NamespaceFact(name=name, labels={NAMESPACE: name, **found.metadata.labels})
