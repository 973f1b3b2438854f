"""The changes after which the engine admits a waiting workload."""

from collections.abc import Callable, Iterator
from itertools import chain

from queueing.core.entries import Ruling
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, QueueName
from queueing.core.nomination import refusal
from queueing.explain import trial
from queueing.explain.model import Remedy
from queueing.explain.place import blocking_front
from queueing.explain.probe import helps, judge, lacking
from queueing.explain.proposals import (
    Proposal,
    fewer_pods,
    higher_priorities,
    other_flavors,
    other_queues,
    shorter,
    smaller,
    switches,
    without_uncovered,
)
from queueing.explain.quota_proposals import more_quota, opened, passing, reclaiming, resumed
from queueing.state.intake.joining import why_held
from queueing.state.memory.memory import Memory

Enough = Callable[[], bool]
"""Says that no more time may be spent."""
ONE_OF_A_KIND = {
    "RaisePriority",
    "RaiseQuota",
    "RaiseBorrowingLimit",
    "AskLess",
    "FewerPods",
    "ShorterRun",
}
"""Kinds of which the first that works is the smallest."""
STOPPED = "there was no time to try all: ask again when less is going on"
Found = list[tuple[Proposal, Remedy]]


def find(
    memory: Memory, fact: WorkloadFact, ruling: Ruling | None, enough: Enough
) -> tuple[Found, str]:
    """Return the remedies for a waiting workload, and why others were not looked for.

    `ruling` is what would be decided if it went first; None if it is in no queue.
    """
    name = _queue_of(memory, fact)
    root = None if name is None else memory.root_of(name)
    note = "" if root is None else trial.why_not(memory, root)
    found: Found = []
    done: set[tuple[str, str]] = set()
    tried = _own(memory, fact, ruling)
    for proposal in tried if note else chain(tried, _of_queues(memory, fact, ruling)):
        if enough():
            return found, STOPPED
        if _key(proposal) in done:
            continue
        remedy = _tried(memory, proposal, fact.key)
        if remedy is not None:
            done.add(_key(proposal))
            found.append((proposal, remedy))
    return found, note


def _key(proposal: Proposal) -> tuple[str, str]:
    """Return what a proposal is to be the only one of."""
    if proposal.kind == "RaiseQuota":
        return proposal.kind, proposal.edits[0].field
    return proposal.kind, "" if proposal.kind in ONE_OF_A_KIND else proposal.text


def _own(memory: Memory, fact: WorkloadFact, ruling: Ruling | None) -> Iterator[Proposal]:
    """Yield changes of the workload itself."""
    if fact.slice_of:
        # it keeps queue, flavors, requests and priority of the job that grows by it
        yield from fewer_pods(fact, ruling)
        return
    yield from switches(fact)
    name = _queue_of(memory, fact)
    front = None if name is None else blocking_front(memory, fact, name)
    if ruling is not None:
        if ruling.decision.mode is not None and ruling.entry.barred is not None:
            yield from shorter(fact)
        yield from smaller(fact, ruling)
        yield from without_uncovered(fact, ruling)
        yield from other_flavors(fact, ruling)
    yield from higher_priorities(memory, fact, ruling, front)
    yield from other_queues(memory, fact)


def _of_queues(memory: Memory, fact: WorkloadFact, ruling: Ruling | None) -> Iterator[Proposal]:
    """Yield changes of queues, if they can be tried."""
    name = _queue_of(memory, fact)
    if name is None:
        return
    yield from resumed(memory, fact)
    yield from opened(memory, fact, name)
    if blocking_front(memory, fact, name) is not None:
        yield from passing(memory, name)
    if ruling is not None and lacking(ruling):
        yield from more_quota(memory, ruling)
        yield from reclaiming(memory.objects.queues[name])


def _tried(memory: Memory, proposal: Proposal, key: Key) -> Remedy | None:
    """Return a remedy if the engine admits the workload after it; None if it does not.

    What concerns the workload alone is judged in the engine's own memory: nobody else is woken by
    it. Only where others are, or get their turn, or have to leave, a trial must show what they do.
    """
    fact = proposal.fact
    if isinstance(fact, WorkloadFact):
        name = _queue_of(memory, fact)
        if name is None or not _may_be_judged(memory, fact, name):
            return None
        ruling = judge(memory, fact, name)
        if ruling is None or not helps(memory, ruling):
            return None
        if not ruling.preemptions and not _lets_others_pass(memory, key, name):
            return proposal.remedy("Admit", ())
    else:
        name = _queue_of(memory, memory.workloads[key])
    root = None if name is None else memory.root_of(name)
    if root is None or trial.why_not(memory, root):
        return None
    result, victims = trial.outcome(memory, root, fact, key)
    return None if result == "Wait" else proposal.remedy(result, victims)


def _lets_others_pass(memory: Memory, key: Key, to: QueueName) -> bool:
    """Say whether a workload that goes to another queue leaves others what they may take."""
    item = memory.items.get(key)
    if item is None or item.peers.queue == to:
        return False
    return key in memory.ledger.promised or memory.objects.is_strict(item.peers.queue)


def _may_be_judged(memory: Memory, fact: WorkloadFact, name: QueueName) -> bool:
    door = memory.objects.local_queues.get(fact.local_queue or Key(""))
    if why_held(memory, fact, door) is not None or not memory.objects.is_active(name):
        return False
    if refusal(fact, memory.objects.queues[name], memory.objects.namespaces) is not None:
        return False
    return blocking_front(memory, fact, name) is None


def _queue_of(memory: Memory, fact: WorkloadFact) -> QueueName | None:
    door = memory.objects.local_queues.get(fact.local_queue or Key(""))
    if door is None or door.cluster_queue not in memory.objects.queues:
        return None
    return door.cluster_queue
