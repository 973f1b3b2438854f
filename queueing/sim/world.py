"""The workloads of a simulation and their engine; each decision changes both."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from queueing.core.credits.facts import CreditFact
from queueing.core.decisions import (
    Admit,
    Cycle,
    Decision,
    Outcome,
    Place,
    Preempt,
    Verdict,
    Wait,
)
from queueing.core.facts import (
    ClusterQueueFact,
    CohortFact,
    Fact,
    Gone,
    Kind,
    LocalQueueFact,
    WorkloadFact,
)
from queueing.core.names import FlavorResource, Key, QueueName
from queueing.core.settings import Settings
from queueing.lifecycle.rules import StopPolicies, told_to_leave
from queueing.reports import queues as reports
from queueing.sim import transitions
from queueing.state.engine import Engine


class SimulatedCluster:
    """Facts that do not change by themselves; only `round` and `drain` change workloads."""

    def __init__(self, facts: Iterable[Fact | CreditFact], *, settings: Settings) -> None:
        self.engine = Engine(settings)
        self.explicit_reasons = settings.explicit_reasons
        self.is_fair = settings.fair_sharing is not None
        self.queues: dict[QueueName, ClusterQueueFact] = {}
        self.cohorts: dict[str, CohortFact] = {}
        self._doors: dict[Key, LocalQueueFact] = {}
        self._workloads: dict[Key, WorkloadFact] = {}
        for fact in facts:
            if isinstance(fact, CreditFact):
                self.engine.observe(fact)
            else:
                self.observe(fact)

    @property
    def workloads(self) -> Mapping[Key, WorkloadFact]:
        """The workloads as they are now."""
        return MappingProxyType(self._workloads)

    def observe(self, fact: Fact) -> None:
        """Pass a fact to the engine, and remember what a later transition or report needs."""
        match fact:
            case WorkloadFact():
                self._workloads[fact.key] = fact
            case ClusterQueueFact():
                self.queues[fact.name] = fact
            case LocalQueueFact():
                self._doors[fact.key] = fact
            case CohortFact():
                self.cohorts[fact.name] = fact
            case Gone(kind=Kind.WORKLOAD, name=name):
                self._workloads.pop(Key(name), None)
            case Gone(kind=Kind.CLUSTER_QUEUE, name=name):
                self.queues.pop(QueueName(name), None)
            case Gone(kind=Kind.COHORT, name=name):
                self.cohorts.pop(name, None)
            case _:
                pass
        self.engine.observe(fact)

    def queue_of(self, workload: WorkloadFact) -> QueueName | None:
        """Return the ClusterQueue that a workload queues for, None when it names no LocalQueue."""
        door = self._doors.get(workload.local_queue) if workload.local_queue else None
        return None if door is None else door.cluster_queue

    def round(self, now: float) -> Cycle:
        """Run one round, and apply its decisions to the workloads."""
        return self._true(self.engine.round(now), now)

    def cycle(self, now: float) -> Cycle:
        """Run rounds until no further try could admit a workload, and apply all decisions."""
        return self._true(self.engine.cycle(now), now)

    def _true(self, cycle: Cycle, now: float) -> Cycle:
        for decision in cycle.decisions:
            self._carry_out(decision, now)
        return cycle

    def _carry_out(self, decision: Decision, now: float) -> None:
        if isinstance(decision, Wait):
            return
        before = self._workloads[decision.workload]
        self.engine.settle(Outcome(decision=decision, verdict=Verdict.DONE))
        match decision:
            case Admit():
                after = transitions.admitted(before, decision, now=now)
            case Preempt():
                after = transitions.preempted(before, decision, now=now)
            case Place():
                after = transitions.placed(before, decision, now=now)
            case _:
                after = transitions.stranded(before, decision, now=now)
        self.observe(after)

    def drain(self, now: float) -> tuple[Key, ...]:
        """End the pods of evicted workloads: their quota is released, and they are requeued.

        Workloads that the controller would evict (deactivated, or of a stopped queue) are evicted
        first. Returns the workloads that released quota.
        """
        self.evict_told(now)
        evicted = [one for one in self._workloads.values() if one.holds_quota and one.evicted]
        for one in evicted:
            self.observe(transitions.drained(one, now=now))
        return tuple(one.key for one in evicted)

    def evict_told(self, now: float) -> list[WorkloadFact]:
        """Evict whom the controller would: deactivated ones and those of stopped queues.

        They keep their quota, as their pods still run.
        """
        found = []
        for one in tuple(self._workloads.values()):
            step = told_to_leave(one, self._stops(one))
            if step is not None:
                self.observe(transitions.evicted(one, step, now=now))
                found.append(self._workloads[one.key])
        return found

    def _stops(self, workload: WorkloadFact) -> StopPolicies:
        """Read the stop policies of the LocalQueue, and of the queue that quota is held of."""
        local = self._doors.get(workload.local_queue) if workload.local_queue else None
        held = workload.admission.cluster_queue if workload.admission is not None else None
        cluster = self.queues.get(held) if held is not None else None
        return StopPolicies(
            local=local.stop_policy if local is not None else None,
            cluster=cluster.stop_policy if cluster is not None else None,
        )

    def usage(self) -> dict[str, dict[FlavorResource, int]]:
        """Sum the quota held per ClusterQueue, that of victims with running pods included."""
        found: dict[str, dict[FlavorResource, int]] = {name: {} for name in self.queues}
        for name in self.queues:
            view = reports.cluster_queue(self.engine.memory, name)
            if view is not None:
                found[name] = {one: held.total for one, held in view.reservation.items()}
        return found
