"""Dominant resource shares of queues and cohorts (KEP-1714)."""

from collections.abc import Mapping
from math import ceil
from types import MappingProxyType

from queueing.core.names import FlavorResource, ResourceName
from queueing.core.quota.node import QuotaNode

MAX_SHARE = 2**63 - 1
"""What the status shows for a node of weight zero that borrows."""

Share = tuple[int, float]
"""(0, ratio / weight), or (1, ratio) for a borrower of weight zero; tuples compare as shares.

Ratios are floats and divided in this order, as in Kueue: with weights such as 3 or 0.7, two shares
that are equal on paper may differ in the last digit, which decides before priority and age
(docs/decisions/0052).
"""

NO_SHARE: Share = (0, 0.0)
NO_USAGE: Mapping[FlavorResource, int] = MappingProxyType({})


class Shares:
    """Computes shares in one tree while its quotas stay the same; its usage may change."""

    __slots__ = ("_lendable",)

    def __init__(self) -> None:
        self._lendable: dict[QuotaNode, dict[ResourceName, int]] = {}

    def of(self, node: QuotaNode, more: Mapping[FlavorResource, int] = NO_USAGE) -> Share:
        """Return a node's share at its present usage plus `more`, in thousandths.

        It is the largest over resources of borrowed / lendable by the parent, each summed over
        flavors, divided by the weight. Usage of a flavor-resource counts only if the node, or one
        below it, has a quota entry for it. A root, and a node that borrows nothing, have share 0.
        """
        parent = node.parent
        if parent is None:
            return NO_SHARE
        borrowed: dict[ResourceName, int] = {}
        for resource, cell in node.cells.items():
            over = cell.usage - cell.quota
            if more and resource in more:
                over += more[resource]
            if over > 0 and cell.entries:
                name = resource.resource
                borrowed[name] = borrowed.get(name, 0) + over
        if not borrowed:
            return NO_SHARE
        lendable, largest = self._lendable.get(parent) or self._lendable_of(parent), 0.0
        for name, amount in borrowed.items():
            whole = lendable.get(name, 0)
            if whole > 0:
                ratio = float(amount) * 1000.0 / whole
                if ratio > largest:  # noqa: PLR1730 - hot path; max() costs twice as much
                    largest = ratio
        divisor = node.bent_divisor
        if divisor != 1.0 and not node.weight:
            return (1, largest) if largest else NO_SHARE
        return 0, largest / divisor

    def _lendable_of(self, parent: QuotaNode) -> dict[ResourceName, int]:
        """Return what a parent could use of each resource, summed over all flavors of its tree."""
        found: dict[ResourceName, int] = {}
        for resource in list(parent.root.cells):
            name = resource.resource
            found[name] = found.get(name, 0) + parent.cell(resource).potential()
        self._lendable[parent] = found
        return found


def weighted_share(node: QuotaNode) -> int:
    """Return `status.fairSharing.weightedShare` of a queue or cohort."""
    infinite, value = Shares().of(node)
    return MAX_SHARE if infinite else ceil(value)
