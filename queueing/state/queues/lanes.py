"""The workloads that compete for the turn of a ClusterQueue, in their order.

A lane is a heap of peers. There is one per queue, or with admission fair sharing one per
LocalQueue; the LocalQueue with the least usage has the next turn. Entries are removed lazily: an
entry is valid while its peers compete and its order is that of their first item.

Where LocalQueues take turns, the owner of a claim keeps its turn: no workload comes before it that
would come after it in the order without turns. Otherwise a workload of lower priority, whose
LocalQueue used less, would take what the owner's victims released, and be preempted by the owner.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush

from queueing.core.names import Key
from queueing.state.queues.peers import Item, Order, Peers

Lane = list[tuple[Order, Peers]]
Place = tuple[float, Order]


class Lanes:
    """The lanes of one ClusterQueue, over peers that `PendingQueue` adds and removes.

    Invariant: all peers that compete are in a lane, at the place of their first item.
    """

    __slots__ = ("_claimants", "_peers", "heaps", "usage_of")

    def __init__(
        self,
        peers: Mapping[Hashable, Peers],
        claimants: Callable[[], Iterable[Item]] = tuple,
    ) -> None:
        self._peers = peers
        self._claimants = claimants
        self.heaps: dict[Key | None, Lane] = {}
        """By LocalQueue if these take turns; else one lane with the key None."""
        self.usage_of: Callable[[Key | None], float] | None = None
        """The usage by which LocalQueues take turns, the least first; None if they do not."""

    def front(self) -> Item | None:
        """Return the first item that competes: the head of the queue, or the one that blocks it."""
        if self.usage_of is None:
            lane = self.heaps.get(None)
            if lane is None:
                return None
            first = _first(lane)
            if first is None:
                del self.heaps[None]
            return first
        found: tuple[float, Order, Item] | None = None
        for local_queue in list(self.heaps):
            item = _first(self.heaps[local_queue])
            if item is None:
                del self.heaps[local_queue]
            elif found is None or (self.usage_of(local_queue), item.order) < found[:2]:
                found = self.usage_of(local_queue), item.order, item
        if found is None:
            return None
        keeping = (one for one in self._claimants() if one.peers is not None and one.peers.competes)
        first = min(keeping, key=_order, default=found[2])
        return first if first.order < found[1] else found[2]

    def place(self, item: Item) -> Place:
        """Return what the queue sorts an item by, disregarding claims."""
        local_queue = item.fact.local_queue
        return (0.0 if self.usage_of is None else self.usage_of(local_queue)), item.order

    def places(self, items: Sequence[Item]) -> list[Place]:
        """Return what the queue sorts these items by, among each other, with regard to claims.

        The owner of a claim gets the least usage of all LocalQueues with an item that it comes
        before in the order without turns.
        """
        found = [self.place(item) for item in items]
        owners = set(map(id, self._claimants())) if self.usage_of is not None else ()
        return [
            (min(usage for usage, other in found if other >= order), order)
            if id(item) in owners
            else (own, order)
            for item, (own, order) in zip(items, found, strict=True)
        ]

    def is_passed_by(self, front: Item, place: Place) -> bool:
        """Say whether a workload at `place` would come before `front`, the first so far."""
        if place > self.place(front):
            return False
        return place[1] <= front.order or all(one is not front for one in self._claimants())

    def lane_of(self, peers: Peers) -> Key | None:
        """Return the key of the lane of these peers."""
        return None if self.usage_of is None else peers.local_queue

    def enter(self, peers: Peers, top: Item) -> None:
        """Add peers to their lane, at the place of `top`, their first item."""
        lane = self.heaps.setdefault(self.lane_of(peers), [])
        if len(lane) > 2 * len(self._peers) + 16:
            self._rebuild()
        else:
            heappush(lane, (top.order, peers))

    def divide(self, usage_of: Callable[[Key | None], float] | None) -> None:
        """Let LocalQueues take turns by `usage_of`, the least first; None: one order for all."""
        self.usage_of = usage_of
        self._rebuild()

    def _rebuild(self) -> None:
        self.heaps = {}
        for peers in self._peers.values():
            top = peers.top()
            if top is not None and peers.competes:
                self.heaps.setdefault(self.lane_of(peers), []).append((top.order, peers))
        for lane in self.heaps.values():
            heapify(lane)


def _order(item: Item) -> Order:
    return item.order


def _first(lane: Lane) -> Item | None:
    """Return the first item of a lane, None if there is none; drop invalid entries before it."""
    while lane:
        order, peers = lane[0]
        top = peers.top()
        if top is not None and top.order is order and peers.competes:
            return top
        heappop(lane)
    return None
