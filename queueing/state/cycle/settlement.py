"""Applies the judgements of a round to the memory.

An admitted workload is charged. Any other gets its state by `parking`. A *patient* head, which was
judged on its shelf because enough quota seemed to be free, stays there without a decision if other
heads of the round took that quota: nothing changed for it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from queueing.core.credits.allowance import LOWEST_PRIORITY
from queueing.core.decisions import Admit, Decision, Mode, Reason, Requeue, Wait
from queueing.core.fair_sharing.order import tree_place
from queueing.core.holders import Holder
from queueing.core.names import FlavorResource, Key
from queueing.core.ordering import entry_key
from queueing.core.quota.node import Node
from queueing.core.reasons import NO_LONGER_FITS
from queueing.core.rounds import Judgement
from queueing.core.sharing import beside_claims, parts_of, shared_by
from queueing.core.usage import assigned_usage
from queueing.state.cycle.parking import go_on_from, settle, stay_or_give_up, unstick
from queueing.state.cycle.prospects import Foregone
from queueing.state.cycle.selection import Selection, is_patient
from queueing.state.cycle.standing import note_overtaken, note_round
from queueing.state.intake.holding import touch_charged
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item, peers_of
from queueing.state.queues.stands import Stand
from queueing.state.usage.charges import Charge


def settle_all(
    memory: Memory, judgements: Sequence[Judgement], selection: Selection, now: float
) -> list[Decision]:
    """Apply all judgements of a round, in the order of entries; return its decisions."""
    along = {item.fact.key for item in selection.companions}
    settling = _Settling(memory, now)
    for one in _in_order(judgements, selection.foregone, memory):
        if isinstance(one, Foregone):
            settling.admit_foregone(one)
        elif one.decision.workload not in along or not settling.leave_waiting(one):
            settling.take(one, along=one.decision.workload in along)
    for root in selection.spent:  # the queues of those admitted came back to `ready` just now
        memory.ready.difference_update(memory.members[root])
    for item in _losers(memory, selection, judgements, settling.moved):
        settling.tell_too_late(item)
    for item in settling.skipped:
        stay_or_give_up(memory, item, settling.moved)
    _wake_overtaken(memory, judgements, settling.overtaken)
    return settling.decided


@dataclass(slots=True)
class _Settling:
    """The results of the judgements of one round so far."""

    memory: Memory
    now: float
    decided: list[Decision] = field(default_factory=list)
    moved: set[Node] = field(default_factory=set)
    """Trees in which a workload was admitted or set aside."""
    skipped: list[Item] = field(default_factory=list)
    """Heads that fitted until others of the round took the quota."""
    overtaken: set[Key] = field(default_factory=set)
    """Companions that fitted until others of the round took the quota."""

    def admit_foregone(self, one: Foregone) -> None:
        """Admit and charge a workload that did not have to be judged."""
        memory, admit = self.memory, one.admit
        self.decided.append(admit)
        self.moved.add(memory.roots[admit.cluster_queue])
        for cell, amount in one.needs:
            memory.tree.charge(cell, amount)
        memory.stories.add(admit.workload, self.now, admit)
        _assume(memory, one.item, one.assignment.usage, admit, self.now)

    def leave_waiting(self, one: Judgement) -> bool:
        """Say whether a companion goes on waiting as before; note whether it is overtaken."""
        decision = one.decision
        item = self.memory.items[decision.workload]
        if not _waits_on(self.memory, item, one):
            return False
        skips = isinstance(decision, Wait) and decision.mode is Mode.SKIPPED
        note_overtaken(self.memory, item, overtaken=skips)
        if skips:
            self.overtaken.add(decision.workload)
        return True

    def take(self, one: Judgement, *, along: bool) -> None:
        """Apply one judgement: the workload is admitted, skipped, or waits for something."""
        memory, decision = self.memory, one.decision
        item = memory.items[decision.workload]
        _step_off(memory, item, one, along=along)
        for told in (*one.preemptions, decision):
            self.decided.append(told)
            memory.stories.add(told.workload, self.now, told)
        if isinstance(decision, Wait) and decision.mode is Mode.SKIPPED:
            self._skip(item, one, decision)
            return
        if isinstance(decision, Admit):
            if one.head.workload.priority < item.fact.priority:
                memory.credits.demote(item.fact.uid)
            _assume(memory, item, one.usage, decision, self.now)
        else:
            settle(memory, item, one, decision)
        self.moved.add(memory.roots[one.head.queue])

    def tell_too_late(self, item: Item) -> None:
        """Give a patient item without a judgement the decision that others took its quota."""
        item.wait = _too_late(item)
        self.memory.stories.add(item.fact.key, self.now, item.wait)
        self.decided.append(item.wait)
        self.skipped.append(item)

    def _skip(self, item: Item, one: Judgement, wait: Wait) -> None:
        item.wait = wait
        note_overtaken(self.memory, item, overtaken=True)
        if self.memory.as_kueue:
            go_on_from(self.memory, item, one)
            unstick(self.memory, item)
        self.skipped.append(item)


def settle_hopeless(memory: Memory, judgement: Judgement, now: float) -> None:
    """Store the wait of a hopeless head; called before its round is decided."""
    wait = judgement.decision
    item = memory.items[wait.workload]
    _step_off(memory, item, judgement, along=False)
    memory.stories.add(wait.workload, now, wait)
    if isinstance(wait, Wait):
        settle(memory, item, judgement, wait)


def _in_order(
    judgements: Sequence[Judgement], foregone: Sequence[Foregone], memory: Memory
) -> Iterable[Judgement | Foregone]:
    """Merge the judged and the foregone heads, in the order of entries."""
    if not foregone:
        return judgements

    settings = memory.settings
    by_tree = settings.fair_sharing is not None
    if not judgements and not by_tree:
        return sorted(foregone, key=attrgetter("place"))

    def place(one: Judgement | Foregone) -> tuple[object, ...]:
        if isinstance(one, Foregone):
            return True, *one.place
        head = one.head
        goes_first = settings.prioritize_preemptors and head.preempting
        return not goes_first, *entry_key(head.workload, one.borrow, head.timestamp, settings)

    def tree_of(one: Judgement | Foregone) -> tuple[bool, str]:
        name = one.admit.cluster_queue if isinstance(one, Foregone) else one.head.queue
        return tree_place(memory.roots[name])

    return sorted((*judgements, *foregone), key=tree_of if by_tree else place)


def _wake_overtaken(memory: Memory, judgements: Sequence[Judgement], overtaken: set[Key]) -> None:
    """Wake the standing workloads of trees in which the round admitted another workload.

    What they wait for may have been taken, so that they need other victims or another flavor. Those
    that were judged in this round and not overtaken have seen the admission.
    """
    roots = memory.roots
    taken = {roots[one.head.queue] for one in judgements if isinstance(one.decision, Admit)}
    note_round(memory, [roots[one.head.queue] for one in judgements], taken)
    if not taken or not memory.standing or memory.as_kueue:
        return
    told = {one.head.workload.key for one in judgements} - overtaken
    for key in memory.standing:
        peers = memory.items[key].peers
        if key not in told and peers is not None and roots[peers.queue] in taken:
            memory.wake_peers(peers)


def _step_off(memory: Memory, item: Item, judgement: Judgement, *, along: bool) -> None:
    """Take an item off its shelf if it was judged there and has to wait for something else.

    If it was judged `along`, as a companion, its queue becomes `ready`: the workloads that it
    blocked may have their turn.
    """
    if along:
        memory.ready.add(judgement.head.queue)
    elif is_patient(item) and item.peers is not None and isinstance(judgement.decision, Wait):
        memory.wake_peers(item.peers)


def _losers(
    memory: Memory, selection: Selection, judgements: Sequence[Judgement], moved: set[Node]
) -> list[Item]:
    """Return the patient items without a decision, in trees in which nothing moved.

    Without a decision they would be selected again, for ever.
    """
    still = [
        item
        for item in selection.items
        if item.peers is not None
        and is_patient(item)
        and memory.roots[item.peers.queue] not in moved
    ]
    decided = {one.decision.workload for one in judgements} if still else set()
    return [item for item in still if item.fact.key not in decided]


def _too_late(item: Item) -> Wait:
    """Return the wait of an item that fitted until others of the round took the quota."""
    return Wait(
        workload=item.fact.key,
        uid=item.fact.uid,
        cluster_queue=peers_of(item).queue,
        requeue=Requeue.IMMEDIATE,
        reason=Reason.WAITING_FOR_QUOTA,
        message=NO_LONGER_FITS,
        mode=Mode.SKIPPED,
    )


def _waits_on(memory: Memory, item: Item, judgement: Judgement) -> bool:
    """Say whether a companion goes on waiting as before, whatever its new judgement says.

    It does if the judgement says nothing new. It also does if flavors are left to try, because only
    the head of a queue tries these: as a companion, it would find the same victims in each round
    and lose them again, for ever. To become a head it is woken, once between two facts: woken more
    often, it might find other victims each time, and no cycle would end.
    """
    if _says_nothing_new(item, judgement.decision):
        return True
    wait = judgement.decision
    if memory.as_kueue or judgement.progress is None or isinstance(wait, Admit):
        return False
    if wait.mode not in (Mode.NO_FIT, Mode.NO_CANDIDATES):
        return False
    if item.fact.key not in memory.searching:
        memory.searching[item.fact.key] = None
        memory.wake(item)
    return True


def _says_nothing_new(item: Item, decision: Admit | Wait) -> bool:
    """Say whether the judgement of a companion only confirms its last one."""
    if item.peers is None or item.peers.stand is Stand.READY or isinstance(decision, Admit):
        return False
    known = item.wait
    same = known is not None and (known.mode, known.targets) == (decision.mode, decision.targets)
    return same or decision.mode is Mode.SKIPPED


def _assume(
    memory: Memory, item: Item, usage: Mapping[FlavorResource, int], decision: Admit, now: float
) -> None:
    fact = item.fact
    peers = peers_of(item)
    claims = shared_by(fact.pod_sets) if peers.demand.claims else {}
    parts = parts_of(claims, decision.pod_sets) if claims else ()
    own = assigned_usage(beside_claims(claims, decision.pod_sets)) if parts else None
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
            parts=parts,
            own=own,
        ),
        not decision.checks,
        decision,
    )
    if fact.key in memory.standing:
        memory.claims.drop(fact.key)
        del memory.standing[fact.key]
        memory.overtaken.pop(fact.key, None)
    memory.queues[peers.queue].remove(item)
    del memory.items[fact.key]
    memory.assumed_from[fact.key] = fact
    if memory.credits.any:
        memory.credits.stir(fact.key)
    memory.ledger.assume(charge, may_be_victim=memory.as_kueue)
    if memory.settings.expects_pods(admitted=charge.admitted):
        memory.unready.add(fact.key)
    touch_charged(memory, charge)
    memory.ready.add(decision.cluster_queue)
