"""A small engine of the same tree of cohorts, in which a change of a queue is tried.

It is told what the cluster would tell a new leader, so it waits for nothing that the real one does
not know. It is not made where that is not all that decides (credits, usage histories, places of
pods), while decisions are still being written, or where the tree is so large that it would take
long.
"""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import replace

from queueing.core.decisions import Admit, Cycle, Preempt
from queueing.core.facts import Condition, Fact, WorkloadFact
from queueing.core.names import Key, QueueName
from queueing.core.quota.node import QuotaNode
from queueing.state.intake.joining import isolate
from queueing.state.intake.surroundings import put_object
from queueing.state.intake.workloads import observe_workload
from queueing.state.memory.memory import Memory
from queueing.state.memory.objects import ObjectFact
from queueing.state.scheduler.schedule import schedule

WORKLOADS_MAX = 300
"""Workloads of a tree up to which changes are tried."""
CYCLES_MAX = 5
"""Cycles, with the victims gone after each, within which a change must help."""
NOT_TRIED = "what would change queues or preempt others is not tried"


def why_not(memory: Memory, root: QuotaNode) -> str:
    """Return why no change can be tried in a tree; empty if they can."""
    names = memory.queues_of(root)
    if memory.credits.any:
        return f"{NOT_TRIED} while credits or budgets are in force"
    if memory.ledger.turns is not None and any(
        memory.objects.queues[name].admission_fair_sharing for name in names
    ):
        return f"{NOT_TRIED} where LocalQueues take turns by their usage"
    if any(memory.objects.rules[name].offer.places for name in names):
        # workloads of other trees may be on the same nodes
        return f"{NOT_TRIED} where pods are placed by topology"
    if _size(memory, names) > WORKLOADS_MAX:
        return f"{NOT_TRIED} with more than {WORKLOADS_MAX} workloads"
    held = [one for name in names for one in memory.ledger.charges_of(name)]
    if any(one.decision is not None for one in held) or memory.ledger.evicting:
        return f"{NOT_TRIED} while decisions are being written: ask again"
    return ""


def _size(memory: Memory, names: Iterable[QueueName]) -> int:
    """Count the workloads of some queues without looking at them, finished ones included."""
    doors = [door for name in names for door in memory.objects.local_queues_of.get(name, ())]
    return sum(len(memory.workloads.behind.get(door, ())) for door in doors)


def outcome(memory: Memory, root: QuotaNode, changed: Fact, workload: Key) -> tuple[str, list[str]]:
    """Return what becomes of a workload after a change: Admit, Preempt with victims, or Wait.

    Victims leave after each cycle. It is Wait also where what the real engine would do is not sure:
    if a new one would admit or evict anybody without the change, so that the real one knows what
    the trial does not, or is not at rest; and if somebody is evicted whom the trial has just
    admitted, as the one may be written without the other.
    """
    trial = _copy(memory, root)
    if any(isinstance(one, Admit | Preempt) for one in _run(trial, memory.clock).decisions):
        return "Wait", []
    # its first round forgot all pairs, as everything was new to it
    trial.pairs = deepcopy(
        {name: one for name, one in memory.pairs.items() if name in trial.queues}
    )
    _observe(trial, changed)
    victims: dict[str, None] = {}
    for _ in range(CYCLES_MAX):
        for one in _run(trial, memory.clock).decisions:
            if isinstance(one, Admit) and one.workload == workload:
                return ("Preempt" if victims else "Admit"), list(victims)
            if isinstance(one, Preempt):
                if trial.ledger.charges[one.workload].decision is not None:
                    return "Wait", []
                if one.preemptor == workload:
                    victims[one.workload] = None
        leaving = sorted(trial.ledger.leaving)
        if not leaving:
            break
        for key in leaving:
            observe_workload(trial, _left(trial.workloads[key], memory.clock))
    return "Wait", []


def _left(fact: WorkloadFact, now: float) -> WorkloadFact:
    """Return a victim whose pods have ended."""
    said = {
        "QuotaReserved": Condition(type="QuotaReserved", status=False, reason="Pending"),
        "Evicted": Condition(type="Evicted", status=True, reason="Preempted", changed=now),
        "Requeued": Condition(type="Requeued", status=True, reason="Preempted", changed=now),
    }
    kept = {name: one for name, one in fact.conditions.items() if name != "Admitted"}
    return replace(fact, admission=None, conditions=kept | said, checks=(), beside={})


def _copy(memory: Memory, root: QuotaNode) -> Memory:
    objects, names = memory.objects, memory.queues_of(root)
    made = Memory.empty(memory.settings)
    doors = [one for one in objects.local_queues.values() if one.cluster_queue in names]
    facts: list[ObjectFact] = [
        *objects.namespaces.values(),
        *objects.flavors.values(),
        *objects.checks.values(),
        *objects.topologies.values(),
        *objects.cohorts.values(),
        *(objects.queues[name] for name in names),
        *doors,
    ]
    for fact in facts:
        put_object(made, fact)
    made.clock = memory.clock
    made.writes.punished = dict(memory.writes.punished)
    for key in _members(memory, names):
        observe_workload(made, memory.workloads[key])
    # whoever got what its victims left, and lost it again, goes before nobody
    made.marks = {key: memory.marks.get(key, uid) for key, uid in made.marks.items()}
    for key, item in made.items.items():
        known = memory.items.get(key)
        if known is not None:
            item.wait = known.wait  # else a preemptor of old would be judged before all others
            if known.is_sticky:
                isolate(made, item, sticky=True)
    return made


def _members(memory: Memory, names: Iterable[QueueName]) -> Iterator[Key]:
    """Yield the workloads that hold quota of some queues, or wait for some, in a fixed order."""
    known: dict[Key, None] = {}
    for name in names:
        known.update(dict.fromkeys(one.holder.key for one in memory.ledger.charges_of(name)))
        for door in memory.objects.local_queues_of.get(name, ()):
            behind = memory.workloads.behind.get(door, ())
            known.update(
                dict.fromkeys(key for key in behind if not _is_over(memory.workloads[key]))
            )
    yield from known


def _is_over(fact: WorkloadFact) -> bool:
    return fact.is_true("Finished") or fact.deleting


def _observe(trial: Memory, fact: Fact) -> None:
    if isinstance(fact, WorkloadFact):
        observe_workload(trial, fact)
    elif isinstance(fact, ObjectFact):
        put_object(trial, fact)


def _run(trial: Memory, now: float) -> Cycle:
    steps = schedule(trial, now, None, None)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Cycle = end.value
            return found
