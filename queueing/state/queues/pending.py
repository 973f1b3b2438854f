"""The pending workloads of one ClusterQueue, and which of them is worth judging.

They are grouped into `Peers`. A group competes for the queue's turn, in a lane, or it waits: on
shelves for an amount that its last judgement lacked, or for any event that may help it. Lanes and
shelves are `Row`s.

Invariant: a `Peers` is in exactly one queue. Those that are READY or BLOCKING are in one lane,
those that are PARKED on any number of shelves, others in no row; all at their first item's place.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from math import inf
from operator import itemgetter

from queueing.core.names import FlavorResource, Key, QueueName, ResourceName
from queueing.core.ordering import QueueKey
from queueing.core.usage import Demand
from queueing.state.queues.peers import ASIDE, PARKED, READY, Item, Peers, Slot, Stand

Entry = tuple[QueueKey, Peers]
_place = itemgetter(0)
Bound = Callable[[QueueName, FlavorResource, int | None], int]
"""Returns how much of a flavor-resource a queue can have at most with a priority: see `Slot`."""
LOOKED_AT = 64
"""How many groups of a lane are asked at most what they may take of a queue's quota."""
LANE = Slot()
"""The lane of all, where LocalQueues take no turns."""
IN_LANE: Mapping[Slot, int] = {LANE: 0}


@dataclass(slots=True, eq=False)
class Row:
    """Groups and what they wait for, sorted by place: the order of their first item.

    A *lane* is a row of those that compete for the queue's turn; a *shelf* is a row of those that
    wait until an amount of a flavor-resource can be had (docs/decisions/0031). Rows are plain
    sorted lists: among 10,000 groups the first that an amount is enough for is found in a third of
    a millisecond.
    """

    entries: list[Entry] = field(default_factory=list)
    _amounts: list[int] = field(default_factory=list)
    _least: float | None = inf
    """The smallest amount, None when it is to be looked for."""

    def add(self, place: QueueKey, peers: Peers, amount: int) -> None:
        at = bisect_left(self.entries, place, key=_place)
        self.entries.insert(at, (place, peers))
        self._amounts.insert(at, amount)
        if self._least is not None and amount < self._least:
            self._least = amount

    def discard(self, place: QueueKey, peers: Peers) -> None:
        """Remove a group that is there."""
        entries = self.entries
        at = 0 if entries[0][1] is peers else bisect_left(entries, place, key=_place)
        while entries[at][1] is not peers:
            at += 1
        del entries[at]
        if self._amounts.pop(at) == self._least:
            self._least = None

    def first(self, available: int) -> Entry | None:
        """Return the first group, with its place, that waits for at most an amount."""
        if self._least is None:
            self._least = min(self._amounts)
        if available < self._least:
            return None
        for at, amount in enumerate(self._amounts):
            if amount <= available:
                return self.entries[at]
        raise AssertionError("the smallest amount drifted")


@dataclass(slots=True, eq=False)
class PendingQueue:
    """The pending workloads of one ClusterQueue."""

    name: QueueName
    peers: dict[Hashable, Peers] = field(default_factory=dict)
    lanes: dict[Slot, Row] = field(default_factory=dict)
    """One, or one for each LocalQueue if these take turns; none of them is empty."""
    shelves: dict[Slot, Row] = field(default_factory=dict)
    """None of them is empty."""
    usage_of: Callable[[Key | None], float] | None = None
    """The usage by which LocalQueues take turns, the least first; None if they do not."""
    waiting: dict[Peers, None] = field(default_factory=dict)
    """Peers that are not READY, in the order in which they were judged."""
    hopeful: dict[Peers, None] = field(default_factory=dict)
    """The part of `waiting` that any event of its tree may help: on no shelf, not ASIDE."""
    releases: int = 0
    """How often one of its workloads gave quota back, or budgets were loosened. A search over
    flavors begins anew when that number has changed."""
    judged: int = 0
    """Kueue mode: in how many rounds one of its workloads was judged."""

    def add(self, item: Item, token: Hashable, demand: Demand) -> bool:
        """Add an item to the peers of this token; say whether it is now their first."""
        peers = self.peers.get(token)
        if peers is None:
            local_queue = item.fact.local_queue
            in_lane = self._in_lane(local_queue)
            peers = Peers(self.name, token, demand, local_queue, item.fact.priority, in_lane)
            self.peers[token] = peers
        item.peers = peers
        insort(peers.line, (item.order, item))
        if peers.line[0][1] is not item:
            return False
        self._put(peers, peers.asked)
        return True

    def remove(self, item: Item) -> None:
        """Remove an item, and its peers if they are empty then."""
        peers = item.peers
        line = peers.line
        del line[bisect_left(line, (item.order, item))]
        if not line:
            del self.peers[peers.token]
            self._take(peers)
            self.waiting.pop(peers, None)
            self.hopeful.pop(peers, None)
        elif peers.place is item.order:
            self._put(peers, peers.asked)

    def front(self) -> Item | None:
        """Return the first item that competes: the head of the queue, or the one that blocks it."""
        lanes, usage_of = self.lanes, self.usage_of
        if not lanes:
            return None
        if usage_of is None:
            return lanes[LANE].entries[0][1].line[0][1]
        firsts = ((usage_of(slot.local_queue), *row.entries[0]) for slot, row in lanes.items())
        return min(firsts, key=itemgetter(0, 1))[2].line[0][1]

    def head(self) -> Item | None:
        """Return the first READY item; None if there is none, or a BLOCKING one comes before it."""
        first = self.front() if self.lanes else None
        return first if first is not None and first.peers.stand is READY else None

    def place(self, item: Item) -> tuple[float, QueueKey]:
        """Return what the queue sorts an item by."""
        usage_of = self.usage_of
        return (0.0 if usage_of is None else usage_of(item.fact.local_queue)), item.order

    def pending(self, only: Key | None = None) -> tuple[int, int]:
        """Count the items, or `only` those of a LocalQueue: those not PARKED, and the others."""
        counts = [0, 0]
        for peers in self.peers.values():
            if only in (None, peers.local_queue):
                counts[peers.stand is PARKED] += peers.size
        return counts[0], counts[1]

    def divide(self, usage_of: Callable[[Key | None], float] | None) -> None:
        """Let LocalQueues take turns by `usage_of`, the least first; None: one order for all."""
        if usage_of == self.usage_of:
            return
        self.usage_of = usage_of
        for peers in self.peers.values():
            self._put(peers, self._in_turn(peers, peers.asked))

    def set_aside(self, peers: Peers, stand: Stand) -> None:
        """Set the state of peers that were judged; they are on no shelf then."""
        peers.stand = stand
        self._put(peers, self._in_lane(peers.local_queue) if peers.competes else {})
        self.waiting.pop(peers, None)
        self.waiting[peers] = None
        if stand is ASIDE:
            self.hopeful.pop(peers, None)
        else:
            self.hopeful[peers] = None

    def shelve(self, peers: Peers, amounts: Mapping[Slot, int]) -> None:
        """Put parked peers on shelves until one of these amounts can be had."""
        self.hopeful.pop(peers, None)
        self._put(peers, amounts if self.usage_of is None else self._in_turn(peers, amounts))

    def covered(self, bound: Bound) -> Peers | None:
        """Return the first peers on a shelf for which there is enough, by `bound`.

        None also if peers that are READY or BLOCKING come before them.
        """
        best: Peers | None = None
        least: tuple[float, QueueKey] | None = None
        for (local_queue, resource, priority), shelf in self.shelves.items():
            found = None if resource is None else shelf.first(bound(self.name, resource, priority))
            if found is not None:
                usage = 0.0 if self.usage_of is None else self.usage_of(local_queue)
                if least is None or (usage, found[0]) < least:
                    least, best = (usage, found[0]), found[1]
        if least is None or not self.lanes:
            return best
        first = self.front()
        return best if first is None or least < self.place(first) else None

    def may_take(self, resource: ResourceName, left: int) -> int:
        """Return how much of `left` READY workloads may take that request no more than it.

        Only the first `LOOKED_AT` groups of each lane are asked.
        """
        found = 0
        for lane in self.lanes.values():
            for _, peers in islice(lane.entries, LOOKED_AT):
                amount = peers.demand.shape.requests.get(resource, 0)
                if amount <= left and peers.stand is READY:
                    found += amount * len(peers.line)
                    if found >= left:
                        return left
        return found

    def wake(self, peers: Peers) -> bool:
        """Make peers READY; say whether they were not READY before."""
        if peers.stand is READY:
            return False
        peers.stand = READY
        self.waiting.pop(peers, None)
        self.hopeful.pop(peers, None)
        self._put(peers, self._in_lane(peers.local_queue))
        return True

    def _in_turn(self, peers: Peers, asked: Mapping[Slot, int]) -> Mapping[Slot, int]:
        """Return rows as those of the peers' LocalQueue, or of all where these take no turns."""
        local_queue = None if self.usage_of is None else peers.local_queue
        return {one._replace(local_queue=local_queue): amount for one, amount in asked.items()}

    def _in_lane(self, local_queue: Key | None) -> Mapping[Slot, int]:
        return IN_LANE if self.usage_of is None else {Slot(local_queue): 0}

    def _put(self, peers: Peers, asked: Mapping[Slot, int]) -> None:
        """Put peers in rows, at the place of their first item, and in no other."""
        self._take(peers)
        place = peers.line[0][0]
        for slot, amount in asked.items():
            rows = self.lanes if slot.resource is None else self.shelves
            row = rows.get(slot)
            if row is None:
                row = rows[slot] = Row()
            row.add(place, peers, amount)
        peers.asked, peers.place = asked, place

    def _take(self, peers: Peers) -> None:
        """Take peers out of all rows."""
        if peers.place is None:
            return
        for slot in peers.asked:
            rows = self.lanes if slot.resource is None else self.shelves
            row = rows[slot]
            row.discard(peers.place, peers)
            if not row.entries:
                del rows[slot]
