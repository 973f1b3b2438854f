"""What a tree of queues and cohorts leaves to each queue: the rules of quota, written once more.

Read from the manifests alone, so that a mistake of the product is not made here as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Self

from e2e.quota import amount
from e2e.wire import Object

ZERO = Decimal(0)
Cell = tuple[str, str]
"""A flavor and a resource."""
Held = Mapping[tuple[str, str, str], Decimal]
"""ClusterQueue, flavor and resource → what its Workloads hold."""


@dataclass(frozen=True, slots=True)
class Quota:
    """What one queue or cohort has of its own, may borrow and lends; None is without a limit."""

    nominal: Decimal = ZERO
    borrowing: Decimal | None = None
    lending: Decimal | None = None

    @classmethod
    def read(cls, given: Object) -> Self:
        """Read one entry of `resources` in a resource group."""
        limits = [given.get(name) for name in ("borrowingLimit", "lendingLimit")]
        borrowing, lending = (None if one is None else amount(str(one)) for one in limits)
        return cls(amount(str(given["nominalQuota"])), borrowing, lending)


NO_QUOTA = Quota()


@dataclass(frozen=True, slots=True)
class Node:
    """A ClusterQueue or a cohort: its parent, none at the top, and its quotas."""

    parent: str
    quotas: Mapping[Cell, Quota]

    @classmethod
    def read(cls, item: Object) -> Self:
        spec = item["spec"]
        return cls(
            spec.get("parentName") or spec.get("cohortName") or "",
            {
                (flavor["name"], resource["name"]): Quota.read(resource)
                for group in spec.get("resourceGroups") or []
                for flavor in group["flavors"]
                for resource in flavor["resources"]
            },
        )


class QuotaTree:
    """Queues and cohorts as they were at one moment. No two of them have the same name."""

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self._nodes = dict(nodes)
        self._members: dict[str, list[str]] = {name: [] for name in nodes}
        for name, node in nodes.items():
            if node.parent:
                self._members[node.parent].append(name)

    def available(self, name: str, cell: Cell, held: Held) -> Decimal:
        """Return how much more a queue, or the members of a cohort, may take at most."""
        node, used = self._nodes[name], self._used(name, cell, held)
        if not node.parent:
            return self._offered(name, cell) - used
        kept = self._kept(name, cell)
        above = self.available(node.parent, cell, held)
        borrowing = node.quotas.get(cell, NO_QUOTA).borrowing
        if borrowing is not None:
            lent = self._offered(name, cell) - kept
            above = min(above, lent + borrowing - max(ZERO, used - kept))
        return max(ZERO, kept - used) + above

    def _offered(self, name: str, cell: Cell) -> Decimal:
        own = self._nodes[name].quotas.get(cell, NO_QUOTA).nominal
        lent = (self._offered(one, cell) - self._kept(one, cell) for one in self._members[name])
        return own + sum(lent, ZERO)

    def _kept(self, name: str, cell: Cell) -> Decimal:
        """Return what is lent to nobody."""
        lending = self._nodes[name].quotas.get(cell, NO_QUOTA).lending
        return ZERO if lending is None else max(ZERO, self._offered(name, cell) - lending)

    def _used(self, name: str, cell: Cell, held: Held) -> Decimal:
        """Return what is held of a queue, or what the members of a cohort take from it."""
        if not self._members[name]:
            return held.get((name, *cell), ZERO)
        beyond = (
            max(ZERO, self._used(one, cell, held) - self._kept(one, cell))
            for one in self._members[name]
        )
        return sum(beyond, ZERO)
