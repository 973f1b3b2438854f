"""How a workload waits that was judged and not admitted: its state, its reason, and for what."""

from collections.abc import Iterable, Mapping

from queueing.core.decisions import BARRED, Mode, Preempt, Reason, Requeue, Wait
from queueing.core.entries import Head, Ruling
from queueing.core.names import FlavorResource, Key, QueueName
from queueing.core.reasons import NO_LONGER_FITS, TOO_MANY_LEAVE
from queueing.state.intake.joining import has_peers, isolate
from queueing.state.memory.memory import Memory
from queueing.state.memory.pairs import Pairs
from queueing.state.queues.peers import ASIDE, BLOCKING, PARKED, Item, Peers, Stand
from queueing.state.scheduler.reach import Reach

UNHELPED = frozenset((Mode.NO_FIT, Mode.NO_CANDIDATES))
TRIES_MAX = 256
"""Attempts in a row after which Kueue's search over flavors is taken to go in circles."""


def requeue(memory: Memory, item: Item, ruling: Ruling, wait: Wait) -> None:
    """Store why an item waits, its new state, and what would help it.

    An item whose search has flavors left keeps its turn, and nothing else is recorded.
    """
    item.wait = wait
    go_on_from(memory, item, ruling)
    item.preempting = bool(ruling.preemptions)
    if not ruling.preemptions:
        unstick(memory, item)
    if item.progress is not None and item.tries < _tries_max(memory, ruling):
        item.tries += 1
        return
    item.tries = 0
    if memory.settings.rules.waits_for_lacks:
        item.progress = None  # a search that went in circles begins anew at the next event
    if ruling.preemptions:
        kept = {one.holder.key: one.elsewhere for one in ruling.entry.targets if one.elsewhere}
        evict(memory, ruling.preemptions, kept)
    if ruling.taken:
        take_promises(memory, ruling.head, ruling.taken)
    peers = item.peers
    if wait.mode not in UNHELPED or wait.requeue is Requeue.IMMEDIATE:
        strict = memory.objects.is_strict(peers.queue)
        sticky = not memory.settings.rules.promises and not strict and bool(ruling.preemptions)
        isolate(memory, item, sticky=sticky)
        peers = item.peers
    peers.wait = wait
    memory.set_aside(peers, _stand_of(memory, peers, ruling, wait))
    if not memory.settings.rules.waits_for_lacks:
        if peers.stand is PARKED:
            _park_equals(memory, peers, wait)
        return
    if ruling.is_promise or (ruling.kept and peers.stand is BLOCKING):
        memory.ledger.promise(memory.holder_for(ruling.head, ruling.kept, promised=True))


def _tries_max(memory: Memory, ruling: Ruling) -> int:
    """Return how often an item keeps its turn: a search that goes on longer goes in circles.

    Without `FlavorFungibility` each attempt is the same.
    """
    if not memory.settings.flavor_fungibility:
        return 0
    if not memory.settings.rules.waits_for_lacks:
        return TRIES_MAX
    return sum(len(group.flavors) for group in ruling.entry.rules.fact.groups)


def shelve(memory: Memory, item: Item, reach: Reach) -> None:
    """Put a workload that was parked, with its equals, on the shelves of what would help it.

    These are the amounts that free quota and all possible victims together do not cover. Nothing is
    done if other things may help, too.
    """
    peers = item.peers
    if peers.stand is not PARKED or peers.wait is None or peers.wait.reason in BARRED:
        return
    queue = memory.queues[peers.queue]
    if peers.wait.reason is Reason.TOPOLOGY_PLACEMENT_FAILED:
        groups = memory.objects.queues[peers.queue].groups
        if not peers.demand.may_shrink and all(len(one.flavors) == 1 for one in groups):
            queue.shelve(peers, {})  # it fits nowhere, whoever leaves: only nodes can help
        return
    missing = reach.missing(peers)
    if missing is not None:
        queue.shelve(peers, missing)


def requeue_skipped(memory: Memory, item: Item) -> None:
    """Set a head aside that lost its quota to others of the round."""
    isolate(memory, item)
    peers = item.peers
    peers.wait = item.wait
    strict = memory.objects.is_strict(peers.queue) or not memory.settings.rules.waits_for_lacks
    memory.set_aside(peers, BLOCKING if strict else PARKED)


def go_on_from(memory: Memory, item: Item, ruling: Ruling) -> None:
    """Store at which flavors the next attempt begins, and when: see `heads.as_head`.

    As Kueue counts, one whose quota others of the round just took goes on there, too, if progress
    is preserved.
    """
    queue, decision = memory.queues[ruling.entry.head.queue], ruling.decision
    item.progress = ruling.progress
    if ruling.mode is Mode.SKIPPED and not memory.settings.rules.waits_for_lacks:
        lost = isinstance(decision, Wait) and decision.message == NO_LONGER_FITS
        if lost and memory.settings.preserve_scan_progress:
            item.progress = ruling.entry.assignment.progress
    item.progress_at, item.progress_in = queue.releases, queue.judged


def unstick(memory: Memory, item: Item) -> None:
    """Return an item to its ordinary place in the queue: its preemptions are over."""
    if item.is_sticky:
        isolate(memory, item)


def _stand_of(memory: Memory, peers: Peers, ruling: Ruling, wait: Wait) -> Stand:
    if wait.message == TOO_MANY_LEAVE:
        return BLOCKING  # else all behind it are judged, to meet the same limit
    if wait.requeue is not Requeue.IMMEDIATE:
        return PARKED
    if memory.objects.is_strict(peers.queue) or not memory.settings.rules.promises:
        return BLOCKING
    return ASIDE if ruling.is_promise else PARKED


def evict(
    memory: Memory,
    preemptions: Iterable[Preempt],
    kept: Mapping[Key, Mapping[FlavorResource, int]],
) -> None:
    """Mark victims as evicted, and note the pairs; `kept` is what is kept for those who move."""
    for one in preemptions:
        memory.ledger.evict(one.workload, one.preemptor_uid, kept.get(one.workload))
        _pairs_of(memory, one.preemptor_queue).note(one.preemptor_uid, one.uid)


def take_promises(memory: Memory, head: Head, taken: Iterable[Key]) -> None:
    """Break the promises that a head takes; those who lose them are judged again."""
    for key in taken:
        item = memory.items[key]
        _pairs_of(memory, head.queue).note(head.workload.uid, item.fact.uid)
        memory.ledger.break_promise(key, releases=True)
        memory.wake(item.peers)


def _pairs_of(memory: Memory, queue: QueueName) -> Pairs:
    return memory.pairs.setdefault(queue, Pairs())


def _park_equals(memory: Memory, peers: Peers, wait: Wait) -> None:
    """Park, as Kueue does, equivalent workloads of other LocalQueues.

    Equivalent are those with the same requests and the same priority. Kueue mode only.
    """
    queue = memory.queues[peers.queue]
    if wait.mode not in UNHELPED or not has_peers(memory, queue.name):
        return
    if wait.reason in BARRED:
        return
    equal = peers.priority, peers.demand.shape
    for other in list(queue.peers.values()):
        if other.stand is not PARKED and (other.priority, other.demand.shape) == equal:
            other.wait = wait
            for item in other.items():
                item.wait = None
            memory.set_aside(other, PARKED)
