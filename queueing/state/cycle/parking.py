"""What happens to a workload that was judged and not admitted.

It gets a state (`Stand`), a reason, and a record of what makes another attempt worthwhile: either
the amounts that it lacks (it waits on a shelf), or several events of which any may help (it is
hopeful). docs/concepts/waiting.md shows this by an example.
"""

from collections.abc import Iterable
from dataclasses import replace

from queueing.core.decisions import BARRED, Mode, Requeue, Wait
from queueing.core.names import FlavorResource, ResourceName
from queueing.core.ordering import queue_key
from queueing.core.quota.node import Node
from queueing.core.reasons import TOO_MANY_LEAVE
from queueing.core.rounds import Judgement, Progress
from queueing.state.cycle.contest import is_plain
from queueing.state.cycle.prospects import outline_of
from queueing.state.cycle.standing import note_beginning, note_place
from queueing.state.intake.joining import has_peers, isolate
from queueing.state.memory.feuds import Feuds
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item, Peers, peers_of
from queueing.state.queues.stands import Expects, Stand

PODS = ResourceName("pods")
TRIES_MAX = 256
"""Attempts in a row after which a search over flavors is taken to go in circles. No queue has more
flavors."""


def settle(memory: Memory, item: Item, judgement: Judgement, wait: Wait) -> None:
    """Store why an item was not admitted (`wait`), its new state, and which events may help it.

    An item whose search has flavors left keeps its turn, and nothing else is recorded.
    """
    known, item.wait = item.wait, wait
    go_on_from(memory, item, judgement)
    item.preempting = bool(judgement.preemptions)
    if not judgement.preemptions:
        unstick(memory, item)
    if judgement.progress is not None and not _goes_in_circles(memory, item):
        item.tries += 1
        return
    if judgement.preemptions and _evict_all(memory, judgement):
        memory.ledger.changes.claimed[judgement.head.queue] = None
    note_place(memory, item, judgement, known)
    item.wants = judgement.usage
    peers = peers_of(item)
    if wait.mode not in (Mode.NO_FIT, Mode.NO_CANDIDATES) or wait.requeue is Requeue.IMMEDIATE:
        strict = memory.objects.is_strict(peers.queue)
        sticky = memory.as_kueue and not strict and bool(judgement.preemptions)
        peers = _alone(memory, item, sticky=sticky)
    peers.wait, peers.is_limited = wait, judgement.is_limited
    _stand(memory, peers, _stand_of(memory, peers, wait))
    if memory.as_kueue and peers.stand is Stand.PARKED:
        _park_equals(memory, peers, wait)
    if judgement.preemptions or _stands_up(peers, wait):
        note_beginning(memory, item)
        memory.standing[item.fact.key] = None
        memory.claims.drop(item.fact.key)
    else:
        memory.step_down(item.fact.key)
    if not memory.as_kueue:
        if wait.mode is Mode.DEFERRED_FIT:
            memory.claims.put(item.fact.key, peers.queue, ())
        if wait.reason not in BARRED:
            _note_hopes(memory, peers, item, judgement)
        elif _has_choice(memory, peers):
            # Another flavor may not be barred: it goes there once the barred one is used up.
            _hope(memory, peers, _resources(memory, peers), expects=Expects.ADMISSION)
    item.tries = 0


def _goes_in_circles(memory: Memory, item: Item) -> bool:
    """Say whether a search over flavors is where it was at an earlier attempt; then it restarts.

    Without `FlavorFungibility` a search never goes on: each attempt is the same.

    That happens where several pod sets stop at different flavors by turns, so that they never try
    the same step together. The position is compared with a landmark, which is moved to the current
    position whenever the number of attempts is a power of two.
    """
    if item.tries >= TRIES_MAX or not memory.settings.flavor_fungibility:
        again = True
    elif item.tries & (item.tries - 1):
        again = item.progress == item.landmark and not memory.as_kueue
    else:
        item.landmark, again = item.progress, False
    if again and not memory.as_kueue:
        item.progress = None
    return again


def stay_or_give_up(memory: Memory, item: Item, moved: set[Node]) -> None:
    """Decide whether a skipped head, which lost its quota to others of the round, keeps its turn.

    It keeps it if its tree is among `moved`: a workload was admitted or parked there, so the next
    round differs. Otherwise it would lose in the same way again, and is set aside.
    """
    if item.peers is None or memory.roots[item.peers.queue] in moved:
        return
    peers = _alone(memory, item, sticky=False)
    peers.wait, peers.is_limited = item.wait, item.is_limited
    _stand(memory, peers, _aside(memory, peers))
    memory.queues[peers.queue].hope(peers, _resources(memory, peers), expects=Expects.CHANGE)
    memory.kept_off[peers.queue] = None


def go_on_from(memory: Memory, item: Item, judgement: Judgement) -> None:
    """Store at which flavors the next attempt begins, and when: see `still_valid`."""
    queue = judgement.head.queue
    item.progress, item.is_limited = judgement.progress, judgement.is_limited
    item.progress_at = memory.releases.get(queue, 0)
    item.progress_in = memory.judged.get(queue, 0)


def still_valid(memory: Memory, item: Item) -> Progress | None:
    """Return the progress of a queued item if it is valid still.

    It is while its queue releases nothing and no quota of its tree changes. In Kueue mode it also
    is, whatever has changed, in the next round that judges a workload of its queue.
    """
    queue, progress = peers_of(item).queue, item.progress
    if progress is None:
        return None
    preserves = memory.as_kueue and memory.settings.preserve_scan_progress
    if preserves and item.progress_in == memory.judged.get(queue, 0) - 1:
        return replace(progress, generation=memory.roots[queue].generation)
    return progress if item.progress_at == memory.releases.get(queue, 0) else None


def unstick(memory: Memory, item: Item) -> None:
    """Return an item to its ordinary place in the queue: its preemptions are over."""
    if item.order == queue_key(item.fact, item.timestamp, sticky=True):
        isolate(memory, item)


def _park_equals(memory: Memory, peers: Peers, wait: Wait) -> None:
    """Park, as Kueue does, equivalent workloads of other LocalQueues.

    Equivalent are those with the same requests and the same priority. Kueue mode only.
    """
    queue = memory.queues[peers.queue]
    if wait.mode not in (Mode.NO_FIT, Mode.NO_CANDIDATES) or not has_peers(memory, queue.name):
        return
    if wait.reason in BARRED:
        return
    for other in list(queue.peers.values()):
        if (
            other.stand is not Stand.PARKED
            and other.priority == peers.priority
            and other.demand.shape == peers.demand.shape
        ):
            other.wait, other.is_limited = wait, peers.is_limited
            for item in other.items():
                item.wait = None
            _stand(memory, other, Stand.PARKED)


def _evict_all(memory: Memory, judgement: Judgement) -> bool:
    """Mark the victims as evicted and note their feuds; say whether any was not evicted before."""
    news = False
    root = memory.roots[judgement.head.queue]
    feuds = memory.feuds.setdefault(root, Feuds())
    for preemption in judgement.preemptions:
        if memory.ledger.evict(preemption.workload):
            news = True
        first = feuds.note(preemption.preemptor_uid, preemption.uid)
        if first and preemption.workload in memory.ledger.evicting:
            memory.ledger.evicting[preemption.workload][preemption.preemptor_uid] = None
    return news


def _stands_up(peers: Peers, wait: Wait) -> bool:
    """Say whether peers become standing although they preempt nobody.

    That is so for heads without candidates that block their queue, and for workloads that wait for
    the victims of other preemptors.
    """
    if wait.mode is Mode.NO_CANDIDATES:
        return peers.stand is Stand.BLOCKING
    return wait.mode is Mode.DEFERRED_FIT


def _alone(memory: Memory, item: Item, *, sticky: bool) -> Peers:
    isolate(memory, item, sticky=sticky)
    return peers_of(item)


def _stand(memory: Memory, peers: Peers, stand: Stand) -> None:
    memory.queues[peers.queue].settle(peers, stand)
    memory.touch(peers.queue, peers.local_queue)


def _stand_of(memory: Memory, peers: Peers, wait: Wait) -> Stand:
    if wait.message == TOO_MANY_LEAVE:
        return Stand.BLOCKING  # else all behind it are judged, to meet the same limit
    return _aside(memory, peers) if wait.requeue is Requeue.IMMEDIATE else Stand.PARKED


def _aside(memory: Memory, peers: Peers) -> Stand:
    """Return BLOCKING if no workload may pass these peers (StrictFIFO, Kueue mode), else ASIDE."""
    strict = memory.objects.is_strict(peers.queue)
    return Stand.BLOCKING if strict or memory.as_kueue else Stand.ASIDE


def _note_hopes(memory: Memory, peers: Peers, item: Item, judgement: Judgement) -> None:
    """Note what may help peers: amounts of quota where these are known, else events.

    A preemptor gets its claim here, too.
    """
    queue = memory.queues[peers.queue]
    node = memory.tree.queue(queue.name)
    if judgement.preemptions:
        victims = (one.workload for one in judgement.preemptions)
        charged = (key for key in victims if key in memory.ledger.charges)
        memory.claims.put(item.fact.key, queue.name, charged)
        _note_ways(memory, peers, judgement)
        return
    if peers.stand is Stand.PARKED and _knows_its_lacks(memory, item, judgement):
        lacks = tuple((one.resource, one.asked) for one in judgement.lacks if not one.capacity)
        if all(node.available(resource) < asked for resource, asked in lacks):
            rules = memory.objects.rules[peers.queue]
            outline = outline_of(peers, rules.offer, memory.settings.quota_check)
            queue.lack(peers, lacks, plain=is_plain(peers, lacks, outline, rules))
            return
    lacking = (one.resource for one in judgement.lacks)
    resources = (*lacking, *_resources(memory, peers))
    _hope(memory, peers, resources, expects=_expected(memory, peers))


def _hope(
    memory: Memory, peers: Peers, resources: Iterable[FlavorResource], *, expects: Expects
) -> None:
    queue = memory.queues[peers.queue]
    queue.hope(peers, resources, expects=expects)
    if queue.fickle:
        memory.fickle[queue.name] = None


def _expected(memory: Memory, peers: Peers) -> Expects:
    """Return which events, beside a release, may change the result of another attempt.

    The admission of another workload may where it sends a pod set to another flavor. It may, too,
    for a workload whose preemption is gated: if that preemption is no longer enough, the workload
    takes another flavor or fewer pods.
    """
    has_choice, demand = _has_choice(memory, peers), peers.demand
    is_gated = peers.wait is not None and peers.wait.mode is Mode.PREEMPT
    if has_choice and len(demand.pod_sets) > 1:
        return Expects.ADMISSION
    if is_gated and (has_choice or demand.may_shrink):
        return Expects.ADMISSION
    return Expects.VICTIM if memory.settings.fair_sharing is None else Expects.CHANGE


def _has_choice(memory: Memory, peers: Peers) -> bool:
    """Say whether any resource group of the peers' ClusterQueue has more than one flavor."""
    groups = memory.objects.queues[peers.queue].groups
    return any(len(one.flavors) > 1 for one in groups)


def _note_ways(memory: Memory, peers: Peers, judgement: Judgement) -> None:
    """Note that a preemptor is woken when its request is free, in its flavor or in another one.

    Its victims' leaving wakes it anyway, by its claim.
    """
    node = memory.tree.queue(peers.queue)
    ways = tuple(_resources(memory, peers))
    demand = judgement.head.demand
    asked = {resource.resource: amount for resource, amount in judgement.usage.items()}
    known = [(one, asked[one.resource]) for one in ways if one.resource in asked]
    lacks = tuple((one, amount) for one, amount in known if node.available(one) < amount)
    is_simple = not (len(demand.pod_sets) > 1 or demand.may_shrink or demand.claims)
    if not is_simple or len(lacks) < len(known):
        memory.queues[peers.queue].hope(peers, ways, expects=Expects.RELEASE)
    else:
        memory.queues[peers.queue].lack(peers, lacks)


def _knows_its_lacks(memory: Memory, item: Item, judgement: Judgement) -> bool:
    """Say whether only enough quota for one of its lacks can help an item.

    Something else may help where it could preempt, where fewer pods would do, where an earlier
    attempt passed over flavors, where one pod set's flavor depends on what another pod set got, or
    where it shares ResourceClaims: then it needs less than it requests, by what others are charged
    for these claims.
    """
    demand = judgement.head.demand
    return memory.objects.rules[judgement.head.queue].never_preempts and not (
        len(demand.pod_sets) > 1 or demand.may_shrink or demand.claims or item.tries
    )


def _resources(memory: Memory, peers: Peers) -> Iterable[FlavorResource]:
    """Return every flavor-resource of the ClusterQueue that the peers could use."""
    asked = {name for one in peers.demand.pod_sets for name in one.pod_set.requests}
    asked.add(PODS)
    groups = memory.objects.queues[peers.queue].groups
    return [
        FlavorResource(flavor.flavor, resource)
        for group in groups
        for flavor in group.flavors
        for resource in group.covered
        if resource in asked
    ]
