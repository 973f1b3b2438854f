"""What Workloads ask for: translated once for each generation of one in the same surroundings."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from queueing.controller.stores.objects import Objects
from queueing.core.names import Key
from queueing.translate.devices.offers import Shape
from queueing.translate.inbound.workloads import Asks, asks_of
from queueing.translate.requests import Surroundings
from queueing.translate.transformations import ResourceRules
from queueing.translate.wire.workloads import Workload


@dataclass(slots=True)
class Requests:
    """Remembers translations, and what of a namespace they depend on."""

    objects: Objects
    rules: ResourceRules
    is_new: Callable[[], None]
    """Called when devices are asked for in a way that no flavor was judged by yet."""
    _surroundings: dict[str, Surroundings] = field(default_factory=dict)
    _asks: dict[Key, tuple[str, int, Surroundings, Asks]] = field(default_factory=dict)
    """By key of the Workload: its life, its generation and its surroundings beside what it asks."""

    def asks_of(self, found: Workload) -> Asks:
        """Translate what a Workload asks for, unless that was done for this generation of it."""
        meta, around = found.metadata, self.around(found.metadata.namespace)
        known = self._asks.get(meta.key)
        if known is not None and known[:2] == (meta.uid, meta.generation) and known[2] is around:
            return known[3]
        asks = asks_of(found, around)
        if asks.shapes and self.objects.devices.learn(asks.shapes):
            self.is_new()
        if meta.generation:
            self._asks[meta.key] = (meta.uid, meta.generation, around, asks)
        return asks

    def around(self, namespace: str) -> Surroundings:
        """Return what the Workloads of a namespace depend on besides themselves."""
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
        """Translate anew what is in a namespace; everything without one."""
        if namespace is None:
            self._surroundings.clear()
        else:
            self._surroundings.pop(namespace, None)

    def forget(self, key: Key) -> None:
        """Forget a Workload that is gone."""
        self._asks.pop(key, None)

    def namespaces(self) -> list[str]:
        """Name the namespaces of which anything was translated."""
        return list(self._surroundings)

    def shapes(self) -> Iterator[Shape]:
        """Give what devices are asked for."""
        return (shape for one in self._asks.values() for shape in one[3].shapes)
