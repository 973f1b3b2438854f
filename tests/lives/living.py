"""A simulated cluster in which anything may happen, connected to an engine.

It stands in for API server, controllers and pods, as `obedient` does. In addition, writes are
refused or have an unknown outcome, facts arrive late, admission checks fail, queues are stopped,
and workloads are evicted. `workloads` and `objects` are what the API server stores; `untold` are
the facts that the engine has not got yet.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Self

from queueing.core.credits.facts import CreditFact
from queueing.core.decisions import Admit, Cycle, Decision, Outcome, Preempt, Verdict
from queueing.core.facts import (
    Admission,
    CheckPhase,
    CheckState,
    ClusterQueueFact,
    Condition,
    Fact,
    Gone,
    Kind,
    LocalQueueFact,
    WorkloadFact,
)
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.lifecycle import steps
from queueing.lifecycle.rules import LifeRules, StopPolicies, judge
from queueing.lifecycle.steps import Condemn, ConfirmAdmission, Deactivate, Evict
from queueing.reports import queues as reports
from queueing.state.engine import Engine
from tests.lives.random_events import Life
from tests.lives.reasons import WaitingReasons

RULES = LifeRules(pods_ready=None)
CYCLES_MAX = 300
"""Cycles within which a small world must come to rest."""


class NeverRestsError(AssertionError):
    """Something is decided over and over."""


class LivingCluster:
    """What an API server stores, an engine, and a clock that others move."""

    engines: Callable[[Settings], Engine] = Engine
    """Makes its engines."""

    def __init__(self, facts: Iterable[Fact] = (), settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.engine = self.engines(self.settings)
        self.now = 1_000.0
        self.objects: dict[tuple[str, str], Fact] = {}
        self.workloads: dict[Key, WorkloadFact] = {}
        self.untold: list[Fact] = []
        self.unanswered: dict[Key, None] = {}
        """Workloads of which nothing is told until somebody asks what became of a write."""
        self.removed: dict[tuple[str, str], Fact] = {}
        """Objects that were taken away and may come back."""
        self.refuse: int | None = None
        """Which write of the next cycle is refused."""
        self.lose: tuple[int, bool] | None = None
        """Of which write of the next cycle the outcome is unknown, and whether it is written."""
        self.reasons = WaitingReasons()
        self.late = False
        """Whether the engine is told of the next cycle's writes only after another step, and
        victims are evicted only then, if they still have to be."""
        self.held_back: list[Preempt] = []
        """Evictions that were decided and are not written yet."""
        self.submitted = 0
        self.preemptions: list[Preempt] = []
        """Every preemption carried out, without those of victims already evicted."""
        self.seen: Counter[str] = Counter()
        """How often what happened, for statistics."""
        self.terms: tuple[CreditFact, ...] = ()
        """Credit policies and budgets."""
        self.accounts: tuple[CreditFact, ...] = ()
        """Credit ledgers as they were written last."""
        for fact in facts:
            self.put(fact)

    @classmethod
    def of(cls, life: Life) -> Self:
        """Return a cluster in which nothing of a life has happened yet."""
        made = cls(life.facts, life.settings)
        made.terms = life.terms
        made.engine = made.successor(())
        return made

    # What the API server stores.

    def put(self, fact: Fact) -> None:
        """Store an object, or let it be gone; the engine hears of it with the next `tell`."""
        match fact:
            case WorkloadFact(key=key):
                self.workloads[key] = fact
            case Gone(kind=Kind.WORKLOAD, name=name):
                self.workloads.pop(Key(name), None)
                self.reasons.forget(Key(name))
            case Gone(kind=kind, name=name):
                self.objects.pop((kind.name, name), None)
            case _:
                self.objects[place_of(fact)] = fact
        self.untold.append(fact)

    def condition(
        self, fact: WorkloadFact, *conditions: Condition, **changes: object
    ) -> WorkloadFact:
        """Store a workload with other conditions, which are dated, and other fields."""
        dated = {one.type: replace(one, changed=self.now) for one in conditions}
        if "QuotaReserved" in dated:
            self.reasons.forget(fact.key)
        made = replace(fact, conditions={**fact.conditions, **dated}, **changes)  # type: ignore[arg-type] # fields by name
        self.put(made)
        return made

    def facts(self) -> list[Fact]:
        """Return all that is stored, as a new engine would be told."""
        objects = map(self._with_history, self.objects.values())
        return [*objects, *map(self.reasons.added_to, self.workloads.values())]

    def _with_history(self, fact: Fact) -> Fact:
        """Return a LocalQueue with the usage history that its status stores."""
        if not isinstance(fact, LocalQueueFact):
            return fact
        view = reports.local_queue(self.engine.memory, fact.key)
        if view is None or view.history is None:
            return fact
        consumed = tuple(view.history.consumed.items())
        return replace(fact, consumed=consumed, sampled_at=view.history.updated)

    def queues(self) -> list[ClusterQueueFact]:
        return [one for one in self.objects.values() if isinstance(one, ClusterQueueFact)]

    def running(self) -> list[Key]:
        """Return who holds quota and is not on the way out, sorted."""
        held = (one for one in self.workloads.values() if one.holds_quota)
        return sorted(one.key for one in held if not one.is_true("Evicted"))

    def draining(self) -> list[Key]:
        """Return who is evicted and still holds quota, sorted."""
        held = (one for one in self.workloads.values() if one.holds_quota)
        return sorted(one.key for one in held if one.is_true("Evicted"))

    # What the engine hears and decides.

    def tell(self) -> None:
        """Let the engine hear of all that is not withheld."""
        for fact in self._deliver():
            self.engine.observe(fact)

    def _deliver(self) -> list[Fact]:
        told: list[Fact] = []
        kept: list[Fact] = []
        for fact in self.untold:
            (kept if _key(fact) in self.unanswered else told).append(fact)
        self.untold = kept
        return told

    def answer(self) -> None:
        """Ask what became of the writes of which nobody knew, and tell all."""
        for key in self.unanswered:
            self.untold = [fact for fact in self.untold if _key(fact) != key]
            self.untold.append(self.workloads.get(key) or Gone(Kind.WORKLOAD, key))
        self.unanswered.clear()
        self.tell()

    def restart(self) -> None:
        """Forget the engine and start a new one from what is stored."""
        self.untold.clear()
        self.unanswered.clear()
        self.held_back.clear()
        self.engine = self.successor()
        self.seen["restart"] += 1

    def successor(self, facts: Iterable[Fact] | None = None) -> Engine:
        """Return an engine that knows nothing but what is stored, or only some facts of it."""
        told = self.facts() if facts is None else facts
        engine = fresh(told, self.settings, self.engines)
        for credit in (*self.terms, *self.accounts):
            engine.observe(credit)
        return engine

    def cycle(self, budget: int | None = None) -> Cycle:
        """Run a cycle and write what it decided."""
        self.tell()
        cycle = self.engine.cycle(self.now, budget)
        self.write(cycle)
        return cycle

    def write(self, cycle: Cycle) -> None:
        """Carry out what a cycle decided, write by write, as luck has it."""
        if self.terms or self.accounts:
            self.accounts = (*self.engine.credits.accounts(), *self.engine.credits.budgets())
            for account in self.accounts:
                self.engine.observe(account)
        self.reasons.note(cycle, late=self.late)
        due, writes = self._due(), list(filter(_is_write, cycle.decisions))
        late = self.late and not writes
        if self.late and self.settings.rules.evicts_late:
            self.held_back = [one for one in writes if isinstance(one, Preempt)]
            writes = [one for one in writes if isinstance(one, Admit)]
        writes = [*due, *writes]
        for at, decision in enumerate(writes):
            if isinstance(decision, Admit | Preempt):
                self.settle(decision, self._luck(at, len(writes), decision))
        if writes:
            self.refuse = self.lose = None
        if not self.late:
            self.tell()
        self.late = late

    def _due(self) -> list[Decision]:
        """Return the evictions held back that are still needed; the engine takes others back."""
        held, self.held_back = self.held_back, []
        needed = [one for one in held if self.engine.stands_by(one)]
        for one in held:
            if one not in needed:
                self.settle(one, Verdict.WITHDRAWN)
        return list[Decision](needed)

    def settle(self, decision: Admit | Preempt, verdict: Verdict) -> None:
        """Let a write end, and tell the engine how."""
        self.seen[f"{type(decision).__name__} {verdict}"] += 1
        self.engine.settle(Outcome(decision=decision, verdict=verdict))

    def _luck(self, at: int, count: int, decision: Admit | Preempt) -> Verdict:
        key = decision.workload
        fact = self.workloads.get(key)
        stale = fact is None or any(_key(one) == key for one in self.untold)
        if fact is None or fact.uid != decision.uid or stale:
            return Verdict.REFUSED
        if self.refuse is not None and self.refuse % count == at:
            return Verdict.REFUSED
        lost = self.lose is not None and self.lose[0] % count == at
        if lost:
            self.unanswered[key] = None
        if not lost or (self.lose is not None and self.lose[1]):
            if isinstance(decision, Admit):
                self._admit(fact, decision)
            else:
                self._evict(fact, decision)
        return Verdict.UNKNOWN if lost else Verdict.DONE

    def _admit(self, fact: WorkloadFact, decision: Admit) -> None:
        for one in ("borrowing", "checks"):
            self.seen[f"admitted with {one}"] += bool(getattr(decision, one))
        self.condition(
            fact,
            Condition(type="QuotaReserved", status=True),
            *([] if decision.checks else [Condition(type="Admitted", status=True)]),
            *(replace(one, status=False) for one in _taken_back(fact.conditions)),
            admission=Admission(cluster_queue=decision.cluster_queue, pod_sets=decision.pod_sets),
            checks=tuple(
                CheckState(name=name, state=CheckPhase.PENDING, changed=self.now)
                for name in decision.checks
            ),
        )

    def _evict(self, fact: WorkloadFact, decision: Preempt) -> None:
        self.preemptions.append(decision)
        self.seen[f"preempted {decision.reason}"] += 1
        message = f"Preempted to accommodate a workload (UID: {decision.preemptor_uid}, JobUID: )"
        self.condition(
            fact,
            Condition(type="Evicted", status=True, reason="Preempted", message=message),
            Condition(type="Preempted", status=True, reason=decision.reason, message=message),
        )

    # What controllers and pods do.

    def tend(self) -> None:
        """Take the steps that are due in the lives of the workloads."""
        for key in sorted(self.workloads):
            for _ in range(4):
                fact = self.workloads[key]
                step = judge(fact, self._stops(fact), RULES, self.now).step
                match step:
                    case ConfirmAdmission():
                        self.condition(fact, Condition(type="Admitted", status=True))
                    case Evict():
                        self._turn_out(fact, step)
                    case steps.Requeue(reason=reason):
                        again = Condition(type="Requeued", status=True, reason=reason)
                        self.condition(fact, again, requeue_at=None)
                    case Condemn(cause=cause):
                        self.condition(
                            fact, Condition(type="DeactivationTarget", status=True, reason=cause)
                        )
                    case Deactivate():
                        kept = {**fact.conditions}
                        kept.pop("DeactivationTarget", None)
                        self.put(replace(fact, active=False, conditions=kept))
                    case _:
                        break

    def _turn_out(self, fact: WorkloadFact, step: Evict) -> None:
        """Write an eviction; who holds no quota is set aside by the same write."""
        self.seen[f"evicted {step.reason}"] += 1
        aside = Condition(type="Requeued", status=False, reason=step.wire_reason)
        self.condition(
            fact,
            Condition(type="Evicted", status=True, reason=step.wire_reason),
            *(() if fact.holds_quota else (aside,)),
            requeue_at=step.requeue_at,
            checks=tuple(replace(one, state=CheckPhase.PENDING) for one in fact.checks),
        )

    def drain(self, key: Key) -> None:
        """Let an evicted workload's pods be gone: it gives its quota back.

        Nobody saves any more for one without an admission, so nothing is charged beside it.
        """
        fact = self.workloads[key]
        reason = fact.conditions["Evicted"].reason
        kept = {name: one for name, one in fact.conditions.items() if name != "Admitted"}
        made = replace(fact, admission=None, conditions=kept, checks=(), beside={})
        self.condition(
            made,
            Condition(type="QuotaReserved", status=False, reason="Pending"),
            Condition(type="Requeued", status=reason == "Preempted", reason=reason),
        )

    def finish(self, key: Key) -> None:
        """Let a workload end."""
        self.condition(self.workloads[key], Condition(type="Finished", status=True))

    def rest(self, budget: int | None = None) -> int:
        """Cycle and drain until nothing more is decided; return the number of cycles it took."""
        for step in range(1, CYCLES_MAX + 1):
            self.answer()
            cycle = self.cycle(budget)
            draining = self.draining()
            for key in draining:
                self.drain(key)
            self.tend()
            moves = self.held_back or self.unanswered or any(map(_is_write, cycle.decisions))
            if cycle.finished and not draining and not moves and not self.untold:
                return step
        raise NeverRestsError(f"no rest after {CYCLES_MAX} cycles: {self.preemptions[-6:]}")

    def _stops(self, fact: WorkloadFact) -> StopPolicies:
        """Read the stop policies of the queue it is in and of the queue it holds quota of."""
        local = self.objects.get((Kind.LOCAL_QUEUE.name, fact.local_queue or ""))
        door = local if isinstance(local, LocalQueueFact) else None
        name = fact.admission.cluster_queue if fact.admission else door and door.cluster_queue
        queue = self.objects.get((Kind.CLUSTER_QUEUE.name, name or ""))
        return StopPolicies(
            local=None if door is None else door.stop_policy,
            cluster=queue.stop_policy if isinstance(queue, ClusterQueueFact) else None,
        )


def fresh(
    facts: Iterable[Fact], settings: Settings, made_of: Callable[[Settings], Engine] = Engine
) -> Engine:
    """Return an engine that knows nothing but these facts."""
    engine = made_of(settings)
    for fact in facts:
        engine.observe(fact)
    return engine


_KINDS = {
    "ClusterQueueFact": Kind.CLUSTER_QUEUE,
    "CohortFact": Kind.COHORT,
    "LocalQueueFact": Kind.LOCAL_QUEUE,
    "FlavorFact": Kind.FLAVOR,
    "CheckFact": Kind.CHECK,
    "TopologyFact": Kind.TOPOLOGY,
    "NamespaceFact": Kind.NAMESPACE,
    "Node": Kind.NODE,
    "NodeUsageFact": Kind.NODE_USAGE,
    "NodeDevicesFact": Kind.NODE_DEVICES,
}


def place_of(fact: Fact) -> tuple[str, str]:
    """Return kind and name of an object that is not a workload."""
    name = fact.key if hasattr(fact, "key") else fact.name
    return _KINDS[type(fact).__name__].name, name


def _key(fact: Fact) -> Key | None:
    if isinstance(fact, Gone):
        return Key(fact.name) if fact.kind is Kind.WORKLOAD else None
    return fact.key if isinstance(fact, WorkloadFact) else None


def _is_write(decision: object) -> bool:
    return isinstance(decision, Admit) or (
        isinstance(decision, Preempt) and not decision.already_evicted
    )


def _taken_back(conditions: Mapping[str, Condition]) -> list[Condition]:
    return [
        conditions[name]
        for name in ("Evicted", "Preempted")
        if name in conditions and conditions[name].status
    ]
