"""Pending workloads, queue by queue, and which of them is worth judging.

Workloads of one queue that every rule judges alike are `Peers`: one of them is judged, and what is
found holds for all. Peers are a heap of items, a queue is a heap of peers, or one per LocalQueue
where these take turns; heaps delete lazily. Peers whose lack is known stand on shelves.

Invariant: an item is in exactly one `Peers`, a `Peers` in exactly one queue, and the counts of a
queue are the sizes of its peers. On a shelf are only peers that wait, at the place of their top.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush

from queueing.core.decisions import Mode, Wait
from queueing.core.facts import WorkloadFact
from queueing.core.names import FlavorResource, Key, QueueName
from queueing.core.ordering import QueueKey
from queueing.core.outline import Outline
from queueing.core.queue_rules import Offer
from queueing.core.rounds import Head, Progress
from queueing.core.usage import Demand
from queueing.state.footing import Footing
from queueing.state.shelf import Bound, Shelves, Slot
from queueing.state.stands import BLOCKING, PARKED, READY, Count, Expects, Stand

Order = QueueKey


class Item:
    """One pending workload. Its order is unique, because it ends with the uid."""

    __slots__ = (
        "fact",
        "footing",
        "head",
        "landmark",
        "order",
        "peers",
        "preempting",
        "progress",
        "progress_at",
        "timestamp",
        "tries",
        "wait",
        "wants",
    )

    def __init__(self, fact: WorkloadFact, order: Order, timestamp: float) -> None:
        self.fact = fact
        self.footing: Footing | None = None
        """What it needs and where it is in a round, as last found; ask whether it holds."""
        self.head: Head | None = None
        """How it was judged when it was last patient; for its fact only."""
        self.order = order
        self.timestamp = timestamp
        self.peers: Peers | None = None
        self.progress: Progress | None = None
        self.progress_at = 0
        """Releases in its queue when `progress` was made."""
        self.landmark: Progress | None = None
        """What `progress` was at a try before; who is there again goes in circles."""
        self.preempting = False
        """Whether its last judgement had victims of its own leave."""
        self.tries = 0
        """How often it was judged and kept its turn, since its last relevant change."""
        self.wait: Wait | None = None
        self.wants: Mapping[FlavorResource, int] = {}
        """What it would use, by its last judgement."""

    def __lt__(self, other: "Item") -> bool:
        return self.fact.key < other.fact.key


class Peers:
    """Pending workloads of one LocalQueue that every rule judges alike, in their order."""

    __slots__ = (
        "demand",
        "doubtful",
        "expects",
        "heap",
        "hope",
        "lacks",
        "local_queue",
        "offer",
        "outline",
        "priority",
        "queue",
        "size",
        "stand",
        "token",
        "wait",
    )

    def __init__(
        self, queue: "PendingQueue", token: Hashable, demand: Demand, first: WorkloadFact
    ) -> None:
        self.queue = queue
        self.token = token
        self.demand = demand
        self.local_queue = first.local_queue
        self.priority = first.priority
        self.heap: list[tuple[Order, Item]] = []
        self.size = 0
        self.stand = Stand.READY
        self.wait: Wait | None = None
        self.lacks: list[tuple[FlavorResource, int]] = []
        """Amounts of which one, at least, must be available before another try is worth it."""
        self.doubtful = False
        """READY only because something was to be had: others may have taken it since."""
        self.hope: frozenset[FlavorResource] = frozenset()
        """Any release of one of these is worth another try."""
        self.expects = Expects.RELEASE
        """What else is."""
        self.offer: Offer | None = None
        """Of which offer `outline` is what the demand means there."""
        self.outline: Outline | None = None

    def __lt__(self, other: "Peers") -> bool:
        return id(self) < id(other)

    def top(self) -> Item | None:
        """Return the first item, dropping what was removed before."""
        heap = self.heap
        while heap:
            order, item = heap[0]
            if item.peers is self and item.order is order:
                return item
            heappop(heap)
        return None

    def items(self) -> Iterator[Item]:
        """Give the items in no particular order."""
        for order, item in self.heap:
            if item.peers is self and item.order is order:
                yield item


Lane = list[tuple[Order, Peers]]


class PendingQueue:
    """The pending workloads of one ClusterQueue."""

    __slots__ = (
        "doors",
        "fickle",
        "hopeful",
        "inadmissible",
        "kept_off",
        "lanes",
        "name",
        "peers",
        "shelves",
        "size",
        "usage_of",
        "waiting",
    )

    def __init__(self, name: QueueName) -> None:
        self.name = name
        self.peers: dict[Hashable, Peers] = {}
        self.lanes: dict[Key | None, Lane] = {}
        """Competing peers: by LocalQueue where these take turns, else all in one."""
        self.usage_of: Callable[[Key | None], float] | None = None
        """By what LocalQueues take turns, the smallest first; None when they do not."""
        self.size = 0
        self.inadmissible = 0
        self.doors: dict[Key | None, Count] = {}
        self.waiting: dict[Peers, None] = {}
        """Peers that are not READY, in the order in which they were judged."""
        self.hopeful: dict[Peers, None] = {}
        """Those of them that any release, or any new victim, may help."""
        self.fickle: dict[Peers, None] = {}
        """Those of the hopeful whom an admission may help."""
        self.kept_off: dict[Peers, None] = {}
        """Those of the hopeful in whose way others got, nothing else."""
        self.shelves: Shelves[Peers] = Shelves()
        """Those of them who need so much of a flavor-resource before another try is worth it."""

    @property
    def active(self) -> int:
        return self.size - self.inadmissible

    def add(self, item: Item, token: Hashable, demand: Demand) -> bool:
        """Put an item among its peers and say whether it is now their first."""
        peers = self.peers.get(token)
        if peers is None:
            peers = self.peers[token] = Peers(self, token, demand, item.fact)
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
        """Take an item out; its peers go when they are empty."""
        peers = peers_of(item)
        was_top = peers.top() is item
        item.peers = None
        peers.size -= 1
        self._count(peers, -1)
        if not peers.size:
            del self.peers[peers.token]
            self._forget_waiting(peers)
        elif was_top:
            self._offer(peers)

    def head(self) -> Item | None:
        """Return the first item whose peers are READY, None when a BLOCKING one comes first."""
        first = self.front()
        if first is None or first.peers is None or first.peers.stand is not Stand.READY:
            return None
        return first

    def front(self) -> Item | None:
        """Return the head, or the one that blocks the queue."""
        if self.usage_of is None:
            lane = self.lanes.get(None)
            if lane is None:
                return None
            first = _first(lane)
            if first is None:
                del self.lanes[None]
            return first
        found: tuple[float, Order, Item] | None = None
        for door in list(self.lanes):
            item = _first(self.lanes[door])
            if item is None:
                del self.lanes[door]
            elif found is None or (self.usage_of(door), item.order) < found[:2]:
                found = self.usage_of(door), item.order, item
        return None if found is None else found[2]

    def divide(self, usage_of: Callable[[Key | None], float] | None) -> None:
        """Let LocalQueues take turns by this, or none."""
        if usage_of != self.usage_of:
            self.usage_of = usage_of
            self._rebuild()
            for peers in self.waiting:
                self._move(peers)

    def place(self, item: Item) -> tuple[float, Order]:
        """Return what the queue is sorted by."""
        door = item.fact.local_queue
        return (0.0 if self.usage_of is None else self.usage_of(door)), item.order

    def settle(self, peers: Peers, stand: Stand) -> None:
        """Note that the peers were judged."""
        peers.lacks = []
        peers.doubtful = False
        self.shelves.take(peers)
        competed = _competes(peers)
        self._stand(peers, stand)
        self.waiting[peers] = None
        if not competed:
            self._offer(peers)  # one that was judged where it waited may block its queue now

    def lack(self, peers: Peers, lacks: list[tuple[FlavorResource, int]]) -> None:
        """Let the peers be woken once one of these amounts is available; none of them is now."""
        peers.lacks = lacks
        self._forget_hope(peers)
        self._file(peers, lacks, None)

    def despair(self, peers: Peers, missing: Iterable[tuple[FlavorResource, int]]) -> None:
        """Let hopeful peers be woken only when one of these can be had, with all victims."""
        self._forget_hope(peers)
        self._file(peers, missing, peers.priority)

    def park_again(self, peers: Peers) -> None:
        """Put peers back who became READY for something that is gone again."""
        lacks = peers.lacks
        self.settle(peers, Stand.PARKED)
        if lacks:
            self.lack(peers, lacks)
        else:
            self._note_hope(peers)

    def covered(self, bound: Bound) -> Peers | None:
        """Return the first peers on a shelf for whom there is enough.

        None also when others come before them, who are READY or block the queue.
        """
        best = self.shelves.first(bound, self.usage_of)
        if best is None:
            return None
        if not self.lanes:
            return best[2]
        first = self.front()
        return best[2] if first is None or best[:2] <= self.place(first) else None

    def hope(self, peers: Peers, resources: Iterable[FlavorResource], *, expects: Expects) -> None:
        """Let the peers be woken by any release of these, and by what else they expect."""
        peers.hope = frozenset(resources)
        peers.expects = expects
        self._note_hope(peers)

    def wake(self, peers: Peers, *, doubtful: bool = False) -> bool:
        """Make the peers READY; say whether they were not."""
        if not doubtful or peers.stand is Stand.PARKED:
            peers.doubtful = doubtful
        if peers.stand is Stand.READY:
            return False
        self._stand(peers, Stand.READY)
        self._forget_waiting(peers)
        self._offer(peers)
        return True

    def _count(self, peers: Peers, number: int) -> None:
        door = self.doors.get(peers.local_queue)
        if door is None:
            door = self.doors[peers.local_queue] = Count()
        door.size += number
        self.size += number
        if peers.stand is PARKED:
            door.inadmissible += number
            self.inadmissible += number
        if not door.size:
            del self.doors[peers.local_queue]

    def _stand(self, peers: Peers, stand: Stand) -> None:
        number = (stand is PARKED) - (peers.stand is PARKED)
        if number:
            self.inadmissible += number * peers.size
            self.doors[peers.local_queue].inadmissible += number * peers.size
        peers.stand = stand

    def _note_hope(self, peers: Peers) -> None:
        self.hopeful[peers] = None
        if peers.expects is Expects.ADMISSION:
            self.fickle[peers] = None
        if peers.wait is not None and peers.wait.mode is Mode.SKIPPED:
            self.kept_off[peers] = None

    def _forget_hope(self, peers: Peers) -> None:
        self.hopeful.pop(peers, None)
        self.fickle.pop(peers, None)
        self.kept_off.pop(peers, None)

    def _forget_waiting(self, peers: Peers) -> None:
        self.waiting.pop(peers, None)
        self._forget_hope(peers)
        self.shelves.take(peers)

    def _file(
        self, peers: Peers, asked: Iterable[tuple[FlavorResource, int]], priority: int | None
    ) -> None:
        """Put peers on shelves, at the place of their top."""
        top = peers.top()
        if top is None:
            raise AssertionError(f"{self.name}: nobody is there to wait")
        door = self._lane_of(peers)
        slots = ((Slot(door, resource, priority), amount) for resource, amount in asked)
        self.shelves.put(peers, slots, top.order)

    def _move(self, peers: Peers) -> None:
        """Let peers that are on shelves stand there at the place of their top."""
        filing, top = self.shelves.filing(peers), peers.top()
        if filing is not None and top is not None:
            door = self._lane_of(peers)
            slots = [(slot._replace(door=door), asked) for slot, asked in filing.asked.items()]
            self.shelves.put(peers, slots, top.order)

    def _offer(self, peers: Peers) -> None:
        """Enter peers at the place of their top, where that is another than before."""
        top, filing = peers.top(), self.shelves.filing(peers)
        if filing is not None and top is not None and filing.place is not top.order:
            self._move(peers)
        if top is None or not _competes(peers):
            return
        lane = self.lanes.setdefault(self._lane_of(peers), [])
        if len(lane) > 2 * len(self.peers) + 16:
            self._rebuild()
        else:
            heappush(lane, (top.order, peers))

    def _lane_of(self, peers: Peers) -> Key | None:
        return None if self.usage_of is None else peers.local_queue

    def _rebuild(self) -> None:
        self.lanes = {}
        for peers in self.peers.values():
            top = peers.top()
            if top is not None and _competes(peers):
                self.lanes.setdefault(self._lane_of(peers), []).append((top.order, peers))
        for lane in self.lanes.values():
            heapify(lane)


def _first(lane: Lane) -> Item | None:
    """Return the first item of a lane, dropping what does not compete any more."""
    while lane:
        order, peers = lane[0]
        top = peers.top()
        if top is not None and top.order is order and _competes(peers):
            return top
        heappop(lane)
    return None


def peers_of(item: Item) -> Peers:
    """Return the peers of an item that is in a queue."""
    if item.peers is None:
        raise AssertionError(f"{item.fact.key} is in no queue, so it has no place in one")
    return item.peers


def _competes(peers: Peers) -> bool:
    return peers.stand is READY or peers.stand is BLOCKING
