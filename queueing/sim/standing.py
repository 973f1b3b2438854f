"""Completes a round by the pending workloads that it did not judge, each with its last reason."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from queueing.core.decisions import (
    Admit,
    Decision,
    Place,
    Preempt,
    Reason,
    Requeue,
    Strand,
    Wait,
)
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, QueueName
from queueing.reports import queues as reports
from queueing.sim.world import SimulatedCluster

_IN_LINE = (Requeue.IMMEDIATE, Requeue.NOT_HEAD)


class Standing:
    """What is known of every pending workload, from before a cycle through its rounds."""

    def __init__(self, world: SimulatedCluster) -> None:
        self._world = world
        self._known = {fact.key: _before(world, fact) for fact in _in_order(world)}

    def catch_up(self) -> None:
        """After a cycle, learn from the engine why workloads wait that were not judged themselves.

        Of equivalent workloads the engine judges one for all.
        """
        for key, known in self._known.items():
            self._known[key] = self._world.engine.waiting(key) or known

    def complete(self, decided: Iterable[Decision]) -> tuple[Decision, ...]:
        """Return a round's decisions, and why the other pending workloads wait."""
        decisions = tuple(decided)
        for one in decisions:
            if isinstance(one, Wait):
                self._known[one.workload] = one
            elif isinstance(one, Admit):
                self._known.pop(one.workload, None)
        judged = {one.workload for one in decisions}
        heads = self._heads(aside=frozenset(map(_queue_of, decisions)))
        others = (wait for key, wait in self._known.items() if key not in judged)
        return (
            *decisions,
            *(one if one.workload in heads else _behind(one) for one in others),
        )

    def _heads(self, aside: Collection[QueueName | None]) -> frozenset[Key]:
        """Return the first workload of each queue, except in queues whose head was judged."""
        heads: dict[QueueName | None, Key] = {}
        for key, wait in self._known.items():
            if wait.requeue in _IN_LINE:
                heads.setdefault(wait.cluster_queue, key)
        return frozenset(key for queue, key in heads.items() if queue not in aside)


def _queue_of(decision: Decision) -> QueueName | None:
    """Return the queue whose head was judged when something was decided."""
    if isinstance(decision, Place | Strand):
        return None  # it holds quota, and came before all heads
    if isinstance(decision, Preempt):
        return decision.preemptor_queue
    return decision.cluster_queue


def _behind(wait: Wait) -> Wait:
    """Say of one who is to be tried again, and was not in this round, that it was not its turn."""
    return replace(wait, requeue=Requeue.NOT_HEAD) if wait.requeue in _IN_LINE else wait


def _in_order(world: SimulatedCluster) -> list[WorkloadFact]:
    """Return the pending workloads: by ClusterQueue in queue order, then those in no queue."""
    memory = world.engine.memory
    queued = [item.key for name in sorted(world.queues) for item in reports.pending(memory, name)]
    place = {key: number for number, key in enumerate(queued)}
    pending = [
        fact
        for fact in world.workloads.values()
        if not fact.holds_quota and not fact.finished and not fact.deleting
    ]
    return sorted(pending, key=lambda fact: (place.get(fact.key, len(place)), fact.key))


def _before(world: SimulatedCluster, fact: WorkloadFact) -> Wait:
    """Return the last wait of a workload, or one that says that it was not tried yet."""
    return world.engine.waiting(fact.key) or Wait(
        workload=fact.key,
        uid=fact.uid,
        cluster_queue=world.queue_of(fact),
        requeue=Requeue.NOT_HEAD,
        reason=Reason.PENDING_EVALUATION,
        message="Waiting for its turn in the queue",
    )
