"""A simulated cluster that does at once what its engine decides, and reports it as facts.

It stands in for API server, controllers and pods: an admitted workload holds quota; a victim is
marked Evicted, releases its quota when told to, and is requeued. Tests and benchmarks use it to
drive the engine by its own decisions, without objects or requests.
"""

from collections.abc import Iterable
from dataclasses import replace

from queueing.core.decisions import Admit, Cycle, Outcome, Place, Preempt, Verdict
from queueing.core.facts import (
    Admission,
    CheckPhase,
    CheckState,
    Condition,
    Fact,
    Gone,
    Kind,
    WorkloadFact,
)
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.state.engine import Engine

STEPS_MAX = 1_000
"""Cycles within which a small world must come to rest."""


class ObedientCluster:
    """Engine, facts and a clock that stands still unless told otherwise."""

    def __init__(self, facts: Iterable[Fact] = (), settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.engine = Engine(self.settings)
        self.now = 1_000.0
        self.objects: dict[tuple[str, str], Fact] = {}
        self.workloads: dict[Key, WorkloadFact] = {}
        self.preemptions: list[Preempt] = []
        """Every preemption carried out, without those of victims already evicted."""
        for fact in facts:
            self.observe(fact)

    def observe(self, fact: Fact) -> None:
        """Tell the engine a fact, and remember it."""
        match fact:
            case WorkloadFact(key=key):
                self.workloads[key] = fact
            case Gone(kind=Kind.WORKLOAD, name=name):
                self.workloads.pop(Key(name), None)
            case Gone(kind=kind, name=name):
                self.objects.pop((kind, name), None)
            case _:
                name = fact.key if hasattr(fact, "key") else fact.name
                self.objects[type(fact).__name__.removesuffix("Fact"), name] = fact
        self.engine.observe(fact)

    def facts(self) -> list[Fact]:
        """Return all that holds now, as a new engine would be told."""
        return [*self.objects.values(), *self.workloads.values()]

    def restart(self) -> None:
        """Forget the engine and start a new one from the facts."""
        self.engine = Engine(self.settings)
        for fact in self.facts():
            self.engine.observe(fact)

    def running(self) -> list[Key]:
        """Return who holds quota and is not on the way out, sorted."""
        return sorted(
            key for key, one in self.workloads.items() if one.holds_quota and not one.evicted
        )

    def draining(self) -> list[Key]:
        """Return who is evicted and still holds quota, sorted."""
        return sorted(key for key, one in self.workloads.items() if one.holds_quota and one.evicted)

    def cycle(self, budget: int | None = None) -> Cycle:
        """Run a cycle and carry out what it decided."""
        cycle = self.engine.cycle(self.now, budget)
        for decision in cycle.decisions:
            if isinstance(decision, Admit):
                self._admit(decision)
            elif isinstance(decision, Preempt) and not decision.already_evicted:
                self.evict(decision)
            elif isinstance(decision, Place):
                self._place(decision)
        return cycle

    def drain(self, key: Key) -> None:
        """Let an evicted workload give its quota back and queue again."""
        fact = self.workloads[key]
        kept = {name: one for name, one in fact.conditions.items() if name != "Admitted"}
        for name, status in (("QuotaReserved", False), ("Requeued", True)):
            kept[name] = Condition(type=name, status=status, reason="Preempted", changed=self.now)
        self.observe(replace(fact, admission=None, conditions=kept, checks=()))

    def finish(self, key: Key) -> None:
        """Let a workload end."""
        fact = self.workloads[key]
        done = Condition(type="Finished", status=True, reason="Succeeded", changed=self.now)
        self.observe(replace(fact, conditions={**fact.conditions, "Finished": done}))

    def rest(self, budget: int | None = None) -> int:
        """Cycle and drain until nothing more is decided; return the number of cycles it took."""
        for step in range(1, STEPS_MAX + 1):
            cycle = self.cycle(budget)
            draining = self.draining()
            for key in draining:
                self.drain(key)
            if cycle.finished and not draining and not any(map(_does, cycle.decisions)):
                return step
        raise AssertionError(f"no rest after {STEPS_MAX} cycles: {self.preemptions[-6:]}")

    def _admit(self, decision: Admit) -> None:
        fact = self.workloads[decision.workload]
        conditions = {
            **fact.conditions,
            "QuotaReserved": Condition(type="QuotaReserved", status=True, changed=self.now),
            "Admitted": Condition(type="Admitted", status=True, changed=self.now),
        }
        for name in ("Evicted", "Preempted"):
            if name in conditions:
                conditions[name] = replace(conditions[name], status=False)
        self.engine.settle(Outcome(decision=decision, verdict=Verdict.DONE))
        self.observe(
            replace(
                fact,
                admission=Admission(
                    cluster_queue=decision.cluster_queue, pod_sets=decision.pod_sets
                ),
                conditions=conditions,
                checks=tuple(
                    CheckState(name=name, state=CheckPhase.READY) for name in decision.checks
                ),
            )
        )

    def _place(self, decision: Place) -> None:
        """Write new places into a status; who has them is admitted, and left its failed nodes."""
        fact = self.workloads[decision.workload]
        held = Admission(cluster_queue=decision.cluster_queue, pod_sets=decision.pod_sets)
        admitted = Condition(type="Admitted", status=True, changed=self.now)
        conditions = {**fact.conditions, "Admitted": admitted}
        self.engine.settle(Outcome(decision=decision, verdict=Verdict.DONE))
        self.observe(replace(fact, admission=held, conditions=conditions, unhealthy=()))

    def evict(self, decision: Preempt) -> None:
        """Write a preemption into the victim's status."""
        fact = self.workloads[decision.workload]
        self.preemptions.append(decision)
        message = (
            f"Preempted to accommodate a workload (UID: {decision.preemptor_uid}, JobUID: ) due to "
            f"{decision.reason}; preemptor path: {decision.preemptor_path}; "
            f"preemptee path: {decision.victim_path}"
        )
        conditions = {
            **fact.conditions,
            "Evicted": Condition(
                type="Evicted", status=True, reason="Preempted", message=message, changed=self.now
            ),
            "Preempted": Condition(
                type="Preempted",
                status=True,
                reason=decision.reason,
                message=message,
                changed=self.now,
            ),
        }
        self.engine.settle(Outcome(decision=decision, verdict=Verdict.DONE))
        self.observe(replace(fact, conditions=conditions))


def _does(decision: object) -> bool:
    return isinstance(decision, Admit | Place | Preempt)
