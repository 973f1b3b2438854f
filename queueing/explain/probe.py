"""What the engine would decide about one workload if it went first, on the quota as it is.

Nothing is decided: the round runs on the engine's own quota tree, which undoes what it charges.
"""

from dataclasses import replace
from typing import NamedTuple

from typing_extensions import override

from queueing.core.credits.allowance import Allowance
from queueing.core.decisions import Admit, Wait
from queueing.core.entries import Head, Ruling
from queueing.core.facts import WorkloadFact
from queueing.core.names import FlavorResource, QueueName, Uid
from queueing.core.ordering import queue_timestamp
from queueing.core.reasons import Excess, Obstacle, Shortage
from queueing.core.rounds import Round, process_round
from queueing.core.sharing import Use
from queueing.core.usage import demand_of
from queueing.state.memory.memory import Memory
from queueing.state.scheduler.heads import as_head, blockers_beside, world_of


class _Untouched(Allowance):
    """What budgets leave, not lowered by an admission that does not happen."""

    __slots__ = ()

    @override
    def take(self, workload: WorkloadFact, queue: QueueName, use: Use, *, demoted: bool) -> None:
        """Hold nothing."""


def judge(memory: Memory, fact: WorkloadFact, queue: QueueName) -> Ruling | None:
    """Return the ruling about a workload, which need not be as it is, at the head of a queue.

    None if it would have to be judged again, or there is no such queue.
    """
    if not memory.tree.has_queue(queue) or queue not in memory.objects.rules:
        return None
    head = _head(memory, fact, queue)
    world = world_of(memory, ())
    if world.allowance is not None:
        known = world.allowance
        world = replace(
            world,
            allowance=_Untouched(
                limits=known.limits, prices=known.prices, restraints=known.restraints
            ),
        )
    item, others = memory.items.get(fact.key), blockers_beside(memory, [queue])
    heads = [head, *(as_head(memory, one) for one in others if one is not item)]
    with memory.tree.attempt():
        own = memory.ledger.promised.get(fact.key)
        if own is not None:
            memory.tree.remove_usage(own.queue, own.usage)
        rulings = _to_the_end(process_round(heads, world))
    return next((one for one in rulings if one.head is head or one.head.workload is fact), None)


def helps(memory: Memory, ruling: Ruling | None) -> bool:
    """Say whether a ruling leads to an admission.

    One that preempts does where what victims give back is promised; as Kueue counts, others may
    take it.
    """
    if ruling is None:
        return False
    return isinstance(ruling.decision, Admit) or (
        bool(ruling.preemptions) and memory.settings.rules.promises and ruling.is_promise
    )


class Lack(NamedTuple):
    """Quota that is missing for a workload; `capacity` if even an idle tree has too little."""

    resource: FlavorResource
    asked: int
    """The amount that must be available in the queue."""
    missing: int
    capacity: bool


def lack_of(obstacle: Obstacle) -> Lack | None:
    """Return the quota that an obstacle is for want of; None if it is something else."""
    match obstacle:
        case Shortage(resource=resource, asked=asked, missing=missing):
            return Lack(resource, asked, missing, capacity=False)
        case Excess(resource=resource, capacity=most):
            asked = obstacle.earlier + obstacle.asked
            return Lack(resource, asked, asked - most, capacity=True)
        case _:
            return None


def obstacles(ruling: Ruling) -> list[tuple[str, Obstacle]]:
    """Return what is in the way of a ruling's workload, each with the pod set it was found for."""
    if isinstance(ruling.decision, Admit):
        return []
    return [(name, one) for name, found in ruling.entry.assignment.troubles for one in found]


def lacking(ruling: Ruling) -> dict[FlavorResource, int]:
    """Return the flavor-resources that are short, with what is missing of each at most."""
    found: dict[FlavorResource, int] = {}
    for _, one in obstacles(ruling):
        lack = lack_of(one)
        if lack is not None:
            found[lack.resource] = max(lack.missing, found.get(lack.resource, 0))
    return found


def is_open(ruling: Ruling | None) -> bool:
    """Say whether a workload would wait whatever its turn is."""
    return ruling is not None and isinstance(ruling.decision, Wait)


def _to_the_end(steps: Round) -> list[Ruling]:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            rulings: list[Ruling] = end.value
            return rulings


def _head(memory: Memory, fact: WorkloadFact, queue: QueueName) -> Head:
    item = memory.items.get(fact.key)
    if item is not None and item.fact is fact:
        head = replace(as_head(memory, item), progress=None)
    else:
        head = Head(
            workload=fact,
            queue=queue,
            demand=demand_of(fact),
            timestamp=queue_timestamp(fact, memory.settings),
        )
    return replace(head, queue=queue, spared=head.spared | {Uid(fact.uid)})
