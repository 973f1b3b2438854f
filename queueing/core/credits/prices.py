"""Prices: what amounts of resources cost, in micro-credits per second."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from queueing.core.names import FlavorName, FlavorResource, ResourceName

_THOUSANDTHS = {"cpu": 1000}
"""Resources with prices per unit but amounts in fractions of it: how many make a unit."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Micro-credits per second of one unit (a device, a core, a byte), by flavor and resource.

    A price without a flavor is for every flavor that has none of its own. Of the resources of one
    flavor only the most expensive is billed, because the cores beside a device come with it; with
    `add_up` all are. Flavors are billed separately, because they are different machines.
    """

    table: Mapping[tuple[FlavorName | None, ResourceName], int]
    add_up: bool = False

    def bill(self, flavor: FlavorName, amounts: Mapping[ResourceName, int]) -> int:
        """Return what amounts of one flavor cost, rounded down."""
        costs = [self.cost(flavor, resource, amount) for resource, amount in amounts.items()]
        return self.together(costs)

    def together(self, costs: Sequence[int]) -> int:
        """Return what resources of one flavor cost together: the dearest one, or all."""
        return sum(costs) if self.add_up else max(costs, default=0)

    def by_flavor(self, usage: Mapping[FlavorResource, int]) -> dict[FlavorName, int]:
        """Return what a usage costs, by flavor."""
        if len(usage) == 1:
            (((flavor, resource), amount),) = usage.items()
            return {flavor: self.cost(flavor, resource, amount)}
        return {flavor: self.bill(flavor, one) for flavor, one in sorted(_divided(usage).items())}

    def total(self, usage: Mapping[FlavorResource, int]) -> int:
        """Return what a usage costs in all flavors."""
        return sum(self.by_flavor(usage).values())

    def by_resource(self, usage: Mapping[FlavorResource, int]) -> dict[FlavorResource, int]:
        """Return `total` divided by flavor-resource; resources that are not billed are left out."""
        found: dict[FlavorResource, int] = {}
        for flavor, amounts in _divided(usage).items():
            costs = {one: self.cost(flavor, one, amount) for one, amount in amounts.items()}
            if not self.add_up:
                dearest = max(sorted(costs), key=lambda resource: costs[resource])
                costs = {dearest: costs[dearest]}
            found |= {FlavorResource(flavor, one): cost for one, cost in costs.items()}
        return found

    def cost(self, flavor: FlavorName, resource: ResourceName, amount: int) -> int:
        """Return what an amount of one resource costs."""
        price, per = self.rate(flavor, resource)
        return price * amount // per

    def rate(self, flavor: FlavorName, resource: ResourceName) -> tuple[int, int]:
        """Return the price of a resource, and for how many units of its amounts that is."""
        price = self.table.get((flavor, resource))
        if price is None:
            price = self.table.get((None, resource), 0)
        return price, _THOUSANDTHS.get(resource, 1)


def _divided(
    usage: Mapping[FlavorResource, int],
) -> dict[FlavorName, dict[ResourceName, int]]:
    found: dict[FlavorName, dict[ResourceName, int]] = {}
    for (flavor, resource), amount in usage.items():
        found.setdefault(flavor, {})[resource] = amount
    return found
