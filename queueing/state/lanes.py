"""Who of a queue comes next: those that compete for its turn, in their order.

They are one heap, or one per LocalQueue where LocalQueues take turns. Heaps delete lazily: an entry
counts while its peers compete, and while its order is that of their first item.
"""

from collections.abc import Callable, Hashable, Mapping
from heapq import heapify, heappop, heappush

from queueing.core.names import Key
from queueing.state.peers import Item, Order, Peers

Lane = list[tuple[Order, Peers]]


class Lanes:
    """The lanes of one queue, over peers that the queue adds and removes.

    Invariant: all who compete can be reached from a lane, at the place of their first item.
    """

    __slots__ = ("_peers", "heaps", "usage_of")

    def __init__(self, peers: Mapping[Hashable, Peers]) -> None:
        self._peers = peers
        self.heaps: dict[Key | None, Lane] = {}
        """By LocalQueue where these take turns, else all in one."""
        self.usage_of: Callable[[Key | None], float] | None = None
        """By what LocalQueues take turns, the smallest first; None when they do not."""

    def front(self) -> Item | None:
        """Return the head of the queue, or the one that blocks it."""
        if self.usage_of is None:
            lane = self.heaps.get(None)
            if lane is None:
                return None
            first = _first(lane)
            if first is None:
                del self.heaps[None]
            return first
        found: tuple[float, Order, Item] | None = None
        for door in list(self.heaps):
            item = _first(self.heaps[door])
            if item is None:
                del self.heaps[door]
            elif found is None or (self.usage_of(door), item.order) < found[:2]:
                found = self.usage_of(door), item.order, item
        return None if found is None else found[2]

    def place(self, item: Item) -> tuple[float, Order]:
        """Return what the queue is sorted by."""
        door = item.fact.local_queue
        return (0.0 if self.usage_of is None else self.usage_of(door)), item.order

    def door_of(self, peers: Peers) -> Key | None:
        """Return whose lane the peers are in."""
        return None if self.usage_of is None else peers.local_queue

    def enter(self, peers: Peers, top: Item) -> None:
        """Let peers compete at the place of their first item."""
        door = None if self.usage_of is None else peers.local_queue
        lane = self.heaps.setdefault(door, [])
        if len(lane) > 2 * len(self._peers) + 16:
            self._rebuild()
        else:
            heappush(lane, (top.order, peers))

    def divide(self, usage_of: Callable[[Key | None], float] | None) -> None:
        """Let LocalQueues take turns by this, or none."""
        self.usage_of = usage_of
        self._rebuild()

    def _rebuild(self) -> None:
        self.heaps = {}
        for peers in self._peers.values():
            top = peers.top()
            if top is not None and peers.competes:
                self.heaps.setdefault(self.door_of(peers), []).append((top.order, peers))
        for lane in self.heaps.values():
            heapify(lane)


def _first(lane: Lane) -> Item | None:
    """Return the first item of a lane, dropping what does not compete any more."""
    while lane:
        order, peers = lane[0]
        top = peers.top()
        if top is not None and top.order is order and peers.competes:
            return top
        heappop(lane)
    return None
