"""A pending workload (`Item`), and groups of equivalent ones (`Peers`).

Peers have the same LocalQueue, requests and priority, so every rule judges them alike: one of them
is judged, and the result holds for all.

Invariant: an item is in exactly one `Peers`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from queueing.core.decisions import Reason, Requeue, Wait
from queueing.core.facts import WorkloadFact
from queueing.core.flavors.assignment import Progress
from queueing.core.names import FlavorResource, Key, QueueName
from queueing.core.ordering import QueueKey
from queueing.core.usage import Demand


class Stand(Enum):
    """The state of equivalent workloads since they were last judged."""

    READY = auto()
    """To be judged when their turn comes."""
    BLOCKING = auto()
    """Judged; still the head of the queue, and no workload behind it is tried."""
    ASIDE = auto()
    """Judged, and promised quota that others have not given back yet; those behind may pass."""
    PARKED = auto()
    """Judged; inadmissible until something that blocks it changes."""


READY, BLOCKING, ASIDE, PARKED = Stand.READY, Stand.BLOCKING, Stand.ASIDE, Stand.PARKED
"""For hot paths: up to Python 3.11, reading a member of an enumeration from its class costs as much
as several function calls."""


class Slot(NamedTuple):
    """What identifies a row of a queue: see `pending.Row`."""

    local_queue: Key | None = None
    """None unless LocalQueues take turns."""
    resource: FlavorResource | None = None
    """None for a lane."""
    priority: int | None = None
    """None if only free quota counts; else the priority of waiters that may preempt, for which also
    what their possible victims hold counts."""


@dataclass(slots=True, eq=False)
class Item:
    """One pending workload. Its `order` is unique, because it ends with the uid."""

    fact: WorkloadFact
    order: QueueKey
    timestamp: float
    peers: Peers = field(init=False)
    """Set by the queue that it is put in."""
    progress: Progress | None = None
    progress_at: int = 0
    """`releases` of its queue when `progress` was stored."""
    progress_in: int = 0
    """`judged` of its queue when `progress` was stored."""
    preempting: bool = False
    """Whether its last judgement preempted others."""
    tries: int = 0
    """How often in a row it was judged and kept its turn, to try its remaining flavors."""
    waited: int = 0
    """How many rounds in a row it let others go first."""
    wait: Wait | None = None
    """Why it waits, by its own last judgement; `Peers.wait` holds for all of its peers."""

    @property
    def is_sticky(self) -> bool:
        """Whether it goes before others of its queue, because its preemptions are in progress."""
        return not self.order[0]

    def __lt__(self, other: Item) -> bool:
        return self.fact.key < other.fact.key

    def waits(self, requeue: Requeue, reason: Reason, message: str) -> Wait:
        """Return a wait of this item that no judgement gave."""
        return Wait(
            workload=self.fact.key,
            uid=self.fact.uid,
            cluster_queue=self.peers.queue,
            requeue=requeue,
            reason=reason,
            message=message,
        )


@dataclass(slots=True, eq=False)
class Peers:
    """Equivalent pending workloads of one LocalQueue, in the order of the queue.

    `token` is what they are grouped by.
    """

    queue: QueueName
    token: Hashable
    demand: Demand
    local_queue: Key | None
    priority: int
    asked: Mapping[Slot, int]
    """The rows in which they are, with the amount that they wait for in each: 0 in a lane."""
    line: list[tuple[QueueKey, Item]] = field(default_factory=list)
    """Sorted; only their queue changes it."""
    place: QueueKey | None = None
    """Their place there: the order of their first item when they were put there."""
    stand: Stand = READY
    wait: Wait | None = None

    @property
    def size(self) -> int:
        return len(self.line)

    @property
    def competes(self) -> bool:
        """Whether they are in a lane: they are READY or BLOCKING."""
        return self.stand is READY or self.stand is BLOCKING

    def top(self) -> Item | None:
        return self.line[0][1] if self.line else None

    def items(self) -> Iterator[Item]:
        """Yield the items in the order of the queue."""
        return (item for _, item in self.line)
