"""Remembers what each Workload requests, so that a change of its status translates nothing again.

A translation holds for one generation of a Workload and one version of its surroundings: the
LimitRanges, RuntimeClasses, resource transformations and devices that its requests depend on.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from queueing.controller.stores.objects import Objects
from queueing.core.names import Key
from queueing.devices.wire.offers import DeviceShape
from queueing.translate.inbound.workloads import Asks, asks_of
from queueing.translate.requests import Surroundings
from queueing.translate.transformations import ResourceRules
from queueing.translate.wire.workloads import Workload


@dataclass(slots=True)
class Requests:
    """Translations by Workload, and the surroundings that they depend on by namespace."""

    objects: Objects
    rules: ResourceRules
    _surroundings: dict[str, Surroundings] = field(default_factory=dict)
    _asks: dict[Key, tuple[str, int, Surroundings, Asks]] = field(default_factory=dict)
    """By Workload: uid, generation and surroundings of its translation, and the translation."""

    def of(self, found: Workload) -> tuple[Asks, Surroundings]:
        """Return what a Workload requests, and what else that depends on.

        It is translated unless that is known for its generation.
        """
        meta, around = found.metadata, self.around(found.metadata.namespace)
        key = meta.key
        known = self._asks.get(key)
        if known is not None and known[:2] == (meta.uid, meta.generation) and known[2] is around:
            return known[3], around
        asks = asks_of(found, around)
        if meta.generation:
            self._asks[key] = (meta.uid, meta.generation, around, asks)
        return asks, around

    def around(self, namespace: str) -> Surroundings:
        """Return what the requests of a namespace's Workloads depend on besides their spec.

        The same object as before, unless `changed` was called meanwhile.
        """
        around = self._surroundings.get(namespace)
        if around is None:
            around = self._surroundings[namespace] = Surroundings(
                limits=self.objects.limits_in(namespace),
                overheads=self.objects.overheads(),
                rules=self.rules,
                devices=self.objects.devices.surroundings(namespace),
            )
        return around

    def changed(self, namespace: str | None = None) -> None:
        """Forget the surroundings of one or all namespaces; their Workloads are translated anew."""
        if namespace is None:
            self._surroundings.clear()
        else:
            self._surroundings.pop(namespace, None)

    def forget(self, key: Key) -> None:
        """Forget a deleted Workload."""
        self._asks.pop(key, None)

    def with_devices(self) -> Iterator[tuple[Key, tuple[DeviceShape, ...]]]:
        """Yield each Workload that requests devices, and their shapes."""
        return ((key, one[3].shapes) for key, one in self._asks.items() if one[3].shapes)

    def namespaces(self) -> list[str]:
        """Return the namespaces whose surroundings are known."""
        return list(self._surroundings)

    def shapes(self) -> Iterator[DeviceShape]:
        """Yield what devices are requested by the Workloads that are known."""
        return (shape for one in self._asks.values() for shape in one[3].shapes)
