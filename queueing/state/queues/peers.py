"""A pending workload (`Item`), and groups of equivalent ones (`Peers`).

Peers have the same LocalQueue, requests and priority, so every rule judges them alike: one of them
is judged, and the result holds for all. They are a heap of items in the order of the queue. Removed
items stay in the heap until they come to its top: an entry is valid while its item points to these
peers and has the order of the entry.

Invariant: an item is in exactly one `Peers`.
"""

from collections.abc import Hashable, Iterator, Mapping
from heapq import heappop

from queueing.core.decisions import Wait
from queueing.core.entries import NOTHING
from queueing.core.facts import WorkloadFact
from queueing.core.names import FlavorResource, QueueName
from queueing.core.ordering import QueueKey
from queueing.core.outline import Outline
from queueing.core.queue_rules import Offer
from queueing.core.rounds import Head, Progress
from queueing.core.usage import Demand
from queueing.state.queues.footing import Footing
from queueing.state.queues.stands import BLOCKING, READY, RELEASE, Stand

Order = QueueKey

Lacks = tuple[tuple[FlavorResource, int], ...]
"""Amounts of flavor-resources. Another attempt is worthwhile once one of them is available."""


class Item:
    """One pending workload. Its `order` is unique, because it ends with the uid."""

    __slots__ = (
        "fact",
        "footing",
        "head",
        "is_limited",
        "landmark",
        "order",
        "peers",
        "preempting",
        "progress",
        "progress_at",
        "progress_in",
        "timestamp",
        "tries",
        "wait",
        "wants",
    )

    def __init__(self, fact: WorkloadFact, order: Order, timestamp: float) -> None:
        self.fact = fact
        self.footing: Footing | None = None
        """A memo of what it needs and of its place in a round; check `Footing.holds`."""
        self.head: Head | None = None
        """A memo: the head made of it when it was last judged on its shelf, for the same fact."""
        self.order = order
        self.timestamp = timestamp
        self.peers: Peers | None = None
        self.progress: Progress | None = None
        self.progress_at = 0
        """`Memory.releases` of its queue when `progress` was stored."""
        self.progress_in = 0
        """`Memory.judged` of its queue when `progress` was stored."""
        self.landmark: Progress | None = None
        """`progress` of an earlier attempt: a search that returns to it goes in circles."""
        self.is_limited = False
        """Whether budgets or restraints bore on its last judgement."""
        self.preempting = False
        """Whether its last judgement preempted others."""
        self.tries = 0
        """How often in a row it was judged and kept its turn, to try its remaining flavors."""
        self.wait: Wait | None = None
        """Why it waits, by its own last judgement; `Peers.wait` holds for all of its peers."""
        self.wants: Mapping[FlavorResource, int] = NOTHING
        """What it would use of each flavor-resource, by its last judgement."""

    def __lt__(self, other: "Item") -> bool:
        return self.fact.key < other.fact.key

    @property
    def is_usual(self) -> bool:
        """Whether it is judged just as its peers are: it has no state of its own that matters."""
        fact = self.fact
        alone = self.preempting or fact.checks or fact.misconfigured
        return self.progress is None and not alone


class Peers:
    """Equivalent pending workloads of one LocalQueue, in the order of the queue.

    `token` is what they are grouped by.
    """

    __slots__ = (
        "demand",
        "doubtful",
        "expects",
        "heap",
        "hope",
        "is_limited",
        "lacks",
        "local_queue",
        "offer",
        "outline",
        "plain",
        "priority",
        "queue",
        "size",
        "stand",
        "token",
        "wait",
    )

    def __init__(
        self, queue: QueueName, token: Hashable, demand: Demand, first: WorkloadFact
    ) -> None:
        self.queue = queue
        self.token = token
        self.demand = demand
        self.local_queue = first.local_queue
        self.priority = first.priority
        self.heap: list[tuple[Order, Item]] = []
        self.size = 0
        self.stand: Stand = READY
        self.wait: Wait | None = None
        self.lacks: Lacks = ()
        """The amounts that they wait for, on shelves on which only free quota counts."""
        self.is_limited = False
        """Whether budgets or restraints bore on the judgement by which they wait."""
        self.doubtful = False
        """Whether they are READY only because of quota that others may have taken since. Then they
        are parked again without being judged."""
        self.hope: frozenset[FlavorResource] = frozenset()
        """Another attempt is worthwhile once any of these is released."""
        self.expects = RELEASE
        """Which other events make another attempt worthwhile."""
        self.offer: Offer | None = None
        """The queue's offer that `outline` was computed from."""
        self.outline: Outline | None = None
        self.plain = False
        """Whether they are on a shelf, and nothing but that lack keeps them from being admitted."""

    def __lt__(self, other: "Peers") -> bool:
        return id(self) < id(other)

    @property
    def competes(self) -> bool:
        """Whether their first item is in a lane: they are READY or BLOCKING."""
        return self.stand is READY or self.stand is BLOCKING

    def top(self) -> Item | None:
        """Return the first item, None if there is none; drop removed entries before it."""
        heap = self.heap
        while heap:
            order, item = heap[0]
            if item.peers is self and item.order is order:
                return item
            heappop(heap)
        return None

    def items(self) -> Iterator[Item]:
        """Yield the items in no particular order."""
        for order, item in self.heap:
            if item.peers is self and item.order is order:
                yield item


def peers_of(item: Item) -> Peers:
    """Return the peers of an item that is in a queue."""
    if item.peers is None:
        raise AssertionError(f"{item.fact.key} is in no queue, so it has no place in one")
    return item.peers
