"""The quota tree as the entries of one round spend it: what they took, and what victims will free.

Invariant: what is charged here is undone when the round ends; the engine charges it for good.
"""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager

from queueing.core.entries import Entry
from queueing.core.holders import Holder
from queueing.core.names import FlavorResource, QueueName, Uid
from queueing.core.nomination import World
from queueing.core.preemption.limits import Departures
from queueing.core.quota.node import Node


class Draft:
    """What a round has taken so far, to be made within `QuotaTree.attempt`.

    With promises, victims are gone from the usage as soon as they are chosen. As Kueue counts, they
    are gone only where it is asked whether somebody fits.
    """

    __slots__ = ("_admitted", "_departures", "_leaving", "admitted_in", "victims", "world")

    def __init__(self, world: World) -> None:
        self.world = world
        self.victims: dict[Uid, None] = {}
        """The victims of earlier entries, and those whose promises these took."""
        self.admitted_in: set[Node] = set()
        """Roots of trees in which this round admitted a workload whose pods may be waited for."""
        self._departures = Departures(world.bounds)
        self._leaving: list[Holder] = []
        """Victims that still count as using their quota; none with promises."""
        self._admitted: list[tuple[QueueName, Mapping[FlavorResource, int]]] = []

    def admit(self, entry: Entry, *, has_checks: bool) -> None:
        """Charge an admission, or a reservation that waits for checks."""
        self.world.tree.add_usage(entry.head.queue, entry.usage)
        self._admitted.append((entry.head.queue, entry.usage))
        settings = self.world.settings
        blocks = settings.block_admission_until_pods_ready
        if blocks and settings.expects_pods(admitted=not has_checks):
            self.admitted_in.add(entry.node.root)

    def free(self, entry: Entry) -> None:
        """Count the victims of an entry as gone for entries that are decided later."""
        victims = [target.holder for target in entry.targets]
        self._departures.note(list(self._new_victims(entry)))
        if self.world.settings.rules.promises:
            for holder in victims:
                self.world.tree.remove_usage(holder.queue, holder.usage)
        else:
            self._leaving += (one for one in victims if one.uid not in self.victims)
        self.victims.update(dict.fromkeys(holder.uid for holder in victims))

    def may_free(self, entry: Entry) -> bool:
        """Say whether limits on concurrent preemptions let the victims of an entry leave now."""
        return self._departures.allow(self._new_victims(entry))

    def _new_victims(self, entry: Entry) -> Iterator[Node]:
        for target in entry.targets:
            if target.holder.runs and target.holder.uid not in self.victims:
                yield self.world.tree.queue(target.holder.queue)

    @contextmanager
    def without_victims(self) -> Generator[None]:
        """Show the tree, within the context, as it will be when the victims so far have left."""
        with self.world.tree.attempt():
            for holder in self._leaving:
                self.world.tree.remove_usage(holder.queue, holder.usage)
            yield

    def fits(self, entry: Entry) -> bool:
        """Say whether an entry fits once all victims so far, and its own, have left."""
        if not self._leaving and not entry.targets:
            return _fits(entry)
        with self.without_victims():
            for target in entry.targets:
                self.world.tree.remove_usage(target.holder.queue, target.holder.usage)
            return _fits(entry)

    def fits_now(self, entry: Entry) -> bool:
        """Say whether an entry fits into what nobody holds now; True where that is not asked.

        That differs from `fits` only where victims are leaving.
        """
        if not self.world.settings.rules.promises or not (self.world.leaving or self.victims):
            return True
        tree = self.world.tree
        for queue, usage in self._admitted:
            tree.hold(queue, usage)
        fits = all(
            amount <= max(0, entry.node.cell(resource).available_now())
            for resource, amount in entry.usage.items()
        )
        for queue, usage in self._admitted:
            tree.hold(queue, usage, -1)
        return fits


def _fits(entry: Entry) -> bool:
    for resource, amount in entry.usage.items():  # noqa: SIM110 - hot path, as all() costs more
        if amount > entry.node.available(resource):
            return False
    return True
