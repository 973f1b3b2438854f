"""A ClusterQueue or a Cohort as a node of the quota tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from queueing.core.facts import ClusterQueueFact, CohortFact
from queueing.core.names import FlavorResource
from queueing.core.quota.cell import Cell


class Node:
    """One node; it is equal only to itself.

    `declared` is the parent that the object names, `parent` the actual one in the tree. They differ
    only for the cohorts of a cycle, which have no parent. `height` is the distance to the deepest
    leaf; `generation`, of a root, changes with every change of quotas, weights or structure of its
    tree.
    """

    __slots__ = (
        "bend",
        "bent_divisor",
        "cells",
        "declared",
        "divisor",
        "fact",
        "generation",
        "height",
        "is_queue",
        "members",
        "name",
        "parent",
        "root",
        "weight",
    )

    def __init__(self, name: str, *, is_queue: bool) -> None:
        self.name = name
        self.is_queue = is_queue
        self.fact: ClusterQueueFact | CohortFact | None = None
        self.parent: Node | None = None
        self.root: Node = self
        """The root of its tree."""
        self.declared: Node | None = None
        self.members: dict[Node, None] = {}
        self.cells: dict[FlavorResource, Cell] = {}
        self.weight = Fraction(1)
        self.divisor = 1.0
        """What shares are divided by while no credits bend the weight."""
        self.bend: Fraction | None = None
        """What credits multiply the weight by; None if they do not."""
        self.bent_divisor = 1.0
        """What shares are divided by while credits bend the weight."""
        self.height = 0
        self.generation = 0

    def weigh(self, weight: Fraction, divisor: float | None = None) -> None:
        """Set the weight, and the divisor of shares if that is not the nearest float."""
        self.weight = weight
        self.divisor = float(weight) if divisor is None else divisor
        self.bend_by(self.bend)

    def bend_by(self, factor: Fraction | None) -> None:
        """Set what credits multiply the weight by; None for nothing."""
        self.bend = factor
        self.bent_divisor = self.divisor if factor is None else float(self.weight * factor)

    def ancestors(self) -> Iterator[Node]:
        """Yield the nodes from the parent up to the root."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def children(self) -> list[Node]:
        """Return the children, in no defined order."""
        return [member for member in self.members if member.parent is self]

    def subtree(self) -> Iterator[Node]:
        """Yield this node and all below it, parents first, otherwise in no defined order."""
        yield self
        for child in self.children():
            yield from child.subtree()

    def queues(self) -> list[Node]:
        """Return the queues of the subtree, in no defined order."""
        found = [self] if self.is_queue else []
        for one in self.children():
            if one.is_queue:
                found.append(one)
            else:
                found += one.queues()
        return found

    def path(self) -> str:
        """Return `/root cohort/…/name`, as preemption messages print it."""
        names = [self.name, *(above.name for above in self.ancestors())]
        return "/" + "/".join(reversed(names))

    def resources(self) -> Iterable[FlavorResource]:
        """Return every flavor-resource of which the subtree has quota or usage."""
        return [fr for fr, cell in self.cells.items() if cell.quota or cell.usage or cell.held]

    def cell(self, resource: FlavorResource) -> Cell:
        """Return the cell of a flavor-resource; one without quota is created by the first call."""
        found = self.cells.get(resource)
        if found is None:
            above = None if self.parent is None else self.parent.cell(resource)
            found = self.cells[resource] = Cell(self, above)
        return found

    def nominal(self, resource: FlavorResource) -> int:
        """Return the quota of the object itself."""
        found = self.cells.get(resource)
        return 0 if found is None else found.limits.nominal

    def available(self, resource: FlavorResource) -> int:
        """Return how much more may be used now; never negative for a queue."""
        cell = self.cells.get(resource) or self.cell(resource)
        free = cell.available()
        return 0 if free < 0 and self.is_queue else free

    def borrows(self, resources: Iterable[FlavorResource]) -> bool:
        """Say whether more than the subtree's quota of any of the resources is used."""
        for one in resources:
            cell = self.cells.get(one)
            if cell is not None and cell.usage > cell.quota:
                return True
        return False

    def borrowing_with(self, resource: FlavorResource, amount: int) -> bool:
        """Say whether using `amount` more would exceed the subtree's quota."""
        cell = self.cell(resource)
        return cell.quota < cell.usage + amount
