"""What will have a waiting workload judged again."""

from collections.abc import Collection, Iterator

from queueing.core.decisions import BARRED, Mode, Reason, Wait
from queueing.core.facts import WorkloadFact
from queueing.core.names import FlavorResource
from queueing.core.nomination import refusal
from queueing.core.quantities import quantity
from queueing.explain.model import Wake
from queueing.explain.place import blocking_front
from queueing.explain.spelling import told
from queueing.state.memory.memory import Held, Memory
from queueing.state.queues.peers import Item, Stand


def of_held(fact: WorkloadFact, held: Held) -> Iterator[Wake]:
    """Yield what will bring a workload back into its queue."""
    until = held.until
    if held.wait.reason is Reason.PENDING_EVALUATION and until is None:
        until = fact.requeue_at
    if until is not None:
        yield Wake(event="Time", text="its backoff is over", at=told(until))
        return
    events = {
        Reason.DEACTIVATED: "it is activated (spec.active)",
        Reason.ADMISSION_GATED: "its gates are taken away",
        Reason.ON_HOLD: "its LocalQueue is resumed",
        Reason.MISCONFIGURED: "the queue that it names exists",
    }
    text = events.get(held.wait.reason, "the Workload changes")
    yield Wake(event="Object", text=text)


def of_item(
    memory: Memory, item: Item, wait: Wait, *, short: Collection[FlavorResource]
) -> Iterator[Wake]:
    """Yield what will have a queued workload judged again; `short` of quota that others hold."""
    name, peers, fact = item.peers.queue, item.peers, item.fact
    if not memory.objects.is_active(name):
        yield Wake(event="Object", text=f"ClusterQueue {name} is active again")
        return
    if fact.key in memory.ledger.promised and wait.mode in {Mode.PREEMPT, Mode.DEFERRED_FIT}:
        yield Wake(event="VictimsGone", text="the pods of the evicted workloads have ended")
        return
    front = blocking_front(memory, fact, name)
    if front is not None:
        yield Wake(event="Turn", text=f"{front}, which comes before it, is admitted or leaves")
        return
    if wait.reason is Reason.WAITING_FOR_PODS_READY:
        yield Wake(event="Pods", text="the pods of the admitted workloads are ready")
        return
    if peers.stand is Stand.READY:
        yield Wake(event="Turn", text="its turn comes, in the next round")
        return
    if refusal(fact, memory.objects.queues[name], memory.objects.namespaces) is not None:
        yield Wake(event="Object", text="the Workload, its namespace or its ClusterQueue changes")
        return
    if wait.reason in BARRED:
        yield Wake(event="Object", text="the budget or the credit policy allows it")
    if short:
        yield from _released(memory, item, short)
    yield Wake(event="QuotaChange", text="quotas, cohorts or flavors of its tree change")


def _released(memory: Memory, item: Item, short: Collection[FlavorResource]) -> Iterator[Wake]:
    """Say what has to be released, of what it is short of if that is among it."""
    peers = item.peers
    asked = [
        (one, amount, priority)
        for (_, one, priority), amount in peers.asked.items()
        if one is not None
    ]
    for one, amount, priority in [each for each in asked if each[0] in short] or asked:
        told_of = f"{quantity(one.resource, amount)} {one.resource} of flavor {one.flavor}"
        victims = "" if priority is None else ", from free quota and from those it may preempt"
        yield Wake(event="Release", text=f"{told_of} can be had{victims}")
    if not asked:
        root = memory.root_of(peers.queue)
        tree = "its queue" if root is None or root.is_queue else f"the tree of cohort {root.name}"
        yield Wake(event="Release", text=f"anybody in {tree} gives quota back")
