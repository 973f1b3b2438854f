"""Remembers what Workloads request, so that what is alike is translated once.

A translation holds for one generation of a Workload and one version of its surroundings: the
LimitRanges, RuntimeClasses, resource transformations and devices that its requests depend on. It
also holds for all other Workloads of the namespace with the same pod sets: most come in numbers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from queueing.controller.stores.objects import Objects
from queueing.core.names import Key
from queueing.devices.wire.offers import DeviceShape
from queueing.translate.inbound.workloads import Asks, asks_of, what_it_asks_by
from queueing.translate.requests import Surroundings
from queueing.translate.transformations import ResourceRules
from queueing.translate.wire.workloads import Workload

ALIKE_MAX = 512
"""How many translations of a namespace are remembered for other Workloads."""


class _Known(NamedTuple):
    """The translation of a Workload, in one generation and in these surroundings."""

    uid: str
    generation: int
    around: Surroundings
    asks: Asks


class _Place(NamedTuple):
    """The surroundings of a namespace, and translations in them by what they were made of."""

    around: Surroundings
    alike: dict[bytes, Asks]


@dataclass(slots=True)
class Requests:
    """Translations by Workload, and the surroundings that they depend on by namespace."""

    objects: Objects
    rules: ResourceRules
    _places: dict[str, _Place] = field(default_factory=dict)
    _known: dict[Key, _Known] = field(default_factory=dict)

    def of(self, key: Key, found: Workload) -> tuple[Asks, Surroundings]:
        """Return what the Workload with this key requests, and what else that depends on."""
        meta = found.metadata
        around, alike = self._places.get(meta.namespace) or self._look_around(meta.namespace)
        known = self._known.get(key)
        same = known is not None and known[:2] == (meta.uid, meta.generation)
        if known is not None and same and known.around is around:
            return known.asks, around
        made_of = what_it_asks_by(found)
        asks = alike.get(made_of)
        if asks is None:
            if len(alike) >= ALIKE_MAX:
                alike.clear()
            asks = alike[made_of] = asks_of(found, around)
        if meta.generation:
            self._known[key] = _Known(meta.uid, meta.generation, around, asks)
        return asks, around

    def _look_around(self, namespace: str) -> _Place:
        """Collect what the requests of a namespace's Workloads depend on besides their spec."""
        around = Surroundings(
            limits=self.objects.limits_in(namespace),
            overheads=self.objects.overheads(),
            rules=self.rules,
            devices=self.objects.devices.surroundings(namespace),
            topologies=self.objects.places_pods,
        )
        made = self._places[namespace] = _Place(around, {})
        return made

    def changed(self, namespace: str | None = None) -> None:
        """Forget the surroundings of one or all namespaces; their Workloads are translated anew."""
        if namespace is None:
            self._places.clear()
        else:
            self._places.pop(namespace, None)

    def forget(self, key: Key) -> None:
        """Forget a deleted Workload."""
        self._known.pop(key, None)

    def with_devices(self) -> Iterator[tuple[Key, tuple[DeviceShape, ...]]]:
        """Yield each Workload that requests devices, and their shapes."""
        known = self._known.items()
        return ((key, one.asks.shapes) for key, one in known if one.asks.shapes)

    def namespaces(self) -> list[str]:
        """Return the namespaces whose surroundings are known."""
        return list(self._places)

    def shapes(self) -> Iterator[DeviceShape]:
        """Yield what devices are requested by the Workloads that are known."""
        return (shape for one in self._known.values() for shape in one.asks.shapes)
