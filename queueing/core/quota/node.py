"""A ClusterQueue or a Cohort as a node of the quota tree, with a cell per flavor-resource.

A cell has the quota of one flavor-resource there, its limits, its usage, and the rules over them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from queueing.core.facts import ClusterQueueFact, CohortFact
from queueing.core.flavor_quotas import Quota
from queueing.core.names import FlavorResource

NO_QUOTA = Quota(nominal=0)


Change = tuple[int, int, int, int]
"""Of a child: the quota that it lends, usage and held beyond its `local`, and its entries."""


@dataclass(slots=True, eq=False, repr=False)
class Cell:
    """Quota and usage of one flavor-resource at one node.

    `quota` is the quota of the subtree: the node's own, and what its children lend. `local` is the
    part of it that is never lent (lendingLimit). `usage` is a queue's usage, or what a cohort's
    children use beyond their own `local`. `entries` is how many objects of the subtree list it in
    their quotas, also with 0. The formulas are those of Kueue (KEP-79).

    There are two columns of usage. `held` is what workloads hold now. `usage`, which all rules
    read, is what will be held when the victims of preemption have left: less what they give back,
    plus what is promised to others. Where nothing is promised the two are equal.
    """

    node: QuotaNode
    parent: Cell | None
    limits: Quota = NO_QUOTA
    is_listed: bool = False
    """Whether the node's own object lists it; if not, `limits` is NO_QUOTA."""
    entries: int = 0
    quota: int = 0
    local: int = 0
    usage: int = 0
    held: int = 0

    def gives(self) -> Change:
        """Return what of it counts at the parent: see `Change`."""
        usage, held = max(self.usage - self.local, 0), max(self.held - self.local, 0)
        return self.quota - self.local, usage, held, self.entries

    def local_available(self) -> int:
        """Return the unused part of `local`."""
        return max(self.local - self.usage, 0)

    def available(self) -> int:
        """Return how much more may be used here now; negative after quota was cut below usage."""
        parent = self.parent
        if parent is None:
            return self.quota - self.usage
        is_root = parent.parent is None  # most often; written out because this is the hottest call
        above = parent.quota - parent.usage if is_root else parent.available()
        local, usage = self.local, self.usage
        limit = self.limits.borrowing_limit
        if limit is not None:
            most = self.quota + limit - (usage if usage > local else local)  # noqa: FURB136 - as above
            if most < above:  # noqa: PLR1730 - as above
                above = most
        return above + local - usage if usage < local else above

    def available_now(self) -> int:
        """Return the same as `available` of what is held, not counting what is promised."""
        if self.parent is None:
            return self.quota - self.held
        above, limit = self.parent.available_now(), self.limits.borrowing_limit
        if limit is not None:
            above = min(above, self.quota + limit - max(self.held, self.local))
        return above + max(self.local - self.held, 0)

    def potential(self) -> int:
        """Return how much could be used here if nothing was used in the whole tree."""
        parent = self.parent
        if parent is None:
            return self.quota
        most = self.local + parent.potential()
        limit = self.limits.borrowing_limit
        return most if limit is None else min(most, self.quota + limit)

    def height_of_fit(self, amount: int) -> tuple[int, bool]:
        """Return up to which height `amount` must borrow, and whether the node there has a parent.

        The height is 0 if nothing is borrowed, else that of the lowest node above whose subtree's
        quota covers the amount; of the root if none does.
        """
        above = self.parent
        if above is None or self.quota >= self.usage + amount:
            return 0, above is not None
        below, remaining = self, amount
        while True:
            free = below.local - below.usage
            remaining -= free if free > 0 else 0  # noqa: FURB136 - as above
            if above.parent is None or above.quota >= above.usage + remaining:
                return above.node.height, above.parent is not None
            below, above = above, above.parent

    def set_limits(self, limits: Quota | None) -> None:
        """Replace the node's own quota and limits, and update the sums up to the root.

        None means that the object does not list this flavor-resource.
        """
        old, before = self.limits, self.gives()
        self.limits = NO_QUOTA if limits is None else limits
        self.entries += (limits is not None) - self.is_listed
        self.is_listed = limits is not None
        self.quota += self.limits.nominal - old.nominal
        self._pass_on(before)

    def receive(self, change: Change) -> None:
        """Add a change of what a child gives, and update the sums up to the root."""
        before = self.gives()
        quota, usage, held, entries = change
        self.quota += quota
        self.usage += usage
        self.held += held
        self.entries += entries
        self._pass_on(before)

    def attach(self, parent: Cell) -> None:
        """Make this a child of a cell of the new parent node."""
        self.parent = parent
        parent.receive(self.gives())

    def detach(self) -> None:
        """Remove this cell from its parent and from the sums above."""
        if self.parent is not None:
            self.parent.receive(_less((0, 0, 0, 0), self.gives()))
            self.parent = None

    def _pass_on(self, before: Change) -> None:
        lending = self.limits.lending_limit
        self.local = 0 if lending is None else max(0, self.quota - lending)
        change = _less(self.gives(), before)
        if self.parent is not None and any(change):
            self.parent.receive(change)


@dataclass(slots=True, eq=False, repr=False)
class QuotaNode:
    """One node; it is equal only to itself.

    `declared` is the parent that the object names, `parent` the actual one in the tree. They differ
    only for the cohorts of a cycle, which have no parent. `height` is the distance to the deepest
    leaf; `generation`, of a root, changes with every change of quotas, weights or structure of its
    tree.
    """

    name: str
    is_queue: bool = field(kw_only=True)
    fact: ClusterQueueFact | CohortFact | None = None
    parent: QuotaNode | None = None
    root: QuotaNode = field(init=False)
    """The root of its tree."""
    declared: QuotaNode | None = None
    members: dict[QuotaNode, None] = field(default_factory=dict)
    cells: dict[FlavorResource, Cell] = field(default_factory=dict)
    weight: Fraction = Fraction(1)
    divisor: float = 1.0
    """What shares are divided by while no credits bend the weight."""
    bend: Fraction | None = None
    """What credits multiply the weight by; None if they do not."""
    bent_divisor: float = 1.0
    """What shares are divided by while credits bend the weight."""
    height: int = 0
    generation: int = 0

    def __post_init__(self) -> None:
        self.root = self

    def weigh(self, weight: Fraction, divisor: float | None = None) -> None:
        """Set the weight, and the divisor of shares if that is not the nearest float."""
        self.weight = weight
        self.divisor = float(weight) if divisor is None else divisor
        self.bend_by(self.bend)

    def bend_by(self, factor: Fraction | None) -> None:
        """Set what credits multiply the weight by; None for nothing."""
        self.bend = factor
        self.bent_divisor = self.divisor if factor is None else float(self.weight * factor)

    def ancestors(self) -> Iterator[QuotaNode]:
        """Yield the nodes from the parent up to the root."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def children(self) -> list[QuotaNode]:
        """Return the children, in no defined order."""
        return [member for member in self.members if member.parent is self]

    def subtree(self) -> Iterator[QuotaNode]:
        """Yield this node and all below it, parents first, otherwise in no defined order."""
        yield self
        for child in self.children():
            yield from child.subtree()

    def queues(self) -> list[QuotaNode]:
        """Return the queues of the subtree, in no defined order."""
        found = [self] if self.is_queue else []
        for one in self.members:
            if one.parent is self:
                found += (one,) if one.is_queue else one.queues()
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
        found = self.cells.get(resource)
        return 0 if found is None else found.limits.nominal

    def available(self, resource: FlavorResource) -> int:
        """Return how much more may be used now; never negative for a queue."""
        cell = self.cells.get(resource) or self.cell(resource)
        free = cell.available()
        return 0 if free < 0 and self.is_queue else free

    def fits_now(self, usage: Mapping[FlavorResource, int]) -> bool:
        """Say whether usage fits into what nobody holds now."""
        cells = ((self.cell(resource), amount) for resource, amount in usage.items())
        return all(amount <= max(0, cell.available_now()) for cell, amount in cells)

    def borrows(self, resources: Iterable[FlavorResource]) -> bool:
        """Say whether more than the subtree's quota of any of the resources is used."""
        cells = filter(None, map(self.cells.get, resources))
        return any(cell.usage > cell.quota for cell in cells)

    def borrowing_with(self, resource: FlavorResource, amount: int) -> bool:
        """Say whether using `amount` more would exceed the subtree's quota."""
        cell = self.cell(resource)
        return cell.quota < cell.usage + amount


def _less(these: Change, those: Change) -> Change:
    quota, usage, held, entries = (this - that for this, that in zip(these, those, strict=True))
    return quota, usage, held, entries
