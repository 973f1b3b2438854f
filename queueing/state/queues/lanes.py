"""The workloads that compete for the turn of a ClusterQueue, in their order.

A lane is a heap of peers. There is one per queue, or with admission fair sharing one per
LocalQueue; the LocalQueue with the least usage has the next turn. Entries are removed lazily: an
entry is valid while its peers compete and its order is that of their first item.
"""

from collections.abc import Callable, Hashable, Mapping
from heapq import heapify, heappop, heappush

from queueing.core.names import Key
from queueing.state.queues.peers import Item, Order, Peers

Lane = list[tuple[Order, Peers]]
Place = tuple[float, Order]


class Lanes:
    """The lanes of one ClusterQueue, over peers that `PendingQueue` adds and removes.

    Invariant: all peers that compete are in a lane, at the place of their first item.
    """

    __slots__ = ("_peers", "heaps", "usage_of")

    def __init__(self, peers: Mapping[Hashable, Peers]) -> None:
        self._peers = peers
        self.heaps: dict[Key | None, Lane] = {}
        """By LocalQueue if these take turns; else one lane with the key None."""
        self.usage_of: Callable[[Key | None], float] | None = None
        """The usage by which LocalQueues take turns, the least first; None if they do not."""

    def front(self) -> Item | None:
        """Return the first item that competes: the head of the queue, or the one that blocks it."""
        if self.usage_of is None:
            lane = self.heaps.get(None)
            return None if lane is None else _first(lane)
        best: tuple[Place, Item] | None = None
        for local_queue in list(self.heaps):
            item = _first(self.heaps[local_queue])
            if item is None:
                del self.heaps[local_queue]
            elif best is None or self.place(item) < best[0]:
                best = self.place(item), item
        return None if best is None else best[1]

    def place(self, item: Item) -> Place:
        """Return what the queue sorts an item by."""
        usage_of = self.usage_of
        return (0.0 if usage_of is None else usage_of(item.fact.local_queue)), item.order

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


def _first(lane: Lane) -> Item | None:
    """Return the first item of a lane, None if there is none; drop invalid entries before it."""
    while lane:
        order, peers = lane[0]
        top = peers.top()
        if top is not None and top.order is order and peers.competes:
            return top
        heappop(lane)
    return None
