"""Divides a ClusterQueue's nominal quota between its namespaces, for credits.

Each namespace is entitled to a part, by weight, of each resource. What it leaves of that is idle;
what it uses beyond is borrowed from namespaces that leave theirs idle, and the rest from outside of
the queue. So a namespace that stays within its part pays nothing, and nobody earns by idling while
all stay within their parts (docs/decisions/0043).

All amounts are in micro-credits per second, rounded down: half of three devices is then not rounded
to whole devices.
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
    """The fraction of a queue that a namespace is entitled to: `weight` / `whole`."""

    weight: int
    whole: int


NONE = Part(0, 0)


def weights_of(local_queues: Iterable[tuple[Key, Fraction]]) -> dict[str, int]:
    """Return the weight of each namespace, in millionths: the largest of its LocalQueues'.

    It is not their sum, so that a namespace gains nothing by creating another LocalQueue.
    """
    found: dict[str, int] = {}
    for key, weight in local_queues:
        name = namespace_of(key)
        found[name] = max(found.get(name, 0), int(weight * WEIGHT_UNIT))
    return found


@dataclass(frozen=True, slots=True)
class Split:
    """The quota to be divided, and its prices."""

    nominal: Mapping[FlavorResource, int]
    prices: Prices

    @property
    def flavors(self) -> list[FlavorName]:
        """The flavors with quota, sorted by name."""
        return sorted({one.flavor for one in self.nominal})

    def entitlement(self, part: Part) -> int:
        """Return the price of a namespace's part, which it may use without paying.

        Per flavor, the dearest resource counts, or all if prices add up.
        """
        by_flavor: dict[FlavorName, list[int]] = {}
        for one in self.nominal:
            by_flavor.setdefault(one.flavor, []).append(self._own(one, part))
        total = sum if self.prices.add_up else max
        return sum(total(costs) for costs in by_flavor.values())

    def position(self, flavor: FlavorName, used: Amounts, part: Part) -> tuple[int, int]:
        """Return what a namespace leaves idle of one flavor, and what it borrows of it."""
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
        """Return the price of a namespace's part of one flavor-resource."""
        if not part.whole:
            return 0
        price, per = self.prices.rate(one.flavor, one.resource)
        return price * self.nominal.get(one, 0) * part.weight // (per * part.whole)
