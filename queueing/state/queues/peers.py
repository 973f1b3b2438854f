"""One pending workload, and those of its LocalQueue that every rule judges alike.

One of such `Peers` is judged, and what is found holds for all. They are a heap of items in the
order of their queue, which deletes lazily: an entry counts while its item says so.

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
"""Amounts; another try is worthwhile once at least one of them is available."""


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
        """What it needs and its place in a round, as last found; it may be out of date."""
        self.head: Head | None = None
        """The head made of it when it was last judged on its shelf; valid for the same fact."""
        self.order = order
        self.timestamp = timestamp
        self.peers: Peers | None = None
        self.progress: Progress | None = None
        self.progress_at = 0
        """How many releases its queue had seen when `progress` was made."""
        self.landmark: Progress | None = None
        """`progress` at an earlier try: a search that comes to it again goes in circles."""
        self.preempting = False
        """Whether its last judgement preempted others."""
        self.tries = 0
        """How often it was judged and kept its turn, since its last relevant change."""
        self.wait: Wait | None = None
        self.wants: Mapping[FlavorResource, int] = NOTHING
        """What it would use, by its last judgement."""

    def __lt__(self, other: "Item") -> bool:
        return self.fact.key < other.fact.key

    @property
    def is_usual(self) -> bool:
        """Whether nothing about it alone bears on how it is judged."""
        fact = self.fact
        alone = self.preempting or fact.checks or fact.misconfigured
        return self.progress is None and not alone


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
        """What they wait for on shelves where only what is available counts."""
        self.doubtful = False
        """READY only because some quota seemed free, which others may have taken since. They are
        parked again without a judgement if so."""
        self.hope: frozenset[FlavorResource] = frozenset()
        """Another try is worthwhile once any of these is released."""
        self.expects = RELEASE
        """Which other events make one worthwhile."""
        self.offer: Offer | None = None
        """The queue's offer that `outline` was computed from."""
        self.outline: Outline | None = None
        self.plain = False
        """On a shelf, and nothing but that lack keeps any of them from being admitted."""

    def __lt__(self, other: "Peers") -> bool:
        return id(self) < id(other)

    @property
    def competes(self) -> bool:
        """Whether their first is in the race for the turn of the queue: READY, or blocking it."""
        return self.stand is READY or self.stand is BLOCKING

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


def peers_of(item: Item) -> Peers:
    """Return the peers of an item that is in a queue."""
    if item.peers is None:
        raise AssertionError(f"{item.fact.key} is in no queue, so it has no place in one")
    return item.peers
