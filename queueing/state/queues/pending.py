"""The pending workloads of one ClusterQueue, and which of them is worth judging.

They are grouped into `Peers`. A group competes for the queue's turn (`Lanes`), or it waits for what
its last judgement lacked: on a shelf for an amount (`Shelves`), or hopeful, for one of several
events. docs/concepts/waiting.md shows this by an example.

Invariant: a `Peers` is in exactly one queue, and the counts of a queue are the sizes of its peers.
Only peers that are not READY are on a shelf, at the place of their first item.
"""

from collections.abc import Callable, Hashable, Iterable
from heapq import heappush

from queueing.core.decisions import Mode
from queueing.core.names import FlavorResource, Key, QueueName
from queueing.core.usage import Demand
from queueing.state.queues.lanes import Lanes
from queueing.state.queues.peers import Item, Lacks, Peers, peers_of
from queueing.state.queues.shelf import Bound, Shelves, Slot
from queueing.state.queues.stands import PARKED, READY, Count, Expects, Stand


class PendingQueue:
    """The pending workloads of one ClusterQueue."""

    __slots__ = (
        "by_local_queue",
        "fickle",
        "hopeful",
        "inadmissible",
        "kept_off",
        "lanes",
        "name",
        "odd",
        "peers",
        "shelves",
        "size",
        "waiting",
    )

    def __init__(self, name: QueueName, claimants: Callable[[], Iterable[Item]] = tuple) -> None:
        self.name = name
        self.peers: dict[Hashable, Peers] = {}
        self.lanes = Lanes(self.peers, claimants)
        """The peers that compete for the turn of the queue."""
        self.size = 0
        self.inadmissible = 0
        self.by_local_queue: dict[Key | None, Count] = {}
        self.waiting: dict[Peers, None] = {}
        """Peers that are not READY, in the order in which they were judged."""
        self.hopeful: dict[Peers, None] = {}
        """The part of `waiting` for which no amount is known: see `Peers.hope` and `expects`."""
        self.fickle: dict[Peers, None] = {}
        """The part of `hopeful` that even the admission of another workload may help."""
        self.kept_off: dict[Peers, None] = {}
        """The part of `hopeful` that fitted, until others of the round came first."""
        self.shelves: Shelves[Peers] = Shelves()
        """The part of `waiting` for which an amount of a flavor-resource must be free first."""
        self.odd = 0
        """How many peers on shelves are not `plain`."""

    @property
    def active(self) -> int:
        return self.size - self.inadmissible

    def add(self, item: Item, token: Hashable, demand: Demand) -> bool:
        """Add an item to the peers of this token; say whether it is now their first."""
        peers = self.peers.get(token)
        if peers is None:
            peers = self.peers[token] = Peers(self.name, token, demand, item.fact)
        before = peers.top()
        item.peers = peers
        heappush(peers.heap, (item.order, item))
        peers.size += 1
        self._count(peers, 1)
        if peers.plain and not item.is_usual:
            peers.plain = False
            self.odd += 1
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
            self._forget_waiting(peers)
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

    def settle(self, peers: Peers, stand: Stand) -> None:
        """Set the state of peers that were judged, and forget what they waited for before."""
        peers.lacks = ()
        peers.doubtful = False
        self._take_off_shelves(peers)
        competed = peers.competes
        self._stand(peers, stand)
        self.waiting[peers] = None
        if not competed:
            self._offer(peers)  # a companion that was not in a lane may be BLOCKING now

    def lack(self, peers: Peers, lacks: Lacks, *, plain: bool = False) -> None:
        """Put peers on shelves until one of these amounts, none of which is free now, is free."""
        peers.lacks = lacks
        self._forget_hope(peers)
        self._file(peers, lacks, None, plain=plain)

    def shelve(self, peers: Peers, missing: Iterable[tuple[FlavorResource, int]]) -> None:
        """Put hopeful peers on shelves until one of these amounts can be had.

        What possible victims hold counts as well as free quota.
        """
        self._forget_hope(peers)
        self._file(peers, missing, peers.priority)

    def park_again(self, peers: Peers) -> None:
        """Park doubtful peers again, whose quota others have taken since they became READY."""
        lacks = peers.lacks
        self.settle(peers, PARKED)
        if lacks:
            self.lack(peers, lacks)
        else:
            self._note_hope(peers)

    def covered(self, bound: Bound) -> Peers | None:
        """Return the first peers on a shelf for which there is enough, by `bound`.

        None also if peers that are READY or BLOCKING come before them.
        """
        best = self.shelves.first(bound, self.lanes.usage_of)
        if best is None:
            return None
        if not self.lanes.heaps:
            return best[2]
        first = self.lanes.front()
        return best[2] if first is None or self.lanes.is_passed_by(first, best[:2]) else None

    def hope(self, peers: Peers, resources: Iterable[FlavorResource], *, expects: Expects) -> None:
        """Note that a release of any of these resources, or an event of `expects`, wakes peers."""
        peers.hope = frozenset(resources)
        peers.expects = expects
        self._note_hope(peers)

    def wake(self, peers: Peers, *, doubtful: bool = False) -> bool:
        """Make peers READY; say whether they were not READY before.

        If `doubtful`, and they were parked, they are checked again before they are judged.
        """
        if not doubtful or peers.stand is PARKED:
            peers.doubtful = doubtful
        if peers.stand is READY:
            return False
        self._stand(peers, READY)
        self._forget_waiting(peers)
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
        peers.stand = stand

    def _note_hope(self, peers: Peers) -> None:
        self.hopeful[peers] = None
        if peers.expects is Expects.ADMISSION:
            self.fickle[peers] = None
        if peers.wait is not None and peers.wait.mode is Mode.SKIPPED:
            self.kept_off[peers] = None

    def _forget_hope(self, peers: Peers) -> None:
        if peers in self.hopeful:
            del self.hopeful[peers]
            self.fickle.pop(peers, None)
            self.kept_off.pop(peers, None)

    def _forget_waiting(self, peers: Peers) -> None:
        self.waiting.pop(peers, None)
        self._forget_hope(peers)
        self._take_off_shelves(peers)

    def _take_off_shelves(self, peers: Peers) -> None:
        if self.shelves.take(peers):
            self.odd -= not peers.plain
        peers.plain = False

    def _file(
        self,
        peers: Peers,
        asked: Iterable[tuple[FlavorResource, int]],
        priority: int | None,
        *,
        plain: bool = False,
    ) -> None:
        """Put peers on shelves, at the queue place of their first item."""
        top = peers.top()
        if top is None:
            raise AssertionError(f"{self.name}: nobody is there to wait")
        local_queue = self.lanes.lane_of(peers)
        slots = [(Slot(local_queue, resource, priority), amount) for resource, amount in asked]
        self._take_off_shelves(peers)
        self.shelves.put(peers, slots, top.order)
        peers.plain = plain
        self.odd += not plain

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
