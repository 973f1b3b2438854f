"""The pending workloads of one ClusterQueue, and which of them is worth judging.

They are grouped into `Peers`. A group competes for the queue's turn (`Lanes`), or it waits: on a
shelf for an amount that its last judgement lacked (`Shelves`), or for any event that may help it.

Invariant: a `Peers` is in exactly one queue, and the counts of a queue are the sizes of its peers.
Only peers that are PARKED are on a shelf, at the place of their first item.
"""

from collections.abc import Callable, Hashable, Iterable
from heapq import heappush
from itertools import islice

from queueing.core.names import FlavorResource, Key, QueueName, ResourceName
from queueing.core.usage import Demand
from queueing.state.queues.lanes import Lanes
from queueing.state.queues.peers import Item, Peers, peers_of
from queueing.state.queues.shelf import Bound, Shelves, Slot
from queueing.state.queues.stands import ASIDE, PARKED, READY, Count, Stand

LOOKED_AT = 64
"""How many groups of equals are asked at most what they may take of a queue's quota."""


class PendingQueue:
    """The pending workloads of one ClusterQueue."""

    __slots__ = (
        "by_local_queue",
        "competing",
        "hopeful",
        "inadmissible",
        "lanes",
        "name",
        "peers",
        "shelves",
        "size",
        "waiting",
    )

    def __init__(self, name: QueueName) -> None:
        self.name = name
        self.peers: dict[Hashable, Peers] = {}
        self.lanes = Lanes(self.peers)
        """The peers that compete for the turn of the queue."""
        self.size = 0
        self.inadmissible = 0
        self.competing: dict[Peers, None] = {}
        """Peers that are READY."""
        self.by_local_queue: dict[Key | None, Count] = {}
        self.waiting: dict[Peers, None] = {}
        """Peers that are not READY, in the order in which they were judged."""
        self.hopeful: dict[Peers, None] = {}
        """The part of `waiting` that any event of its tree may help: on no shelf, not ASIDE."""
        self.shelves: Shelves[Peers] = Shelves()
        """The part of `waiting` for which an amount of a flavor-resource must be had first."""

    @property
    def active(self) -> int:
        return self.size - self.inadmissible

    def add(self, item: Item, token: Hashable, demand: Demand) -> bool:
        """Add an item to the peers of this token; say whether it is now their first."""
        peers = self.peers.get(token)
        if peers is None:
            peers = self.peers[token] = Peers(self.name, token, demand, item.fact)
            self.competing[peers] = None
        before = peers.top()
        item.peers = peers
        heappush(peers.heap, (item.order, item))
        peers.size += 1
        self._count(peers, 1)
        if before is not None and before.order < item.order:
            return False
        self._offer(peers)
        return True

    def remove(self, item: Item) -> None:
        """Remove an item, and its peers if they are empty then."""
        peers = peers_of(item)
        was_top = peers.top() is item
        item.peers = None
        peers.size -= 1
        self._count(peers, -1)
        if not peers.size:
            del self.peers[peers.token]
            self.competing.pop(peers, None)
            self._stop_waiting(peers)
        elif was_top:
            self._offer(peers)

    def head(self) -> Item | None:
        """Return the first READY item; None if there is none, or a BLOCKING one comes before it."""
        first = self.lanes.front()
        if first is None or first.peers is None or first.peers.stand is not READY:
            return None
        return first

    def divide(self, usage_of: Callable[[Key | None], float] | None) -> None:
        """Let LocalQueues take turns by `usage_of`, the least first; None: one order for all."""
        if usage_of != self.lanes.usage_of:
            self.lanes.divide(usage_of)
            for peers in self.waiting:
                self._move(peers)

    def set_aside(self, peers: Peers, stand: Stand) -> None:
        """Set the state of peers that were judged; they are on no shelf then."""
        self.shelves.take(peers)
        competed = peers.competes
        self._stand(peers, stand)
        self.waiting.pop(peers, None)
        self.waiting[peers] = None
        if stand is ASIDE:
            self.hopeful.pop(peers, None)
        else:
            self.hopeful[peers] = None
        if not competed:
            self._offer(peers)

    def shelve(
        self,
        peers: Peers,
        amounts: Iterable[tuple[FlavorResource, int]],
        priority: int | None = None,
    ) -> None:
        """Put parked peers on shelves until one of these amounts can be had.

        With a priority, what possible victims hold counts as well as free quota: see `Slot`.
        """
        top = peers.top()
        if top is None:
            raise AssertionError(f"{self.name}: nobody is there to wait")
        local_queue = self.lanes.lane_of(peers)
        slots = [(Slot(local_queue, resource, priority), amount) for resource, amount in amounts]
        self.hopeful.pop(peers, None)
        self.shelves.take(peers)
        self.shelves.put(peers, slots, top.order)

    def covered(self, bound: Bound) -> Peers | None:
        """Return the first peers on a shelf for which there is enough, by `bound`.

        None also if peers that are READY or BLOCKING come before them.
        """
        best = self.shelves.first(bound, self.lanes.usage_of)
        if best is None:
            return None
        first = self.lanes.front() if self.lanes.heaps else None
        return best[2] if first is None or best[:2] < self.lanes.place(first) else None

    def may_take(self, resource: ResourceName, left: int) -> int:
        """Return how much of `left` READY workloads may take that request no more than it.

        Only the first `LOOKED_AT` groups of equals are asked.
        """
        found = 0
        for peers in islice(self.competing, LOOKED_AT):
            amount = peers.requests.get(resource, 0)
            if amount <= left:
                found += amount * peers.size
                if found >= left:
                    return left
        return found

    def wake(self, peers: Peers) -> bool:
        """Make peers READY; say whether they were not READY before."""
        if peers.stand is READY:
            return False
        self._stand(peers, READY)
        self._stop_waiting(peers)
        self._offer(peers)
        return True

    def _count(self, peers: Peers, number: int) -> None:
        count = self.by_local_queue.get(peers.local_queue)
        if count is None:
            count = self.by_local_queue[peers.local_queue] = Count()
        count.size += number
        self.size += number
        if peers.stand is PARKED:
            count.inadmissible += number
            self.inadmissible += number
        if not count.size:
            del self.by_local_queue[peers.local_queue]

    def _stand(self, peers: Peers, stand: Stand) -> None:
        number = (stand is PARKED) - (peers.stand is PARKED)
        if number:
            self.inadmissible += number * peers.size
            self.by_local_queue[peers.local_queue].inadmissible += number * peers.size
        if stand is READY:
            self.competing[peers] = None
        else:
            self.competing.pop(peers, None)
        peers.stand = stand

    def _stop_waiting(self, peers: Peers) -> None:
        self.waiting.pop(peers, None)
        self.hopeful.pop(peers, None)
        self.shelves.take(peers)

    def _move(self, peers: Peers) -> None:
        """Correct the place of peers on their shelves: their first item changed."""
        filing, top = self.shelves.filing(peers), peers.top()
        if filing is not None and top is not None:
            local_queue = self.lanes.lane_of(peers)
            slots = [
                (one.slot._replace(local_queue=local_queue), asked) for one, asked in filing.asked
            ]
            self.shelves.take(peers)
            self.shelves.put(peers, slots, top.order)

    def _offer(self, peers: Peers) -> None:
        """Put peers in their lane, or at their new place on shelves.

        Called when their first item changed, or when they may have begun to compete.
        """
        top, filing = peers.top(), self.shelves.filing(peers)
        if filing is not None and top is not None and filing.place is not top.order:
            self._move(peers)
        if top is not None and peers.competes:
            self.lanes.enter(peers, top)
