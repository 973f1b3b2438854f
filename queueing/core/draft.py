"""The quota tree as the entries of one round spend it: what they took, and what victims will free.

Invariant: what is charged here is undone at the end of the `QuotaTree.attempt()` in which the round
is decided.
"""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager

from queueing.core.entries import Entry
from queueing.core.names import FlavorResource, QueueName, Uid
from queueing.core.nomination import World
from queueing.core.preemption.limits import Departures
from queueing.core.quota.cell import Cell
from queueing.core.quota.node import Node
from queueing.core.quota.view import View
from queueing.core.recall import Recall


class Draft:
    """What a round has taken so far, charged to the quota tree for the length of the round.

    The tree contains everything: earlier usage, admissions, what entries that were not admitted
    keep from others (claims), and victims. From the first victim of a root's tree on, two views of
    its usage are kept: `_future` is without the victims, and `_actual` without the claims.
    """

    __slots__ = (
        "_actual",
        "_claims",
        "_departures",
        "_future",
        "admitted_in",
        "victims",
        "world",
    )

    def __init__(self, world: World) -> None:
        self.world = world
        self.victims: dict[Uid, None] = {}
        self.admitted_in: set[Node] = set()
        """Roots of trees in which this round admitted a workload whose pods may be waited for."""
        self._departures = Departures(world.bounds)
        self._claims: dict[Node, list[tuple[Cell, int]]] = {}
        self._future: dict[Node, View] = {}
        self._actual: dict[Node, View] = {}
        for recall in (world.recalls or {}).values():
            recall.begin_round()

    def recall(self, entry: Entry) -> Recall | None:
        """Return what earlier rounds of the cycle found in an entry's tree; None without recall."""
        recalls = self.world.recalls
        return None if recalls is None else recalls.get(entry.node.root())

    def claim(self, entry: Entry, usage: Mapping[FlavorResource, int]) -> None:
        """Charge, for this round only, quota that an entry keeps from later ones."""
        root = entry.node.root()
        cells = [(entry.node.cell(resource), amount) for resource, amount in usage.items()]
        self._claims.setdefault(root, []).extend(cells)
        self._charge(root, cells, really=False)

    def admit(self, entry: Entry, *, has_checks: bool) -> None:
        """Charge an admission, or a reservation that waits for checks."""
        usage = entry.usage
        cells = [(entry.node.cell(resource), amount) for resource, amount in usage.items()]
        root = entry.node.root()
        self._charge(root, cells, really=True)
        if self.world.settings.expects_pods(admitted=not has_checks):
            self.admitted_in.add(root)

    def free(self, entry: Entry) -> None:
        """Count the victims of an entry as gone for entries that are decided later."""
        root = entry.node.root()
        future = self._future.get(root)
        if future is None:
            future = self._future[root] = View()
            self._actual[root] = self._without_claims(root)
        for queue, usage in _by_queue(entry).items():
            node = self.world.tree.queue(queue)
            for resource, amount in usage.items():
                future.charge(node.cell(resource), -amount)
        new = list(self._new_victims(entry))
        self.victims.update(dict.fromkeys(target.holder.uid for target in entry.targets))
        self._departures.note(new)

    def may_free(self, entry: Entry) -> bool:
        """Say whether limits on concurrent preemptions let the victims of an entry leave now."""
        return self._departures.allow(self._new_victims(entry))

    def _new_victims(self, entry: Entry) -> Iterator[Node]:
        for target in entry.targets:
            if not target.holder.evicted and target.holder.uid not in self.victims:
                yield self.world.tree.queue(target.holder.queue)

    @contextmanager
    def without_victims(self, entry: Entry) -> Generator[None]:
        """Show the tree, within the context, as it will be when the victims so far have left."""
        future = self._future.get(entry.node.root())
        with self.world.tree.attempt():
            if future is not None:
                future.show_all(self.world.tree)
            yield

    def fits(self, entry: Entry) -> bool:
        """Say whether an entry fits once all victims so far, and its own, have left."""
        if not self._future and not entry.targets:
            return _fits(entry)
        future, tree = self._future.get(entry.node.root()), self.world.tree
        leaving = [
            (tree.queue(queue).cell(resource), amount)
            for queue, usage in _by_queue(entry).items()
            for resource, amount in usage.items()
        ]
        with tree.attempt():
            if future is not None:
                future.show(tree, _cells(entry))
                future.show(tree, [cell for cell, _ in leaving])
            for cell, amount in leaving:
                tree.charge(cell, -amount)
            return _fits(entry)

    def fits_now(self, entry: Entry) -> bool:
        """Say whether an entry fits while all victims still hold their quota."""
        actual = self._actual.get(entry.node.root()) if self._actual else None
        if actual is None:
            return True
        with self.world.tree.attempt():
            actual.show(self.world.tree, _cells(entry))
            return _fits(entry)

    def _charge(self, root: Node, cells: list[tuple[Cell, int]], *, really: bool) -> None:
        future = self._future.get(root)
        for cell, amount in cells:
            if future is not None:
                future.charge(cell, amount)
                self._actual[root].charge(cell, amount if really else 0)
            self.world.tree.charge(cell, amount)

    def _without_claims(self, root: Node) -> View:
        view, claims = View(), self._claims.get(root, [])
        with self.world.tree.attempt():
            for cell, amount in claims:
                self.world.tree.charge(cell, -amount)
            for cell, _ in claims:
                view.keep(cell)
        return view


def _cells(entry: Entry) -> list[Cell]:
    return [entry.node.cell(resource) for resource in entry.usage]


def _fits(entry: Entry) -> bool:
    cell = entry.node.cell
    for resource, amount in entry.usage.items():
        if amount > max(0, cell(resource).available()):
            return False
    return True


def _by_queue(entry: Entry) -> dict[QueueName, dict[FlavorResource, int]]:
    """Sum the usage of an entry's victims by queue."""
    sums: dict[QueueName, dict[FlavorResource, int]] = {}
    for target in entry.targets:
        total = sums.setdefault(target.holder.queue, {})
        for resource, amount in target.holder.usage.items():
            total[resource] = total.get(resource, 0) + amount
    return sums
