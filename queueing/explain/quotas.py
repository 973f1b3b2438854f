"""Quota of a node of the tree as rows: what is used, borrowed, lent and promised."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from queueing.core.names import FlavorResource, ResourceName
from queueing.core.quantities import quantity
from queueing.core.quota.node import QuotaNode
from queueing.explain.lending import lent_in
from queueing.explain.model import QuotaRow
from queueing.state.memory.memory import Memory

Amounts = dict[FlavorResource, int]


@dataclass(slots=True)
class Lending:
    """What the nodes of trees lend; worked out once for each tree and flavor-resource."""

    _found: dict[tuple[QuotaNode, FlavorResource], Mapping[QuotaNode, int]] = field(
        default_factory=dict
    )

    def of(self, node: QuotaNode, one: FlavorResource) -> int:
        """Return what a node lends of a flavor-resource to others outside of it."""
        key = node.root, one
        if key not in self._found:
            self._found[key] = lent_in(*key)
        return self._found[key].get(node, 0)


def queue_rows(node: QuotaNode, promised: Mapping[FlavorResource, int]) -> Iterator[QuotaRow]:
    """Yield the rows of a ClusterQueue."""
    lending = Lending()
    for one in sorted(one for one in node.cells if matters(node, one)):
        cell = node.cells[one]
        yield quota_row(
            node, one, (cell.limits.nominal, cell.held, promised.get(one, 0)), lending.of
        )


def quota_row(
    node: QuotaNode,
    one: FlavorResource,
    sums: tuple[int, int, int],
    lent: Callable[[QuotaNode, FlavorResource], int],
) -> QuotaRow:
    """Return one row of a node; `sums` are its nominal quota, what is used, and what is promised.

    Of a cohort these are sums over all below it.
    """
    cell, name = node.cell(one), one.resource
    nominal, used, promised = sums
    return QuotaRow(
        flavor=one.flavor,
        resource=name,
        nominal=quantity(name, nominal),
        used=quantity(name, used),
        borrowed=quantity(name, max(0, cell.held - cell.quota) if node.parent else 0),
        lent=quantity(name, lent(node, one)),
        promised=quantity(name, promised),
        available=quantity(name, max(0, cell.available())),
        borrowing_limit=_limit(name, cell.limits.borrowing_limit),
        lending_limit=_limit(name, cell.limits.lending_limit),
    )


def matters(node: QuotaNode, one: FlavorResource) -> bool:
    """Say whether a node has quota of a flavor-resource, or uses some."""
    cell = node.cells[one]
    return bool(cell.is_listed or cell.held or cell.usage)


def promised_to(memory: Memory) -> dict[str, Amounts]:
    """Return what the workloads of each ClusterQueue were promised."""
    found: dict[str, Amounts] = {}
    for holder in memory.ledger.promised.values():
        sums = found.setdefault(holder.queue, {})
        for one, amount in holder.usage.items():
            sums[one] = sums.get(one, 0) + amount
    return found


def _limit(resource: ResourceName, amount: int | None) -> str | None:
    return None if amount is None else quantity(resource, amount)
