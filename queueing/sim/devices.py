"""Devices of a plan: DeviceFlavors, DeviceClasses, ResourceSlices and claims of its documents."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from queueing.core.devices import DeviceOffer
from queueing.devices.rules.index import index_of
from queueing.devices.wire import objects as wire
from queueing.devices.wire.asks import DeviceSurroundings
from queueing.devices.wire.catalog import catalog_of
from queueing.devices.wire.given import amounts_of
from queueing.devices.wire.lacks import lack
from queueing.devices.wire.names import WORKLOAD_UID, pod_of, workload_uid
from queueing.devices.wire.node_devices import DevicesOnNodes
from queueing.devices.wire.node_terms import is_by_scheduler
from queueing.devices.wire.offers import DeviceShape, judge
from queueing.devices.wire.slices import slice_of
from queueing.devices.wire.true_up import (
    NO_CHARGES,
    Charges,
    Possession,
    given,
    possessions,
    settled,
)
from queueing.translate.labels import POD_SET
from queueing.translate.wire.queues import ResourceFlavor
from queueing.translate.wire.workloads import Workload
from queueing_api.config.v1beta2 import Configuration

Read = Callable[[str, type[Any]], list[Any]]
"""Returns the documents of a kind."""


class SimulatedDevices:
    """The devices of the documents, and the shapes that workloads request."""

    def __init__(self, read: Read, configuration: Configuration, *, as_kueue: bool) -> None:
        self.catalog = catalog_of(
            read("DeviceFlavor", wire.DeviceFlavor),
            read("DeviceClass", wire.DeviceClass),
            configuration,
            as_kueue=as_kueue,
        )
        slices = [slice_of(one) for one in read("ResourceSlice", wire.ResourceSlice)]
        self.index = index_of(
            slices,
            {one.metadata.name: one.metadata.labels for one in read("Node", wire.Node)},
        )
        self._devices = {one.name: one for one in self.index.devices}
        self._templates = read("ResourceClaimTemplate", wire.ResourceClaimTemplate)
        self._claims = read("ResourceClaim", wire.ResourceClaim)
        pods = read("Pod", wire.Pod)
        self._pods = {one.metadata.uid: one.metadata.labels for one in pods}
        admitted = {one.metadata.uid: one for one in read("Workload", Workload)}
        self.on_nodes = DevicesOnNodes(admitted.get)
        for one in slices:
            self.on_nodes.put_slice(one)
        for pod in pods:
            self.on_nodes.put_pod(pod.metadata)
        for claim in self._claims:
            self.on_nodes.put_claim(claim)
        flavors = read("ResourceFlavor", ResourceFlavor)
        needed = any(one.spec.topology_name for one in flavors)
        self.on_nodes.set_rules(self.catalog, needed=needed)
        self._shapes: dict[str, DeviceShape] = {}
        self._doubts: dict[str, None] = {}

    def around(self, namespace: str) -> DeviceSurroundings:
        """Return what the devices of a namespace's pods depend on."""
        return DeviceSurroundings(
            catalog=self.catalog,
            templates={
                one.metadata.name: one
                for one in self._templates
                if one.metadata.namespace == namespace
            },
            claims={
                one.metadata.name: one
                for one in self._claims
                if one.metadata.namespace == namespace
            },
        )

    def charges(self, workload: Workload) -> Charges:
        """Return what a Workload is charged for devices where that is less than its admission."""
        admission, catalog = workload.status.admission, self.catalog
        if admission is None or catalog.is_empty or catalog.as_kueue:
            return NO_CHARGES
        uid, around = workload.metadata.uid, self.around(workload.metadata.namespace)
        made = [one for one in self._claims if uid and workload_uid(one.metadata) == uid]
        held = [*possessions(workload, made, around.claims), *self._of_pods(uid)]
        found = given(workload, held, around, lambda one: amounts_of(one, self._devices, catalog))
        return settled(NO_CHARGES, found, admission.pod_set_assignments)

    def _of_pods(self, workload: str) -> Iterator[Possession]:
        """Yield the claims that a Workload's pods got of users' own templates."""
        for claim in self._claims:
            labels = self._pods.get(pod_of(claim.metadata), {})
            if (
                workload
                and not workload_uid(claim.metadata)
                and not is_by_scheduler(claim)
                and labels.get(WORKLOAD_UID) == workload
            ):
                yield Possession(labels.get(POD_SET, ""), claim)

    def note(self, shapes: Iterable[DeviceShape]) -> None:
        """Remember the shapes that a workload requests."""
        self._shapes.update((one.key, one) for one in shapes)

    def lack(self, shapes: Iterable[DeviceShape]) -> str:
        """Return why the whole cluster has too few devices for a workload; empty if it may not."""
        found = (lack(one, self.catalog, self.index) for one in shapes)
        return next(filter(None, found), "")

    def offers(self, flavor: ResourceFlavor) -> dict[str, DeviceOffer]:
        """Return what a flavor's devices offer for all shapes that were noted."""
        name, labels = flavor.metadata.name, flavor.spec.node_labels
        found = {}
        for key, shape in sorted(self._shapes.items()):
            judged = judge(shape, name, labels, catalog=self.catalog, index=self.index)
            if judged is not None:
                found[key] = judged.offer
                self._doubts.update(dict.fromkeys(judged.doubts))
        return found

    def warnings(self) -> list[str]:
        """Return a sentence for each part of the documents about devices that is not used."""
        nodes = self.index.nodes
        absent = sorted({one.node for one in self.index.devices if one.node not in nodes} - {""})
        shown = ", ".join(absent[:3]) + (f" and {len(absent) - 3} more" if absent[3:] else "")
        return [
            *(f"DeviceFlavor {name}: {why}" for name, why in self.catalog.problems.items()),
            *(
                f"pool {pool} of {driver} has not all of its ResourceSlices; none of it counts"
                for driver, pool in self.index.incomplete
            ),
            *([f"devices of node(s) {shown}: give the Nodes, for their labels"] if absent else []),
            *self._doubts,
        ]
