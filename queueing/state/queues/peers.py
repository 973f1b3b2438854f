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
from queueing.core.facts import WorkloadFact
from queueing.core.names import FlavorResource, QueueName, ResourceName
from queueing.core.ordering import QueueKey
from queueing.core.rounds import Progress
from queueing.core.usage import Demand
from queueing.state.queues.stands import BLOCKING, READY, Stand

Order = QueueKey

Lacks = tuple[tuple[FlavorResource, int], ...]
"""Amounts of flavor-resources. Another attempt is worthwhile once one of them is available."""


class Item:
    """One pending workload. Its `order` is unique, because it ends with the uid."""

    __slots__ = (
        "fact",
        "order",
        "peers",
        "preempting",
        "progress",
        "progress_at",
        "progress_in",
        "timestamp",
        "tries",
        "wait",
    )

    def __init__(self, fact: WorkloadFact, order: Order, timestamp: float) -> None:
        self.fact = fact
        self.order = order
        self.timestamp = timestamp
        self.peers: Peers | None = None
        self.progress: Progress | None = None
        self.progress_at = 0
        """`Memory.releases` of its queue when `progress` was stored."""
        self.progress_in = 0
        """`Memory.judged` of its queue when `progress` was stored."""
        self.preempting = False
        """Whether its last judgement preempted others."""
        self.tries = 0
        """How often in a row it was judged and kept its turn, to try its remaining flavors."""
        self.wait: Wait | None = None
        """Why it waits, by its own last judgement; `Peers.wait` holds for all of its peers."""

    def __lt__(self, other: "Item") -> bool:
        return self.fact.key < other.fact.key


class Peers:
    """Equivalent pending workloads of one LocalQueue, in the order of the queue.

    `token` is what they are grouped by.
    """

    __slots__ = (
        "demand",
        "heap",
        "is_limited",
        "lacks",
        "local_queue",
        "priority",
        "queue",
        "requests",
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
        self.requests = requests_of(demand)
        self.local_queue = first.local_queue
        self.priority = first.priority
        self.heap: list[tuple[Order, Item]] = []
        self.size = 0
        self.stand: Stand = READY
        self.wait: Wait | None = None
        self.lacks: Lacks = ()
        """The amounts of free quota that they wait for, by their last judgement; empty if other
        things may help, too."""
        self.is_limited = False
        """Whether budgets or restraints bore on the judgement by which they wait."""

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


def requests_of(demand: Demand) -> Mapping[ResourceName, int]:
    """Return what one workload requests of each resource, with all its pods."""
    if len(demand.pod_sets) == 1:
        one = demand.pod_sets[0]
        if one.count == 1:
            return one.pod_set.requests
    found: dict[ResourceName, int] = {}
    for one in demand.pod_sets:
        for resource, amount in one.pod_set.requests.items():
            found[resource] = found.get(resource, 0) + amount * one.count
    return found
