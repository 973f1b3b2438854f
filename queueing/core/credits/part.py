"""A queue's nominal quota between the namespaces that share it, as credits see it.

Each namespace is entitled to its part, by weight, of what the queue has of every resource. What it
leaves of that is idle, what it uses beyond is borrowed: from namespaces that leave theirs idle, and
the rest from outside of the queue. So whoever uses no more than its part pays nothing, and nobody
earns by idling while all stay within their parts.

All is in micro-credits per second, rounded down, so that a part of three devices between two is
not rounded to a device.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from queueing.core.credits.group import WEIGHT_UNIT
from queueing.core.credits.prices import Prices
from queueing.core.names import FlavorName, FlavorResource, Key, ResourceName, namespace_of

Amounts = Mapping[ResourceName, int]


class Part(NamedTuple):
    """How much of a queue somebody is entitled to: `weight` of `whole`, both in millionths."""

    weight: int
    whole: int


NONE = Part(0, 0)


def weights_of(local_queues: Iterable[tuple[Key, Fraction]]) -> dict[str, int]:
    """Return the weight of each namespace, in millionths: the largest of its LocalQueues'.

    Not their sum: who opens another LocalQueue gains nothing by that.
    """
    found: dict[str, int] = {}
    for key, weight in local_queues:
        name = namespace_of(key)
        found[name] = max(found.get(name, 0), int(weight * WEIGHT_UNIT))
    return found


@dataclass(frozen=True, slots=True)
class Split:
    """What is to be shared, and what it costs."""

    nominal: Mapping[FlavorResource, int]
    prices: Prices

    @property
    def flavors(self) -> list[FlavorName]:
        """The flavors that there is quota of, by name."""
        return sorted({one.flavor for one in self.nominal})

    def entitlement(self, part: Part) -> int:
        """Return what a namespace may use for nothing: of each flavor the dearest, or all."""
        by_flavor: dict[FlavorName, list[int]] = {}
        for one in self.nominal:
            by_flavor.setdefault(one.flavor, []).append(self._own(one, part))
        total = sum if self.prices.add_up else max
        return sum(total(costs) for costs in by_flavor.values())

    def position(self, flavor: FlavorName, used: Amounts, part: Part) -> tuple[int, int]:
        """Return what a namespace leaves idle of one flavor, and what it borrows in it."""
        idle = borrowed = 0
        named = (resource for one, resource in self.nominal if one == flavor)
        for resource in dict.fromkeys((*named, *used)):
            own = self._own(FlavorResource(flavor, resource), part)
            free = own - self.prices.cost(flavor, resource, used.get(resource, 0))
            if self.prices.add_up:
                idle, borrowed = idle + max(free, 0), borrowed + max(-free, 0)
            else:
                idle, borrowed = max(idle, free), max(borrowed, -free)
        return idle, borrowed

    def _own(self, one: FlavorResource, part: Part) -> int:
        """Return what a namespace's part of one resource costs."""
        if not part.whole:
            return 0
        price, per = self.prices.rate(one.flavor, one.resource)
        return price * self.nominal.get(one, 0) * part.weight // (per * part.whole)
