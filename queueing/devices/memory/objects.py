"""What is known of devices (DRA): the rules, the hardware, and the claims and claim templates.

Plain memory: `shell.intake` fills it; the pump and the reconcilers of `shell` read it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from queueing.controller.stores.indexes import Index as Keys
from queueing.core.devices import DeviceOffer
from queueing.core.names import Key
from queueing.devices.memory.claim_charges import Holdings
from queueing.devices.rules.index import Device, DeviceIndex, DeviceName, Slice, index_of
from queueing.devices.wire import objects as wire
from queueing.devices.wire.allocations import holdings
from queueing.devices.wire.asks import DeviceSurroundings
from queueing.devices.wire.catalog import NO_CATALOG, DeviceCatalog, catalog_of
from queueing.devices.wire.lacks import lack
from queueing.devices.wire.names import WORKLOAD, label_value, workload_uid
from queueing.devices.wire.node_devices import DevicesOnNodes
from queueing.devices.wire.offers import DeviceShape, offers
from queueing.devices.wire.true_up import NO_CHARGES, Charges, possessions
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.queues import ResourceFlavor
from queueing.translate.wire.workloads import Workload
from queueing_api.config.v1beta2 import Configuration

NO_DEVICES = DeviceIndex()


@dataclass(slots=True)
class DeviceMemory:
    """All that one term knows of devices.

    A *shape* is what one pod requests of devices, as far as flavors can differ in serving it; an
    *offer* is a flavor's answer to a shape.
    """

    configuration: Configuration | None = None
    """For its `deviceClassMappings`."""
    by_labels: bool = True
    """Whether only devices on a flavor's own nodes count for it; in Kueue mode all do."""
    flavors: dict[str, wire.DeviceFlavor] = field(default_factory=dict)
    classes: dict[str, wire.DeviceClass] = field(default_factory=dict)
    slices: dict[str, Slice] = field(default_factory=dict)
    nodes: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """Labels of nodes by name."""
    templates: dict[Key, wire.ResourceClaimTemplate] = field(default_factory=dict)
    claims: dict[Key, wire.ResourceClaim] = field(default_factory=dict)
    """All claims but those that pods got of users' templates, which `holdings` has."""
    domains: dict[Key, Meta] = field(default_factory=dict)
    """ComputeDomains that were made for Workloads."""
    joined: tuple[wire.DeviceFlavor, ...] = ()
    """The DeviceFlavors of which `catalog` was made."""
    catalog: DeviceCatalog = NO_CATALOG
    """All rules: DeviceFlavors, DeviceClasses and the configuration's mappings."""
    index: DeviceIndex = NO_DEVICES
    """All devices that ResourceSlices publish."""
    holdings: Holdings = field(default_factory=Holdings)
    on_nodes: DevicesOnNodes = field(default_factory=DevicesOnNodes)
    _devices: Mapping[DeviceName, Device] = field(default_factory=dict)
    _shapes: dict[str, DeviceShape] = field(default_factory=dict)
    """The shapes that Workloads request, by `DeviceShape.key`."""
    _offers: dict[str, tuple[set[str], dict[str, DeviceOffer]]] = field(default_factory=dict)
    """By flavor: the keys of the shapes that were tried on it, and its offers by shape. Emptied
    when rules or devices change."""
    _lacks: dict[tuple[str, bool], str] = field(default_factory=dict)
    """What the whole cluster lacks for a shape, by its key and whether it is an extended resource;
    emptied when rules or devices change."""
    _templates_of: Keys[str] = field(default_factory=Keys)
    """By uid of the Workload that they were made for; users' own by `/` and their namespace."""
    _claims_of: Keys[str] = field(default_factory=Keys)
    """In the same way."""
    _surroundings: dict[str, DeviceSurroundings] = field(default_factory=dict)
    """By namespace, until a template or claim of its users changes."""
    _uids: Keys[str] = field(default_factory=Keys)
    """Uids of Workloads that have templates, by namespace and the name in the templates' label."""

    # Rules and hardware -----------------------------------------------------------------------

    def join_rules(self) -> bool:
        """Make the catalog of the rules as they are now; False when it is equal to the last one."""
        self.joined = tuple(self.flavors.values())
        found = catalog_of(
            self.joined,
            self.classes.values(),
            self.configuration,
            as_kueue=not self.by_labels,
        )
        if found == self.catalog:
            return False
        self.catalog = found
        self._offers.clear()
        return True

    def join_hardware(self) -> None:
        """Make the index of the slices and nodes as they are now."""
        self.index = index_of(self.slices.values(), self.nodes)
        self._devices = {one.name: one for one in self.index.devices}
        self._offers.clear()

    def learn(self, shapes: Iterable[DeviceShape]) -> bool:
        """Remember shapes; True when one is new, so that no flavor's offer for it is known."""
        new = {one.key: one for one in shapes if one.key not in self._shapes}
        self._shapes |= new
        return bool(new)

    def forget_shapes_but(self, kept: Iterable[DeviceShape]) -> None:
        """Forget all shapes but these, all offers, and what the cluster lacks."""
        self._shapes = {one.key: one for one in kept}
        self._offers.clear()
        self._lacks.clear()

    def lack(self, shapes: Iterable[DeviceShape]) -> str:
        """Return why the whole cluster has too few devices for a Workload; empty if it may not."""
        for one in shapes:
            key = (one.key, any(part.extended for part in one.bound))
            told = self._lacks.get(key)
            if told is None:
                told = self._lacks[key] = lack(one, self.catalog, self.index)
            if told:
                return told
        return ""

    def forget_flavor(self, name: str) -> None:
        """Forget the offers of a ResourceFlavor that changed: its node labels may be others."""
        self._offers.pop(name, None)

    def offers_of(self, flavor: ResourceFlavor) -> Mapping[str, DeviceOffer]:
        """Return a flavor's offers by shape; shapes that are new since the last call are tried."""
        name = flavor.metadata.name
        labels = flavor.spec.node_labels if self.by_labels else {}
        seen, known = self._offers.setdefault(name, (set(), {}))
        new = [one for key, one in self._shapes.items() if key not in seen]
        if new:
            made = offers(new, name, labels, catalog=self.catalog, index=self.index)
            seen.update(one.key for one in new)
            known = known | made
            self._offers[name] = (seen, known)
        return known

    # Templates and claims ---------------------------------------------------------------------

    def put_template(self, found: wire.ResourceClaimTemplate) -> None:
        """Store a template in place of the one seen before."""
        self.drop_template(found.metadata.key)
        self.templates[found.metadata.key] = found
        uid, key = workload_uid(found.metadata), found.metadata.key
        self._templates_of.add(_group(found.metadata), key)
        if uid:
            self._uids.add(_workload(found.metadata), Key(uid))
        else:
            self._surroundings.pop(found.metadata.namespace, None)

    def drop_template(self, key: Key) -> None:
        """Forget a deleted template."""
        found = self.templates.pop(key, None)
        if found is None:
            return
        uid = workload_uid(found.metadata)
        self._templates_of.drop(_group(found.metadata), key)
        if not uid:
            self._surroundings.pop(found.metadata.namespace, None)
        elif not self._templates_of[uid]:
            self._uids.drop(_workload(found.metadata), Key(uid))

    def put_claim(self, found: wire.ResourceClaim) -> None:
        """Store a claim in place of the one seen before."""
        self.drop_claim(found.metadata.key)
        self.claims[found.metadata.key] = found
        self._claims_of.add(_group(found.metadata), found.metadata.key)
        if not workload_uid(found.metadata):
            self._surroundings.pop(found.metadata.namespace, None)

    def drop_claim(self, key: Key) -> None:
        """Forget a deleted claim."""
        found = self.claims.pop(key, None)
        if found is not None:
            self._claims_of.drop(_group(found.metadata), key)
            if not workload_uid(found.metadata):
                self._surroundings.pop(found.metadata.namespace, None)

    def charges_of(self, workload: Workload, around: DeviceSurroundings) -> Charges:
        """Return what a Workload is charged for devices where that is less than its admission says.

        Empty where the admission's own amounts hold, and in Kueue mode, which never lowers them.
        """
        uid = workload.metadata.uid
        if workload.status.admission is None:
            self.holdings.forget(uid)
            return NO_CHARGES
        if self.catalog.is_empty or not self.by_labels:
            return NO_CHARGES
        held = [
            *possessions(workload, self.claims_of(uid), around.claims),
            *self.holdings.of_pods(uid),
        ]
        return self.holdings.charges(workload, held, around, self._devices)

    def templates_of(self, uid: str) -> Iterator[wire.ResourceClaimTemplate]:
        """Return the templates that were made for a Workload, given by uid, in order of keys."""
        return (self.templates[key] for key in sorted(self._templates_of[uid]))

    def claims_of(self, uid: str) -> Iterator[wire.ResourceClaim]:
        """Return the claims made for a Workload, given by uid, and of its templates for pods."""
        return (self.claims[key] for key in sorted(self._claims_of[uid]))

    def claimants(self) -> Mapping[str, int]:
        """Return how many claims of each Workload, by uid, are allocated; only those with any."""
        found = (
            workload_uid(one.metadata) for one in self.claims.values() if one.status.allocation
        )
        return Counter(filter(None, found))

    def held_devices(self) -> set[DeviceName]:
        """Return the devices that claims hold, whoever made these; without admin access."""
        found = holdings((*self.claims.values(), *self.holdings.claims()))
        return {one.device for one in found if not one.admin}

    def has_any(self, uid: str) -> bool:
        """Say whether there is a template or claim that was made for a Workload, given by uid."""
        return uid in self._templates_of.groups or uid in self._claims_of.groups

    def uids_named(self, key: Key) -> tuple[str, ...]:
        """Return the uids of Workloads with a key, deleted ones too, that still have templates."""
        namespace, _, name = key.partition("/")
        return self._uids[f"{namespace}/{label_value(name)}"]

    def surroundings(self, namespace: str) -> DeviceSurroundings:
        """Return what the devices of a namespace's pods depend on besides their pod template."""
        if self.catalog.is_empty:
            return DeviceSurroundings(catalog=self.catalog)
        known = self._surroundings.get(namespace)
        if known is None or known.catalog is not self.catalog:
            templates = (self.templates[key] for key in self._templates_of[f"/{namespace}"])
            claims = (self.claims[key] for key in self._claims_of[f"/{namespace}"])
            known = self._surroundings[namespace] = DeviceSurroundings(
                catalog=self.catalog,
                templates={one.metadata.name: one for one in templates},
                claims={one.metadata.name: one for one in claims},
            )
        return known


def _group(meta: Meta) -> str:
    """Return the group of a template or claim in `_templates_of` and `_claims_of`."""
    return workload_uid(meta) or f"/{meta.namespace}"


def _workload(meta: Meta) -> str:
    return f"{meta.namespace}/{meta.labels.get(WORKLOAD, '')}"
