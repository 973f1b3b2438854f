"""A ClusterQueue or a Cohort as a node of the quota tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from queueing.core.facts import ClusterQueueFact, CohortFact
from queueing.core.names import FlavorResource
from queueing.core.quota.cell import Cell


class Node:
    """One node; it is equal only to itself.

    `declared` is the parent that the object names, `parent` the one it hangs under: they differ
    only for the cohorts of a cycle, each of which hangs under nothing.
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
        "weight",
    )

    def __init__(self, name: str, *, is_queue: bool) -> None:
        self.name = name
        self.is_queue = is_queue
        self.fact: ClusterQueueFact | CohortFact | None = None
        self.parent: Node | None = None
        self.declared: Node | None = None
        self.members: dict[Node, None] = {}
        self.cells: dict[FlavorResource, Cell] = {}
        self.weight = Fraction(1)
        self.divisor = 1.0
        """What shares are divided by where no credits bend the weight."""
        self.bend: Fraction | None = None
        """What credits multiply the weight by; None where they do not."""
        self.bent_divisor = 1.0
        """What shares are divided by where they do."""
        self.height = 0
        self.generation = 0

    def weigh(self, weight: Fraction, divisor: float | None = None) -> None:
        """Set the weight, and what shares are divided by where that is not the nearest float."""
        self.weight = weight
        self.divisor = float(weight) if divisor is None else divisor
        self.bend_by(self.bend)

    def bend_by(self, factor: Fraction | None) -> None:
        """Set what the weight is multiplied by."""
        self.bend = factor
        self.bent_divisor = self.divisor if factor is None else float(self.weight * factor)

    def root(self) -> Node:
        """Return the top of this node's tree."""
        node = self
        while node.parent is not None:
            node = node.parent
        return node

    def ancestors(self) -> Iterator[Node]:
        """Go from the parent up to the root."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def children(self) -> Iterator[Node]:
        """Nodes that hang directly under this one, in no promised order."""
        return (member for member in self.members if member.parent is self)

    def subtree(self) -> Iterator[Node]:
        """Go over this node and all below it, parents first, else in no promised order."""
        yield self
        for child in self.children():
            yield from child.subtree()

    def queues(self) -> Iterator[Node]:
        """Go over the queues of the subtree, in no promised order."""
        if self.is_queue:
            yield self
            return
        for child in self.children():
            if child.is_queue:
                yield child
            else:
                yield from child.queues()

    def path(self) -> str:
        """Return `/root cohort/…/name`, as preemption messages print it."""
        names = [self.name, *(above.name for above in self.ancestors())]
        return "/" + "/".join(reversed(names))

    def resources(self) -> Iterable[FlavorResource]:
        """Every flavor-resource that the subtree has quota of or uses."""
        return [fr for fr, cell in self.cells.items() if cell.quota or cell.usage]

    def cell(self, resource: FlavorResource) -> Cell:
        """Return the cell of a flavor-resource; one without quota appears when it is asked for."""
        found = self.cells.get(resource)
        if found is None:
            above = None if self.parent is None else self.parent.cell(resource)
            found = self.cells[resource] = Cell(self, above)
        return found

    def nominal(self, resource: FlavorResource) -> int:
        """Quota that the object itself brings."""
        found = self.cells.get(resource)
        return 0 if found is None else found.limits.nominal

    def quota(self, resource: FlavorResource) -> int:
        """Quota of the subtree: its own, and what its children lend."""
        found = self.cells.get(resource)
        return 0 if found is None else found.quota

    def usage(self, resource: FlavorResource) -> int:
        """Usage of the subtree beyond what its children keep to themselves."""
        found = self.cells.get(resource)
        return 0 if found is None else found.usage

    def borrowed(self, resource: FlavorResource) -> int:
        """Usage above the subtree's own quota; without a parent there is nobody to borrow from."""
        if self.parent is None:
            return 0
        return max(0, self.usage(resource) - self.quota(resource))

    def available(self, resource: FlavorResource) -> int:
        """How much more may be used; never negative for a queue."""
        free = self.cell(resource).available()
        return max(0, free) if self.is_queue else free

    def potential(self, resource: FlavorResource) -> int:
        """How much could be used if nobody else used anything."""
        return self.cell(resource).potential()

    def borrowing_with(self, resource: FlavorResource, amount: int) -> bool:
        """Say whether using `amount` more would exceed the subtree's own quota."""
        cell = self.cell(resource)
        return cell.quota < cell.usage + amount
