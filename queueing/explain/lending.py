"""What others use of a node's quota.

What the members of a cohort borrow is charged first to the quota that is unused inside the cohort:
to its members, and to the cohort's own, in proportion to what each has left to lend (what does not
divide goes to the largest remainders). The rest the cohort has borrowed from its own parent.
"""

from collections.abc import Iterator

from queueing.core.names import FlavorResource
from queueing.core.quota.node import QuotaNode


def lent_in(root: QuotaNode, resource: FlavorResource) -> dict[QuotaNode, int]:
    """Return what each node of a tree lends of a flavor-resource; nodes left out lend nothing."""
    lent: dict[QuotaNode, int] = {}
    _charge(root, resource, lent)
    return lent


def left_to_lend(node: QuotaNode, resource: FlavorResource) -> int:
    """Return what a queue itself does not use of what it lends."""
    cell = node.cells.get(resource)
    return 0 if cell is None else max(0, cell.quota - max(cell.usage, cell.local))


def borrowed(node: QuotaNode, resource: FlavorResource) -> int:
    """Return the usage above the subtree's quota; 0 for a root, which cannot borrow."""
    cell = node.cell(resource)
    return 0 if node.parent is None else max(0, cell.usage - cell.quota)


def _charge(node: QuotaNode, resource: FlavorResource, lent: dict[QuotaNode, int]) -> None:
    """Charge what members borrow, and what was taken from above, to who has something left."""
    children = list(_in_order(node))
    wanted = sum(borrowed(child, resource) for child in children)
    wanted += lent.get(node, 0)
    left = [child.cell(resource) for child in children]
    supply = [max(0, cell.quota - max(cell.usage, cell.local)) for cell in left]
    supply.append(node.nominal(resource))
    shares = _in_proportion(min(wanted, sum(supply)), supply)
    for child, share in zip(children, shares, strict=False):
        lent[child] = share
        _charge(child, resource, lent)


def _in_order(node: QuotaNode) -> Iterator[QuotaNode]:
    return iter(sorted(node.children(), key=lambda child: (child.is_queue, child.name)))


def _in_proportion(amount: int, supply: list[int]) -> list[int]:
    """Split an amount by largest remainder; equal remainders in the order given."""
    total = sum(supply)
    if total == 0:
        return [0] * len(supply)
    shares = [amount * one // total for one in supply]
    by_remainder = sorted(range(len(supply)), key=lambda index: -(amount * supply[index] % total))
    for index in by_remainder[: amount - sum(shares)]:
        shares[index] += 1
    return shares
