"""Devices among the documents of a plan."""

from collections.abc import Callable, Iterable
from typing import Any

from queueing.core.devices import DeviceOffer
from queueing.translate.devices.asks import DeviceSurroundings
from queueing.translate.devices.catalog import catalog_of
from queueing.translate.devices.index import index_of, slice_of
from queueing.translate.devices.offers import Shape, judge
from queueing.translate.wire import devices as wire
from queueing.translate.wire.queues import ResourceFlavor
from queueing_api.config.v1beta2 import Configuration

Read = Callable[[str, type[Any]], list[Any]]
"""Returns the documents of a kind."""


class Devices:
    """What the documents say of devices, and the shapes that workloads ask for."""

    def __init__(self, read: Read, configuration: Configuration, *, as_kueue: bool) -> None:
        self.catalog = catalog_of(
            read("DeviceFlavor", wire.DeviceFlavor),
            read("DeviceClass", wire.DeviceClass),
            configuration,
            as_kueue=as_kueue,
        )
        self.index = index_of(
            map(slice_of, read("ResourceSlice", wire.ResourceSlice)),
            {one.metadata.name: one.metadata.labels for one in read("Node", wire.Node)},
        )
        self._templates = read("ResourceClaimTemplate", wire.ResourceClaimTemplate)
        self._claims = read("ResourceClaim", wire.ResourceClaim)
        self._shapes: dict[str, Shape] = {}
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

    def note(self, shapes: Iterable[Shape]) -> None:
        """Remember what a workload asks for."""
        self._shapes.update((one.key, one) for one in shapes)

    def offers(self, flavor: ResourceFlavor) -> dict[str, DeviceOffer]:
        """Return what a flavor's devices offer for all that is asked."""
        name, labels = flavor.metadata.name, flavor.spec.node_labels
        found = {}
        for key, shape in sorted(self._shapes.items()):
            judged = judge(shape, name, labels, catalog=self.catalog, index=self.index)
            if judged is not None:
                found[key] = judged.offer
                self._doubts.update(dict.fromkeys(judged.doubts))
        return found

    def warnings(self) -> list[str]:
        """Say what of the documents about devices is not used, and what was guessed."""
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
