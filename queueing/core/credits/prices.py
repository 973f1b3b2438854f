"""Prices: what amounts of resources cost, in micro-credits per second."""

from collections.abc import Mapping
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
        return sum(costs) if self.add_up else max(costs, default=0)

    def by_flavor(self, amounts: Mapping[FlavorResource, int]) -> dict[FlavorName, int]:
        """Return what a usage costs, by flavor."""
        if len(amounts) == 1:
            (((flavor, resource), amount),) = amounts.items()
            return {flavor: self.cost(flavor, resource, amount)}
        sums: dict[FlavorName, dict[ResourceName, int]] = {}
        for (flavor, resource), amount in amounts.items():
            sums.setdefault(flavor, {})[resource] = amount
        return {flavor: self.bill(flavor, one) for flavor, one in sorted(sums.items())}

    def shares(
        self, flavor: FlavorName, amounts: Mapping[ResourceName, int]
    ) -> dict[ResourceName, int]:
        """Return the resources that are billed, with their costs: the dearest one, or all."""
        costs = {resource: self.cost(flavor, resource, one) for resource, one in amounts.items()}
        if self.add_up or not costs:
            return costs
        dearest = max(sorted(costs), key=lambda resource: costs[resource])
        return {dearest: costs[dearest]}

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
