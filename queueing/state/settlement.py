"""What the judgements of a round mean to those who were judged.

Whoever is admitted is charged; whoever is not is put where it waits, with a note of what would help
it. One that was judged where it waits, because its lack seemed covered, stays there if others were
faster: it is told nothing, as nothing changed for it.
"""

from collections.abc import Iterable, Mapping, Sequence

from queueing.core.credits.allowance import LOWEST_PRIORITY
from queueing.core.decisions import Admit, Decision, Mode, Reason, Requeue, Wait
from queueing.core.facts import Strategy
from queueing.core.fair_sharing.order import tree_place
from queueing.core.holders import Holder
from queueing.core.names import FlavorResource, Key, ResourceName
from queueing.core.ordering import entry_key, queue_key
from queueing.core.quota.node import Node
from queueing.core.reasons import NO_LONGER_FITS, TOO_MANY_LEAVE
from queueing.core.rounds import Judgement
from queueing.state.feuds import Feuds
from queueing.state.intake import has_peers, isolate, touch_charged
from queueing.state.ledger import Charge
from queueing.state.memory import Memory
from queueing.state.pending import Item, Peers
from queueing.state.prospects import Foregone
from queueing.state.selection import Selection, is_patient
from queueing.state.stands import Expects, Stand
from queueing.state.wakes import preempts

PODS = ResourceName("pods")
TRIES_MAX = 256
"""Tries in a row of one workload over its flavors; more than one queue can have of them."""


def settle_all(
    memory: Memory, judgements: Sequence[Judgement], selection: Selection, now: float
) -> list[Decision]:
    """Carry judgements over to the memory; companions waited before and may do so on."""
    along = {item.fact.key for item in selection.companions}
    decided: list[Decision] = []
    moved: set[Node] = set()
    skipped: list[Item] = []
    overtaken: set[Key] = set()
    for one in _in_order(judgements, selection.foregone, memory):
        if isinstance(one, Foregone):
            decided.append(one.admit)
            moved.add(_admit_foregone(memory, one, now))
            continue
        decision = one.decision
        key = decision.workload
        item = memory.items[key]
        if key in along and _waits_on(memory, item, one):
            if isinstance(decision, Wait) and decision.mode is Mode.SKIPPED:
                overtaken.add(key)
            continue
        _step_off(memory, item, one, along=key in along)
        decided += one.preemptions
        decided.append(decision)
        for told in (*one.preemptions, decision):
            memory.stories.add(now, told)
        if isinstance(decision, Admit):
            if one.head.workload.priority < item.fact.priority:
                memory.credits.demote(item.fact.uid)
            _assume(memory, item, one.usage, decision, now)
        elif decision.mode is Mode.SKIPPED:
            item.wait = decision
            if memory.as_kueue:
                _go_on_from(memory, item, one)
                _unstick(item)
            skipped.append(item)
            continue
        else:
            _settle(memory, item, one, decision)
        moved.add(memory.roots[one.head.queue])
    for item in _losers(memory, selection, judgements, moved):
        item.wait = _too_late(item)
        memory.stories.add(now, item.wait)
        decided.append(item.wait)
        skipped.append(item)
    for item in skipped:
        _stay_or_give_up(memory, item, moved)
    _wake_overtaken(memory, judgements, overtaken)
    return decided


def settle_hopeless(memory: Memory, judgement: Judgement, now: float) -> None:
    """Let a head wait that nothing can help, whatever is decided of others."""
    wait = judgement.decision
    item = memory.items[wait.workload]
    _step_off(memory, item, judgement, along=False)
    memory.stories.add(now, wait)
    if isinstance(wait, Wait):
        _settle(memory, item, judgement, wait)


def _in_order(
    judgements: Sequence[Judgement], foregone: Sequence[Foregone], memory: Memory
) -> Iterable[Judgement | Foregone]:
    """Give all that was decided in the order of the entries, as if all had been judged."""
    if not foregone:
        return judgements

    settings = memory.settings

    def place(one: Judgement | Foregone) -> tuple[object, ...]:
        if isinstance(one, Foregone):
            return True, *one.place
        head = one.head
        goes_first = settings.prioritize_preemptors and head.preempting
        return not goes_first, *entry_key(head.workload, one.borrow, head.timestamp, settings)

    def tree_of(one: Judgement | Foregone) -> tuple[bool, str]:
        name = one.admit.cluster_queue if isinstance(one, Foregone) else one.head.queue
        return tree_place(memory.roots[name])

    by_tree = settings.fair_sharing is not None
    return sorted((*judgements, *foregone), key=tree_of if by_tree else place)


def _admit_foregone(memory: Memory, one: Foregone, now: float) -> Node:
    """Charge somebody of whom no judgement was needed; return the root of its tree."""
    for cell, amount in one.needs:
        memory.tree.charge(cell, amount)
    memory.stories.add(now, one.admit)
    _assume(memory, one.item, one.assignment.usage, one.admit, now)
    return memory.roots[one.admit.cluster_queue]


def _wake_overtaken(memory: Memory, judgements: Sequence[Judgement], overtaken: set[Key]) -> None:
    """Let those be judged again who keep others off, where one was admitted all the same.

    What they wait for may have been taken, so that they need other victims or another flavor.
    """
    roots = memory.roots
    taken = {roots[one.head.queue] for one in judgements if isinstance(one.decision, Admit)}
    if not taken or not memory.standing or memory.as_kueue:
        return
    told = {one.head.workload.key for one in judgements} - overtaken
    for key in memory.standing:
        peers = memory.items[key].peers
        if key not in told and peers is not None and roots[peers.queue.name] in taken:
            memory.wake_peers(peers)


def _step_off(memory: Memory, item: Item, judgement: Judgement, *, along: bool) -> None:
    """Let one be as a head who was judged where it waits, and found to lack something else.

    Whom one judged `along` with the others has blocked may have their turn now.
    """
    if along:
        memory.ready.add(judgement.head.queue)
    elif is_patient(item) and item.peers is not None and isinstance(judgement.decision, Wait):
        memory.wake_peers(item.peers)


def _losers(
    memory: Memory, selection: Selection, judgements: Sequence[Judgement], moved: set[Node]
) -> list[Item]:
    """Return the patient ones of trees in which nothing moved: they must not be tried again."""
    still = [
        item
        for item in selection.items
        if item.peers is not None
        and is_patient(item)
        and memory.roots[item.peers.queue.name] not in moved
    ]
    decided = {one.decision.workload for one in judgements} if still else set()
    return [item for item in still if item.fact.key not in decided]


def _too_late(item: Item) -> Wait:
    """Say that others of the round took what an item would have fitted in."""
    if item.peers is None:
        raise AssertionError(f"{item.fact.key} was judged and is in no queue")
    return Wait(
        workload=item.fact.key,
        uid=item.fact.uid,
        cluster_queue=item.peers.queue.name,
        requeue=Requeue.IMMEDIATE,
        reason=Reason.WAITING_FOR_QUOTA,
        message=NO_LONGER_FITS,
        mode=Mode.SKIPPED,
    )


def _waits_on(memory: Memory, item: Item, judgement: Judgement) -> bool:
    """Say whether one that was judged along waits as before, or for its own turn.

    It is as a head that it tries flavors that are left: from round to round it would find the same
    victims and lose them again, for ever.
    """
    if _says_nothing_new(item, judgement.decision):
        return True
    wait = judgement.decision
    if memory.as_kueue or judgement.progress is None or isinstance(wait, Admit):
        return False
    if wait.mode not in (Mode.NO_FIT, Mode.NO_CANDIDATES):
        return False
    memory.wake(item)
    return True


def _says_nothing_new(item: Item, decision: Admit | Wait) -> bool:
    """Say whether an item that was judged along only had its last judgement confirmed."""
    if item.peers is None or item.peers.stand is Stand.READY or isinstance(decision, Admit):
        return False
    known = item.wait
    same = known is not None and (known.mode, known.targets) == (decision.mode, decision.targets)
    return same or decision.mode is Mode.SKIPPED


def _stay_or_give_up(memory: Memory, item: Item, moved: set[Node]) -> None:
    """Keep the turn of one that another got in the way of, unless nobody did."""
    if item.peers is None or memory.roots[item.peers.queue.name] in moved:
        return
    peers = _alone(item, sticky=False)
    peers.wait = item.wait
    _stand(memory, peers, _aside(memory, peers))
    peers.queue.hope(peers, _resources(memory, peers), expects=Expects.CHANGE)


def _assume(
    memory: Memory, item: Item, usage: Mapping[FlavorResource, int], decision: Admit, now: float
) -> None:
    fact = item.fact
    charge = Charge(
        Holder(
            key=fact.key,
            uid=fact.uid,
            queue=decision.cluster_queue,
            local_queue=fact.local_queue,
            priority=LOWEST_PRIORITY if memory.credits.is_demoted(fact.uid) else fact.priority,
            timestamp=item.timestamp,
            reserved_at=now,
            evicted=False,
            usage=usage,
        ),
        not decision.checks,
        decision,
    )
    memory.claims.drop(fact.key)
    memory.standing.pop(fact.key, None)
    if item.peers is not None:
        item.peers.queue.remove(item)
    del memory.items[fact.key]
    memory.assumed_from[fact.key] = fact
    memory.ledger.assume(charge, may_be_victim=memory.as_kueue)
    if charge.admitted:
        memory.unready.add(fact.key)
    touch_charged(memory, charge)
    memory.ready.add(decision.cluster_queue)


def _settle(memory: Memory, item: Item, judgement: Judgement, wait: Wait) -> None:
    """Put an item that was not admitted where it waits, and note what would help it."""
    item.wait = wait
    _go_on_from(memory, item, judgement)
    item.preempting = bool(judgement.preemptions)
    if not judgement.preemptions:
        _unstick(item)
    if judgement.progress is not None and item.tries < TRIES_MAX:
        item.tries += 1
        return
    if judgement.preemptions:
        _evict_all(memory, judgement)
    item.wants = judgement.usage
    peers = item.peers
    if peers is None:
        raise AssertionError(f"{item.fact.key} was judged and is in no queue")
    if wait.mode not in (Mode.NO_FIT, Mode.NO_CANDIDATES) or wait.requeue is Requeue.IMMEDIATE:
        strict = memory.objects.queues[peers.queue.name].strategy is Strategy.STRICT_FIFO
        sticky = memory.as_kueue and not strict and bool(judgement.preemptions)
        peers = _alone(item, sticky=sticky)
    peers.wait = wait
    _stand(memory, peers, _stand_of(memory, peers, wait))
    if memory.as_kueue and peers.stand is Stand.PARKED:
        _park_equals(memory, peers, wait)
    if judgement.preemptions or _stands_up(peers, wait):
        memory.standing[item.fact.key] = None
        memory.claims.drop(item.fact.key)
    else:
        memory.step_down(item.fact.key)
    if not memory.as_kueue and wait.reason is not Reason.BUDGET_EXHAUSTED:
        _note_hopes(memory, peers, item, judgement)
    item.tries = 0


def _go_on_from(memory: Memory, item: Item, judgement: Judgement) -> None:
    """Remember where the next try begins, and what had been released in the queue by then."""
    item.progress = judgement.progress
    item.progress_at = memory.releases.get(judgement.head.queue, 0)


def _unstick(item: Item) -> None:
    """Let one whose preemptions are not in flight any more go back to its place in the queue."""
    if item.order == queue_key(item.fact, item.timestamp, sticky=True):
        isolate(item)


def _park_equals(memory: Memory, peers: Peers, wait: Wait) -> None:
    """Set aside, as Kueue does, who asks the same with the same priority by another LocalQueue."""
    queue = peers.queue
    if wait.mode not in (Mode.NO_FIT, Mode.NO_CANDIDATES) or not has_peers(memory, queue.name):
        return
    if wait.reason is Reason.BUDGET_EXHAUSTED:
        return
    for other in list(queue.peers.values()):
        if (
            other.stand is not Stand.PARKED
            and other.priority == peers.priority
            and other.demand.shape == peers.demand.shape
        ):
            other.wait = wait
            for item in other.items():
                item.wait = None
            _stand(memory, other, Stand.PARKED)


def _evict_all(memory: Memory, judgement: Judgement) -> None:
    feuds = memory.feuds.setdefault(memory.roots[judgement.head.queue], Feuds())
    for preemption in judgement.preemptions:
        memory.ledger.evict(preemption.workload)
        feuds.note(preemption.preemptor_uid, preemption.uid)


def _stands_up(peers: Peers, wait: Wait) -> bool:
    """Say whether lesser ones of the tree must be kept off what an item waits for."""
    if wait.mode is Mode.NO_CANDIDATES:
        return peers.stand is Stand.BLOCKING
    return wait.mode is Mode.DEFERRED_FIT


def _alone(item: Item, *, sticky: bool) -> Peers:
    isolate(item, sticky=sticky)
    if item.peers is None:
        raise AssertionError(f"{item.fact.key} is in no queue")
    return item.peers


def _stand(memory: Memory, peers: Peers, stand: Stand) -> None:
    peers.queue.settle(peers, stand)
    memory.touch(peers.queue.name, peers.local_queue)


def _stand_of(memory: Memory, peers: Peers, wait: Wait) -> Stand:
    if wait.message == TOO_MANY_LEAVE:
        return Stand.BLOCKING  # else a storm has everybody behind it judged to no avail
    return _aside(memory, peers) if wait.requeue is Requeue.IMMEDIATE else Stand.PARKED


def _aside(memory: Memory, peers: Peers) -> Stand:
    """Say whether those behind one that waits for others may pass it."""
    strict = memory.objects.queues[peers.queue.name].strategy is Strategy.STRICT_FIFO
    return Stand.BLOCKING if strict or memory.as_kueue else Stand.ASIDE


def _note_hopes(memory: Memory, peers: Peers, item: Item, judgement: Judgement) -> None:
    """Note what may help: for simple demands the very amounts that they lack."""
    queue = peers.queue
    node = memory.tree.queue(queue.name)
    if judgement.preemptions:
        victims = (one.workload for one in judgement.preemptions)
        charged = (key for key in victims if key in memory.ledger.charges)
        memory.claims.put(item.fact.key, queue.name, charged)
        _note_ways(memory, peers, judgement)
        return
    if peers.stand is Stand.PARKED and _knows_its_lacks(memory, item, judgement):
        lacks = [(one.resource, one.asked) for one in judgement.lacks if not one.capacity]
        if all(node.available(resource) < asked for resource, asked in lacks):
            queue.lack(peers, lacks)
            return
    lacking = (one.resource for one in judgement.lacks)
    queue.hope(peers, (*lacking, *_resources(memory, peers)), expects=_expected(memory, peers))
    if queue.fickle:
        memory.fickle[queue.name] = None


def _expected(memory: Memory, peers: Peers) -> Expects:
    """Return the news by which another try may go otherwise."""
    groups = memory.objects.queues[peers.queue.name].groups
    if len(peers.demand.pod_sets) > 1 and any(len(one.flavors) > 1 for one in groups):
        return Expects.ADMISSION
    return Expects.VICTIM if memory.settings.fair_sharing is None else Expects.CHANGE


def _note_ways(memory: Memory, peers: Peers, judgement: Judgement) -> None:
    """Let a preemptor be woken when all that it asks is available, in this flavor or another."""
    node = memory.tree.queue(peers.queue.name)
    ways = tuple(_resources(memory, peers))
    demand = judgement.head.demand
    asked = {resource.resource: amount for resource, amount in judgement.usage.items()}
    known = [(one, asked[one.resource]) for one in ways if one.resource in asked]
    lacks = [(one, amount) for one, amount in known if node.available(one) < amount]
    if len(demand.pod_sets) > 1 or demand.may_shrink or len(lacks) < len(known):
        peers.queue.hope(peers, ways, expects=Expects.RELEASE)
    else:
        peers.queue.lack(peers, lacks)


def _knows_its_lacks(memory: Memory, item: Item, judgement: Judgement) -> bool:
    """Say whether nothing helps but to cover one of the lacks.

    Something else may: where victims count, where fewer pods will do, where flavors were passed
    over in an earlier try, or where one pod set's flavor depends on what another one got.
    """
    demand = judgement.head.demand
    return not (
        preempts(memory.objects.queues[judgement.head.queue].preemption)
        or len(demand.pod_sets) > 1
        or demand.may_shrink
        or item.tries
    )


def _resources(memory: Memory, peers: Peers) -> Iterable[FlavorResource]:
    """Every flavor-resource of the queue that the peers could use."""
    asked = {name for one in peers.demand.pod_sets for name in one.pod_set.requests}
    asked.add(PODS)
    groups = memory.objects.queues[peers.queue.name].groups
    return [
        FlavorResource(flavor.flavor, resource)
        for group in groups
        for flavor in group.flavors
        for resource in group.covered
        if resource in asked
    ]
