"""Applies the rulings of a round: who is admitted is charged, all others are `requeue`d."""

from collections.abc import Sequence
from dataclasses import replace

from queueing.core.credits.allowance import LOWEST_PRIORITY
from queueing.core.decisions import Admit, Decision, Mode
from queueing.core.entries import Ruling
from queueing.core.holders import Holder
from queueing.core.quota.node import QuotaNode
from queueing.core.topology.assignment import Occupancy
from queueing.core.usage import occupancies, use_of
from queueing.state.intake.joining import heed_siblings
from queueing.state.intake.variants import less_favorable
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import READY, Item
from queueing.state.scheduler.reach import Reach
from queueing.state.scheduler.requeue import (
    go_on_from,
    requeue,
    requeue_skipped,
    shelve,
    take_promises,
    unstick,
)
from queueing.state.usage.charges import Charge

SKIPPED = Mode.SKIPPED


def settle(memory: Memory, rulings: Sequence[Ruling]) -> list[Decision]:
    """Apply all rulings of a round, in the order made; return its decisions."""
    decided: list[Decision] = []
    changed: set[QuotaNode] = set()
    """Roots of trees in which anything happened that another try may find different."""
    skipped: list[Item] = []
    requeued: list[Item] = []
    as_kueue = not memory.settings.rules.waits_for_lacks
    for ruling in rulings:
        decision = ruling.decision
        item = memory.items.get(decision.workload)
        if item is None:
            continue  # an earlier one of the round is its sibling, and was admitted in its place
        item.waited = 0
        if item.fact.variant and _has_to_migrate(memory, item, decision):
            memory.ready.add(ruling.entry.head.queue)
            continue
        if as_kueue and _says_nothing_new(item, ruling):
            go_on_from(memory, item, ruling)
            continue
        decided += (*ruling.preemptions, decision)
        memory.ready.add(ruling.entry.head.queue)  # whoever is next there may have a turn now
        if isinstance(decision, Admit):
            _admit(memory, item, ruling, decision)
        elif decision.mode is SKIPPED:
            item.wait = decision
            skipped.append(item)
            if as_kueue:
                go_on_from(memory, item, ruling)
                unstick(memory, item)
            continue
        else:
            requeue(memory, item, ruling, decision)
            requeued.append(item)
        changed.add(ruling.entry.node.root)
    for item in skipped:
        if memory.root_of(item.peers.queue) not in changed:  # it would lose in the same way again
            requeue_skipped(memory, item)
    if requeued and not as_kueue:
        reach = Reach(memory)
        for item in requeued:
            shelve(memory, item, reach)
    return decided


def _says_nothing_new(item: Item, ruling: Ruling) -> bool:
    """Say whether the ruling on a head that blocks its queue only confirms its last one.

    Nor is anything new while its search over flavors, which began anew, has some left: it goes on
    when the head is judged beside others again. To be judged again for that alone, two such heads
    would keep each other from ever coming to an end.
    """
    decision, known = ruling.decision, item.wait
    if item.peers.stand is READY or known is None or isinstance(decision, Admit):
        return False
    same = (known.mode, known.targets) == (decision.mode, decision.targets)
    return same or decision.mode is Mode.SKIPPED or ruling.progress is not None


def _has_to_migrate(memory: Memory, item: Item, decision: Decision) -> bool:
    """Say whether a sibling that an earlier ruling of the round admitted has to make way first."""
    admits = isinstance(decision, Admit) and not decision.checks
    return admits and bool(less_favorable(memory, item.fact))


def _admit(memory: Memory, item: Item, ruling: Ruling, decision: Admit) -> None:
    if ruling.entry.head.workload.priority < item.fact.priority:
        memory.credits.demote(item.fact.uid)
    if ruling.taken:
        take_promises(memory, ruling.head, ruling.taken)
    charge = Charge(_holder(memory, item, ruling, decision), not decision.checks, decision)
    queue = memory.queues[item.peers.queue]
    queue.remove(item)
    del memory.items[item.fact.key]
    memory.writes.assumed_from[item.fact.key] = item.fact
    if not queue.peers:
        memory.ready.discard(queue.name)
    memory.ledger.assume(charge)
    blocks = memory.settings.block_admission_until_pods_ready
    if blocks and memory.settings.expects_pods(admitted=charge.admitted):
        memory.unready.add(item.fact.key)
    memory.note_charge(charge.holder)
    if item.fact.variant is not None:
        heed_siblings(memory, item.fact)


def _holder(memory: Memory, item: Item, ruling: Ruling, decision: Admit) -> Holder:
    fact, pod_sets = item.fact, decision.pod_sets
    holder = memory.holder_for(ruling.entry.head, ruling.entry.usage)
    if fact.uid in memory.credits.demoted:
        holder = replace(holder, priority=LOWEST_PRIORITY)
    if item.peers.demand.claims:
        use = use_of(fact.pod_sets, pod_sets, fact.slice_of)
        holder = replace(holder, parts=use.parts, own=use.own if use.parts else None)
    if not fact.slice_of:
        return holder
    given: tuple[Occupancy, ...] = ()
    if memory.settings.grows_in_place:
        given = occupancies(zip(pod_sets, fact.pod_sets, strict=False))
    return replace(holder, pod_sets=pod_sets, places=given)
